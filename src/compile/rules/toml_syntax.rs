//! `toml-syntax`

use crate::compile::findings::Findings;
use crate::text::{Span, brief};

rule! {
    /// A configuration file that is not TOML.
    ///
    /// None of its settings count, neither those above the fault nor those below; the other layer and the defaults do.
    ///
    /// Bad:
    /// ```toml
    /// wake_debounce = "5s
    /// ```
    ///
    /// Good:
    /// ```toml
    /// wake_debounce = "5s"
    /// ```
    "toml-syntax", Error, Config, None
}

pub(crate) fn check(span: Span, reason: &str, out: &mut Findings) {
    let message = format!("this is not TOML: {}; nothing in this file counts", brief(reason));
    out.report(&RULE, span, message)
        .label("cannot be read")
        .help("texts stand in double quotes; in single quotes a backslash is just a backslash");
}

/// A file that is no text.
pub(crate) fn check_bytes(span: Span, what: &str, help: &str, out: &mut Findings) {
    out.report(&RULE, span, format!("{what}; no setting in it counts")).help(help);
}
