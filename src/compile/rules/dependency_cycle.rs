//! `dependency-cycle`

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::text::brief;

rule! {
    /// Forks that wait for each other in a ring.
    ///
    /// None of them could start, so at run time one edge is dropped: the entry in `after` of the fork whose name comes
    /// first. That fork starts, and the others follow in their order.
    ///
    /// Bad:
    /// ```markdown a.md
    /// ---
    /// fork: true
    /// after: [b]
    /// ---
    /// Write the questions to QUESTIONS.md.
    /// ```
    /// ```markdown b.md
    /// ---
    /// fork: true
    /// after: [a]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    ///
    /// Good:
    /// ```markdown a.md
    /// ---
    /// fork: true
    /// ---
    /// Write the questions to QUESTIONS.md.
    /// ```
    /// ```markdown b.md
    /// ---
    /// fork: true
    /// after: [a]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    "dependency-cycle", Error, After, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for cycle in graph.cycles() {
        let name = |index: usize| brief(graph.members[index].file.name.as_str()).into_owned();
        let names: Vec<String> = cycle.iter().map(|edge| name(edge.from)).collect();
        let Some(dropped) = cycle.first() else { continue };
        // Of a long ring the labels show every edge; the sentence need not.
        let shown = if names.len() > 8 { [&names[..4], &["…".to_owned()]].concat() } else { names.clone() };
        let ring = format!("{} → {}", shown.join(" → "), names[0]);
        let message = format!(
            "these forks wait for each other: {ring}; at run time `{}` does not wait for `{}`",
            name(dropped.from),
            name(dropped.to)
        );
        let file = graph.members[dropped.from].path();
        let mut draft = out.in_file(file).report(&RULE, dropped.place.span, message);
        for edge in &cycle {
            let words = if edge.from == dropped.from { "dropped at run time" } else { "waits for" };
            let label = if edge.from == dropped.from { words.to_owned() } else { format!("{words} `{}`", name(edge.to)) };
            draft = draft.also_in(graph.members[edge.from].path().clone(), edge.place.span, label);
        }
        draft.help("remove one of these names from its `after`");
    }
}
