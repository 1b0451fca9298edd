//! A configuration, line by line: while somebody types it is mostly no TOML yet.

use autofork::syntax::envelope;
use autofork::text::{BYTE_ORDER_MARK, Span};

/// All lines of a text, a byte order mark aside.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Span> {
    envelope::lines(text, Span::new(first(text), text.len()))
}

/// Where the first line begins: behind the byte order mark.
pub(crate) fn first(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// The table that a line of a configuration lies in.
pub(crate) fn table_at(text: &str, offset: usize) -> Option<&str> {
    let above = envelope::lines(text, Span::new(first(text).min(offset), offset));
    above.filter_map(|line| header(text, line)).last().map(|(table, _)| table)
}

/// The table that a line begins.
pub(crate) fn header(text: &str, line: Span) -> Option<(&str, Span)> {
    let words = line.of(text);
    let lead = words.len() - words.trim_start().len();
    let inner = words.trim_start().strip_prefix('[')?;
    let name = inner[..inner.find(']')?].trim();
    let at = words[lead..].find(name)? + lead;
    Some((name, Span::new(line.start() + at, line.start() + at + name.len())))
}

/// The key that a line sets, quotes left out.
pub(crate) fn setting(text: &str, line: Span) -> Option<(&str, Span)> {
    let words = line.of(text);
    let key = words[..words.find('=')?].trim();
    if key.is_empty() || key.starts_with('#') {
        return None;
    }
    let at = words.find(key)?;
    let bare = key.trim_matches(['"', '\'']);
    let at = at + key.find(bare).unwrap_or_default();
    Some((bare, Span::new(line.start() + at, line.start() + at + bare.len())))
}
