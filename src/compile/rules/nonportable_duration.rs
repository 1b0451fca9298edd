//! `nonportable-duration`

use crate::compile::findings::Findings;
use crate::syntax::duration::{Duration, Form, spell};
use crate::syntax::yaml::{Node, Style};

rule! {
    /// A duration of several units, such as `1h30m`.
    ///
    /// We read it, but other readers of the fork format know only one number with one unit.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 1h30m
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 90m
    /// ---
    /// Tidy.
    /// ```
    "nonportable-duration", Hint, Moments, Some
}

pub(crate) fn check(value: &Node, duration: Duration, out: &mut Findings) {
    if duration.form == Form::Simple {
        return;
    }
    let portable = spell(duration.length);
    let draft = out
        .report(&RULE, value.place(), "a duration of several units is read here, but not everywhere")
        .label("several units")
        .help(format!("write `{portable}`"));
    if value.scalar().is_some_and(|scalar| scalar.style != Style::Block) {
        draft.safe(format!("write `{portable}`"), value.span, portable);
    }
}
