//! `unsupported-moment`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::syntax::yaml::{Layout, Place, Value};
use crate::text::Span;

rule! {
    /// A moment that other tools know but we do not support: `compact`, `compaction`, `session_start`, `session_end`,
    /// `manual_stop`, `boot`.
    ///
    /// It is ignored. A fork needs a session that waits for its user; at these moments there is none.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    ///   - session_end
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    /// ---
    /// Tidy.
    /// ```
    "unsupported-moment", Warn, Moments, Some
}

pub(crate) fn check(file: &ForkFile, place: Place, item: Place, name: &str, out: &mut Findings) {
    let instead = match name {
        "compact" | "compaction" => "`context_used: 80%` fires before a compaction",
        "session_end" | "manual_stop" => "`idle: 15m` fires when the session has gone quiet",
        _ => "`idle: 0s` fires at the first stop of a pause",
    };
    let draft = out
        .report(&RULE, place, format!("the moment `{name}` is not supported here; it is ignored"))
        .label("never happens here")
        .help(format!("remove it; {instead}"));
    if let Some(lines) = item_lines(file, item.span) {
        draft.safe(format!("remove `{name}`"), lines, "");
    }
}

/// The lines of an item of the block list `run_on`, if other items remain without it.
pub(crate) fn item_lines(file: &ForkFile, item: Span) -> Option<Span> {
    let Value::List(items, Layout::Block) = &file.entry("run_on")?.value.value else { return None };
    if items.len() < 2 || !items.iter().any(|other| other.span == item && other.alias.is_none()) {
        return None;
    }
    let text = file.text();
    let start = text[..item.start()].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let before = &text[start..item.start()];
    let end = text[item.end()..].find(['\n', '\r']).map_or(text.len(), |at| item.end() + at);
    let only_item = before.trim_start_matches(' ').starts_with('-') && !text[item.range()].contains('&');
    let end = if text[end..].starts_with("\r\n") { end + 2 } else { (end + 1).min(text.len()) };
    let commented = file.yaml().comments.iter().any(|comment| (start..end).contains(&comment.start()));
    (only_item && !commented).then(|| Span::new(start, end))
}
