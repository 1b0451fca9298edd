//! `idle-disabled`

use super::never_fires;
use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::ir::Moment;

rule! {
    /// A bare `idle` where the configuration switches bare `idle` off.
    ///
    /// With `default_idle_deadline = 0` a fork on bare `idle` does not fire when the session goes quiet. An idle moment
    /// with a duration of its own still does.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    ///   - context_used: 80%
    /// ---
    /// Tidy.
    /// ```
    /// ```toml user/config.toml
    /// default_idle_deadline = 0
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    ///   - context_used: 80%
    /// ---
    /// Tidy.
    /// ```
    /// ```toml user/config.toml
    /// default_idle_deadline = 0
    /// ```
    "idle-disabled", Warn, Moments, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    if !graph.config.default_idle_deadline.is_zero() {
        return;
    }
    for member in &graph.members {
        let run_on = &member.lowered.run_on;
        let is_bare = |moment: &Moment| *moment == Moment::Idle(None);
        for (_, place) in run_on.moments.iter().filter(|(moment, _)| is_bare(moment)) {
            let place = place.name.unwrap_or_else(|| member.file.fence().into());
            out.in_file(member.path())
                .report(&RULE, place, "bare `idle` is switched off by `default_idle_deadline = 0`; it does not fire here")
                .label("switched off")
                .help("give it a duration of its own, such as `idle: 15m`");
        }
        if !run_on.moments.is_empty() && run_on.moments.iter().all(|(moment, _)| is_bare(moment)) {
            let place = run_on.value.unwrap_or_else(|| member.file.fence().into());
            never_fires::check_disabled(place, out.in_file(member.path()));
        }
    }
}
