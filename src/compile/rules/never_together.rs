//! `never-together`

use crate::compile::findings::Findings;
use crate::compile::graph::{Graph, Member};
use crate::ir::Moment;
use crate::text::brief;

rule! {
    /// A fork that waits for another one with which it does not come due in one batch.
    ///
    /// `after` orders forks that fire together. If one fires on an idle moment and the other on a threshold, or their idle
    /// deadlines are further apart than `wake_debounce`, there is as a rule nothing to order.
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
    /// run_on:
    ///   - context_used: 80%
    /// after: [gather]
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
    "never-together", Hint, After, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for (index, member) in graph.members.iter().enumerate() {
        for edge in graph.edges(index) {
            let other = &graph.members[edge.to];
            let Some(why) = apart(graph, member, other) else { continue };
            let name = brief(other.file.name.as_str()).into_owned();
            out.in_file(member.path())
                .report(&RULE, edge.place, format!("this fork does not come due together with `{name}`, since {why}; it hardly ever waits"))
                .label("not due together")
                .help("give both the same moment, or remove the name");
        }
    }
}

/// Why two forks are not due together; none if they may be.
fn apart(graph: &Graph<'_>, left: &Member<'_>, right: &Member<'_>) -> Option<String> {
    let (left, right) = (left.moments(), right.moments());
    let any = |moments: &[Moment]| !moments.is_empty();
    let on_context = |moments: &[Moment]| moments.iter().any(|moment| !matches!(moment, Moment::Idle(_)));
    // What never fires has its own diagnostic.
    if !any(&left) || !any(&right) || (on_context(&left) && on_context(&right)) {
        return None;
    }
    match (graph.earliest(&left), graph.earliest(&right)) {
        (Some(one), Some(other)) => {
            let distance = one.get().abs_diff(other.get());
            (distance > graph.config.wake_debounce.get()).then(|| format!("it is due at {one}, the other at {other}"))
        }
        _ => Some("one fires on an idle moment, the other on a threshold".to_owned()),
    }
}
