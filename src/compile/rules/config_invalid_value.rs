//! `config-invalid-value`

use crate::compile::findings::Findings;
use crate::text::Span;

rule! {
    /// A setting whose value cannot be used: not a duration, not a boolean, not a list of tags.
    ///
    /// The value of the other layer or the default counts instead. One bad entry never costs its list.
    ///
    /// Bad:
    /// ```toml
    /// session_timeout = "soon"
    /// ```
    ///
    /// Good:
    /// ```toml
    /// session_timeout = "12h"
    /// ```
    "config-invalid-value", Warn, Config, None
}

/// Reports a value that is `what`, where `wanted` is wanted.
pub(crate) fn check(span: Span, what: &str, wanted: &str, suggestion: Option<&str>, out: &mut Findings) {
    let draft = out.report(&RULE, span, format!("{what} is not {wanted}; it is ignored")).label("ignored");
    match suggestion {
        Some(meant) => draft.help(format!("write `\"{meant}\"`, if that is what was meant")),
        None => draft.help(format!("write {wanted}")),
    };
}
