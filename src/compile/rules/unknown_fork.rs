//! `unknown-fork`

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::compile::near::nearest;
use crate::text::{is_invisible, brief};

rule! {
    /// A name in `after` that no fork has.
    ///
    /// The fork waits for nobody under that name and fires as if it were not there.
    ///
    /// Bad:
    /// ```markdown gather.md
    /// ---
    /// fork: true
    /// ---
    /// Write the open questions to QUESTIONS.md.
    /// ```
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// after: [gahter]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    ///
    /// Good:
    /// ```markdown gather.md
    /// ---
    /// fork: true
    /// ---
    /// Write the open questions to QUESTIONS.md.
    /// ```
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// after: [gather]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    "unknown-fork", Warn, After, Some
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for member in &graph.members {
        for (name, place) in &member.lowered.after {
            // One fault gives one diagnostic: a character that cannot be seen was reported as such.
            if graph.names.contains(name) || *name == member.file.name || name.as_str().contains(is_invisible) {
                continue;
            }
            let message = format!("there is no fork `{}` here; nothing is waited for", brief(name.as_str()));
            let draft = out.in_file(member.path()).report(&RULE, *place, message).label("no such fork");
            match nearest(name.as_str(), graph.members.iter().map(|other| other.file.name.as_str())) {
                Some(meant) => {
                    draft.help(format!("did you mean `{}`?", brief(meant))).guess(
                        format!("write `{}`", brief(meant)),
                        place.span,
                        crate::compile::lower::spell(meant),
                    );
                }
                None => {
                    draft.help("remove it, or write the fork; `autofork forks` lists those that are visible here");
                }
            }
        }
    }
}
