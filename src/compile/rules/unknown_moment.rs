//! `unknown-moment`

use crate::compile::findings::Findings;
use crate::compile::keys::{MOMENTS, UNSUPPORTED_MOMENTS, meant_moment};
use crate::syntax::yaml::{Node, Scalar, Style};
use crate::syntax::{duration, moment};
use crate::text::brief;

rule! {
    /// A moment that does not exist.
    ///
    /// It is ignored; if no other moment is left, the fork never fires.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    ///   - context_token: 150000
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    ///   - context_tokens: 150000
    /// ---
    /// Tidy.
    /// ```
    "unknown-moment", Warn, Moments, Some
}

const KNOWN: &str = "the moments are `idle`, `context_tokens`, `context_used` and `context_left`";

/// A name with a value that is no moment.
pub(crate) fn check_name(key: &Node, name: &str, out: &mut Findings) {
    let draft = out
        .report(&RULE, key.place(), format!("there is no moment `{}`; it is ignored", brief(name)))
        .label("no such moment");
    match meant_moment(name) {
        Some(meant) => {
            draft.help(format!("did you mean `{meant}`?")).guess(format!("write `{meant}`"), key.span, meant);
        }
        None => {
            draft.help(KNOWN);
        }
    }
}

/// A text that is no moment.
pub(crate) fn check_text(item: &Node, scalar: &Scalar, out: &mut Findings) {
    let draft = out
        .report(&RULE, item.place(), format!("there is no moment `{}`; it is ignored", brief(&scalar.text)))
        .label("no such moment");
    match meant_by(&scalar.text) {
        Some(meant) if scalar.style != Style::Block => {
            draft.help(format!("did you mean `{meant}`?")).guess(format!("write `{meant}`"), item.span, meant);
        }
        Some(meant) => {
            draft.help(format!("did you mean `{meant}`?"));
        }
        None => {
            draft.help(KNOWN);
        }
    }
}

/// The moment that was meant by a text: a duration alone, a moment and its value glued together, a misspelt name.
fn meant_by(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return match duration::parse(text) {
            Ok(_) => Some(format!("idle: {text}")),
            Err(fault) if text.ends_with('%') || fault.suggestion.is_none() => {
                moment::percent(text).map(|_| format!("context_used: {text}"))
            }
            Err(fault) => fault.suggestion.map(|meant| format!("idle: {meant}")),
        };
    }
    let found = moment::parse(text)?;
    let name = if MOMENTS.contains(&found.name) { found.name } else { meant_moment(found.name)? };
    match found.value {
        Some(value) => Some(format!("{name}: {value}")),
        None if name == "idle" => Some(name.to_owned()),
        None if UNSUPPORTED_MOMENTS.contains(&found.name) => None,
        None => Some(format!("{name}: {}", example(name))),
    }
}

/// A sensible value for a moment.
pub(crate) fn example(name: &str) -> &'static str {
    match name {
        "context_used" => "80%",
        "context_tokens" => "150000",
        "context_left" => "40000",
        _ => "15m",
    }
}
