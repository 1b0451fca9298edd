//! Places in the client's terms: lines from 0, columns in the units that were agreed on.

use autofork::text::{BYTE_ORDER_MARK, Source, Span};
use gen_lsp_types::{Position, Range};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// What every client knows: characters, those outside of the basic plane twice.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The one to use with a client that offers these, most wanted first: bytes, since they cost nothing here.
    pub fn choose(offered: &[String]) -> Self {
        let offers = |name| offered.iter().any(|offered| offered == name);
        match () {
            () if offers("utf-8") => Self::Utf8,
            () if offers("utf-16") || offered.is_empty() => Self::Utf16,
            () if offers("utf-32") => Self::Utf32,
            () => Self::Utf16,
        }
    }

    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn units(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
            Self::Utf32 => text.chars().count(),
        }
    }

    /// The byte of a line at a column; the line's end for a column past it, the character's start for one inside it.
    fn byte(self, line: &str, column: usize) -> usize {
        let mut units = 0;
        for (at, character) in line.char_indices() {
            units += match self {
                Self::Utf8 => character.len_utf8(),
                Self::Utf16 => character.len_utf16(),
                Self::Utf32 => 1,
            };
            if units > column {
                return at;
            }
        }
        line.len()
    }

    /// The byte at a position in a text as the client has it. Positions outside of the text are brought to its edges.
    pub fn offset_in(self, text: &str, position: Position) -> usize {
        let start = match position.line {
            0 => 0,
            line => match nth_line_start(text, line as usize) {
                Some(start) => start,
                None => return text.len(),
            },
        };
        let rest = &text[start..];
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        start + self.byte(line, position.character as usize)
    }
}

fn nth_line_start(text: &str, line: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    ends.map(|(at, _)| at + 1).nth(line - 1)
}

/// A text together with how its client counts.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) source: std::sync::Arc<Source>,
    pub(crate) encoding: Encoding,
    /// Whether the client keeps a leading byte order mark in its text. For a file that is not open it will not.
    pub(crate) counts_mark: bool,
}

impl Text {
    /// All of it.
    pub(crate) fn as_str(&self) -> &str {
        self.source.text()
    }

    /// Where a byte is.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.source.line_of(offset);
        let start = self.start_of(line);
        let mut end = offset.clamp(start, self.as_str().len().max(start));
        while !self.as_str().is_char_boundary(end) {
            end -= 1;
        }
        let column = self.encoding.units(self.as_str().get(start..end).unwrap_or(""));
        Position { line: clip(line), character: clip(column) }
    }

    /// Where a range of bytes is.
    pub(crate) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start()), end: self.position(span.end()) }
    }

    /// Everything.
    pub(crate) fn whole(&self) -> Range {
        self.range(Span::new(0, self.as_str().len()))
    }

    /// The byte at a position, brought to the edges of the text.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.source.line_count() {
            return self.as_str().len();
        }
        let start = self.start_of(line);
        let end = self.source.line_span(line).end();
        let words = self.as_str().get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        start + self.encoding.byte(words, position.character as usize)
    }

    fn start_of(&self, line: usize) -> usize {
        let start = self.source.line_span(line).start();
        let hidden = line == 0 && !self.counts_mark && self.as_str().starts_with(BYTE_ORDER_MARK);
        start + if hidden { BYTE_ORDER_MARK.len_utf8() } else { 0 }
    }
}

fn clip(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::Arc;

    fn text(words: &str, encoding: Encoding) -> Text {
        Text { source: Arc::new(Source::new(Path::new("a.md"), words)), encoding, counts_mark: false }
    }

    #[test]
    fn every_encoding_leads_there_and_back() {
        let words = "a\u{1f41b}é\r\nzwei\rdrei\n";
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let text = text(words, encoding);
            for (offset, character) in words.char_indices().filter(|(_, c)| !matches!(c, '\n' | '\r')) {
                assert_eq!(text.offset(text.position(offset)), offset, "{encoding:?} {character:?}");
                assert_eq!(encoding.offset_in(words, text.position(offset)), offset, "{encoding:?} {character:?}");
            }
        }
    }

    #[test]
    fn positions_outside_are_brought_to_the_edges() {
        let text = text("ab\ncd", Encoding::Utf16);
        for (line, character, offset) in [(0, 99, 2), (1, 99, 5), (99, 0, 5), (u32::MAX, u32::MAX, 5)] {
            assert_eq!(text.offset(Position { line, character }), offset);
            assert_eq!(Encoding::Utf16.offset_in("ab\ncd", Position { line, character }), offset);
        }
    }

    #[test]
    fn a_byte_order_mark_takes_a_column_only_where_the_client_has_it() {
        let mut text = text("\u{feff}---\n", Encoding::Utf16);
        assert_eq!(text.position(3).character, 0);
        assert_eq!(text.offset(Position { line: 0, character: 0 }), 3);
        text.counts_mark = true;
        assert_eq!(text.position(3).character, 1);
    }
}
