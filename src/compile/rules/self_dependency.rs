//! `self-dependency`

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;

rule! {
    /// A fork that names itself in `after`.
    ///
    /// No fork can wait for its own end; the name is left out.
    ///
    /// Bad:
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// after: [report]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    ///
    /// Good:
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    "self-dependency", Warn, After, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for member in &graph.members {
        for (_, place) in member.lowered.after.iter().filter(|(name, _)| *name == member.file.name) {
            out.in_file(member.path())
                .report(&RULE, *place, "a fork cannot wait for itself; this name is ignored")
                .label("this fork's own name")
                .help("remove it");
        }
    }
}
