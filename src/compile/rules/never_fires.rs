//! `never-fires`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::lower::RunOn;

rule! {
    /// A fork that nothing can make fire: no moment is left once those that cannot be used are ignored.
    ///
    /// It is listed but never runs.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on: []
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on: [idle]
    /// ---
    /// Tidy.
    /// ```
    "never-fires", Error, Moments, None
}

pub(crate) fn check_moments(file: &ForkFile, run_on: &RunOn, out: &mut Findings) {
    if run_on.moments.is_empty() {
        let place = run_on.value.unwrap_or_else(|| file.fence().into());
        out.report(&RULE, place, "no moment is left in `run_on`; this fork never fires")
            .label("nothing to fire on")
            .help("give it a moment, such as `run_on: [idle]`, or `fork: false` to switch it off");
    }
}

/// A fork whose every moment the configuration switches off.
pub(crate) fn check_disabled(place: crate::syntax::yaml::Place, out: &mut Findings) {
    out.report(&RULE, place, "the configuration switches off every moment of this fork; it never fires here")
        .label("nothing to fire on")
        .help("give it a moment with a value of its own, such as `idle: 15m`");
}
