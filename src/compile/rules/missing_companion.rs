//! `missing-companion`

use std::path::Path;

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::text::brief;

rule! {
    /// A file that the instructions refer to and that does not exist.
    ///
    /// Looked for are relative links, and paths that follow the verbs read, reread, load, follow, consult, open and study
    /// ("read STYLE.md", "follow the rules in RULES.md"), from the fork's folder and from the project's root. A file that
    /// the fork writes itself need not exist.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Work through [the checklist](checklists/evening.md).
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Work through [the checklist](checklist.txt).
    /// ```
    /// ```markdown checklist.txt
    /// Close the door.
    /// ```
    "missing-companion", Hint, Body, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for member in &graph.members {
        let mentions = &member.lowered.mentions;
        let folder = member.path().parent().unwrap_or(Path::new(""));
        for (path, span) in &mentions.reads {
            let is_written = mentions.writes.iter().any(|(written, _)| written == path);
            if is_written || graph.exists(&folder.join(path)) || graph.exists(&graph.root.join(path)) {
                continue;
            }
            out.in_file(member.path())
                .report(&RULE, *span, format!("there is no file `{}`; the fork will not find it", brief(path)))
                .label("not there")
                .help("looked for beside the fork and in the project's root; mend the path, or write the file");
        }
    }
}
