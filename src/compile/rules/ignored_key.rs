//! `ignored-key`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::syntax::yaml::{Entry, Layout, Value};
use crate::text::Span;

rule! {
    /// A key of an older version or of another tool: `delivery`, `model`, `allowed_tools`, `permission_mode`.
    ///
    /// It has no effect. A fork is its session's agent, copied: it always runs on the session's model and with the
    /// session's permissions, and its report always comes back.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// model: haiku
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "ignored-key", Warn, Keys, Some
}

pub(crate) fn check(file: &ForkFile, entry: &Entry, key: &str, out: &mut Findings) {
    let why = match key {
        "model" => "a fork always runs on its session's model",
        "permission_mode" | "allowed_tools" => "a fork always runs with its session's permissions",
        _ => "a fork's report always comes back into its session",
    };
    let draft = out
        .report(&RULE, entry.key.place(), format!("the key `{key}` has no effect: {why}"))
        .label("has no effect")
        .help("remove the key");
    if let Some(lines) = lines_of(file, entry) {
        draft.safe(format!("remove `{key}`"), lines, "");
    }
}

/// The whole lines that an entry of a block mapping takes up; none if something else stands on them.
pub(crate) fn lines_of(file: &ForkFile, entry: &Entry) -> Option<Span> {
    let in_block = matches!(file.yaml().root.as_ref()?.value, Value::Map(_, Layout::Block));
    let text = file.text();
    let start = entry.key.span.start();
    let line_start = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    // An alias or an anchored value may be needed elsewhere.
    if !in_block || line_start != start || text[start..entry.value.span.end().max(start)].contains('&') {
        return None;
    }
    let last = entry.value.alias.unwrap_or(entry.value.span).end().max(entry.key.span.end());
    let next = file.entries().iter().map(|other| other.key.span.start()).filter(|other| *other > start).min();
    let end = text[last..].find(['\n', '\r']).map_or(text.len(), |at| last + at);
    let end = if text[end..].starts_with("\r\n") { end + 2 } else { (end + 1).min(text.len()) };
    // A comment on these lines says something that nobody but its author can judge.
    let commented = file.yaml().comments.iter().any(|comment| (start..end).contains(&comment.start()));
    (next.is_none_or(|next| next >= end) && !commented).then(|| Span::new(start, end))
}
