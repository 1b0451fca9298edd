//! `redundant-moment`

use crate::compile::findings::Findings;
use crate::compile::graph::{Graph, Member};
use crate::ir::Moment;

rule! {
    /// A moment that adds nothing: a later idle moment of the same fork, or the same threshold twice.
    ///
    /// A fork fires at most once in a pause, at the earliest of its idle moments; the others never get their turn.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    ///   - idle: 40m
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    /// ---
    /// Tidy.
    /// ```
    "redundant-moment", Hint, Moments, Some
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    for member in &graph.members {
        check_member(graph, member, out);
    }
}

fn check_member(graph: &Graph<'_>, member: &Member<'_>, out: &mut Findings) {
    let moments = &member.lowered.run_on.moments;
    let earliest = moments.iter().filter_map(|(moment, _)| graph.deadline(*moment)).min();
    let mut kept = false;
    for (index, (moment, place)) in moments.iter().enumerate() {
        let redundant = match (moment, graph.deadline(*moment)) {
            (_, Some(deadline)) => {
                let first = Some(deadline) == earliest && !kept;
                kept |= first;
                !first
            }
            // Bare `idle` that is switched off has a rule of its own.
            (Moment::Idle(_), None) => false,
            _ => moments[..index].iter().any(|(other, _)| other == moment),
        };
        let Some(name) = place.name.filter(|_| redundant) else { continue };
        let why = match moment {
            Moment::Idle(_) => "the fork fires at its earliest idle moment, so this one adds nothing",
            _ => "this threshold stands here already and adds nothing",
        };
        let draft = out.in_file(member.path()).report(&RULE, name, why).label("adds nothing").help("remove it");
        if let Some(lines) = place.lines {
            draft.guess("remove it", lines, "");
        }
    }
}
