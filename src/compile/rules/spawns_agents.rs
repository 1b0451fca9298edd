//! `spawns-agents`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;

rule! {
    /// Instructions that ask the fork to spawn agents.
    ///
    /// A fork cannot: it is told to do its one task itself. Understood are the verbs spawn, launch, start, dispatch, fork,
    /// delegate, use and run, when agents, subagents or the Task tool follow within three words.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Spawn one subagent for each open question.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Answer each open question.
    /// ```
    "spawns-agents", Hint, Body, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    for span in file.lowered.iter().flat_map(|lowered| &lowered.mentions.spawns) {
        out.report(&RULE, *span, "a fork cannot spawn agents; it will be told to do all of its work itself")
            .label("not possible in a fork")
            .help("describe the work itself, or make it several forks ordered with `after`");
    }
}
