//! `invalid-tag`

use crate::compile::findings::Findings;
use crate::compile::lower::trimmed;
use crate::syntax::yaml::{Node, Plain};

rule! {
    /// A tag that is empty, a list, a mapping, or holds a control character.
    ///
    /// It is ignored. Numbers and booleans are fine: they are read as text.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [ci, null]
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [ci, "null"]
    /// ---
    /// Tidy.
    /// ```
    "invalid-tag", Warn, Tags, None
}

/// The text of a tag; none if it is bad.
pub(crate) fn check<'a>(item: &'a Node, out: &mut Findings) -> Option<&'a str> {
    let why = match item.scalar() {
        None => item.kind(),
        Some(scalar) if scalar.plain() == Plain::Null || trimmed(&scalar.text).is_empty() => "empty",
        Some(scalar) if trimmed(&scalar.text).contains(char::is_control) => "a text with control characters",
        Some(scalar) => return Some(&scalar.text),
    };
    out.report(&RULE, item.place(), format!("a tag cannot be {why}; it is ignored"))
        .label("not a tag")
        .help("write one word; a word like `null` wants quotes");
    None
}
