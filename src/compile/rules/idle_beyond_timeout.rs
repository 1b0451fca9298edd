//! `idle-beyond-timeout`

use crate::compile::config::Layer;
use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::ir::Moment;

rule! {
    /// An idle deadline that is longer than `session_timeout`.
    ///
    /// A session without any event for that long has ended, so the moment never comes. When it is the configured default
    /// deadline that is too long, the configuration is where it is said.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 13h
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 11h
    /// ---
    /// Tidy.
    /// ```
    "idle-beyond-timeout", Warn, Moments, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    let timeout = graph.config.session_timeout;
    if timeout.is_zero() {
        return;
    }
    for member in &graph.members {
        for (moment, place) in &member.lowered.run_on.moments {
            let (Moment::Idle(Some(deadline)), Some(value)) = (moment, place.value) else { continue };
            if *deadline > timeout {
                let message = format!("a session ends after {timeout} without an event; this moment never comes");
                out.in_file(member.path())
                    .report(&RULE, value, message)
                    .label("longer than the session timeout")
                    .help("choose a shorter time, or raise `session_timeout` in the configuration");
            }
        }
    }
    if graph.config.default_idle_deadline > timeout {
        check_config(graph, out);
    }
}

/// Says it in the nearest file that sets one of the two, at the deadline if it is there.
fn check_config(graph: &Graph<'_>, out: &mut Findings) {
    for layer in [Layer::Project, Layer::User] {
        let Some(layer) = graph.layers.iter().find(|other| other.layer == layer) else { continue };
        let set = layer.default_idle_deadline.as_ref().or(layer.session_timeout.as_ref());
        if let Some(set) = set {
            let (deadline, timeout) = (graph.config.default_idle_deadline, graph.config.session_timeout);
            let message = format!("a session ends after {timeout} without an event; bare `idle`, at {deadline}, never fires");
            out.in_file(layer.source.path())
                .report(&RULE, set.span, message)
                .label("deadline after the session's end")
                .help("make `default_idle_deadline` shorter than `session_timeout`");
            return;
        }
    }
}
