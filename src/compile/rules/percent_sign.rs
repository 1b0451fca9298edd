//! `percent-sign`

use crate::compile::findings::Findings;
use crate::ir::Percent;
use crate::syntax::yaml::Node;

rule! {
    /// A `context_used` without its percent sign.
    ///
    /// We read the number as percent, but without the sign it looks like a number of tokens, and other readers of the
    /// fork format refuse it.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - context_used: 80
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - context_used: 80%
    /// ---
    /// Tidy.
    /// ```
    "percent-sign", Warn, Moments, Some
}

pub(crate) fn check(value: &Node, percent: Percent, out: &mut Findings) {
    let percent = percent.get();
    out.report(&RULE, value.place(), format!("there is no percent sign; `{percent}` is read as {percent} percent"))
        .label("percent of the context")
        .help(format!("write `{percent}%`"))
        .safe(format!("write `{percent}%`"), value.span, format!("{percent}%"));
}
