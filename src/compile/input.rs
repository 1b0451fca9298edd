//! From the bytes of a file to text, as far as they are text.

use std::sync::Arc;

use crate::text::Span;

/// A file may have so many bytes: one mebibyte.
pub const MAX_BYTES: usize = 1024 * 1024;

/// So much of a file that is too large is looked at, to see whether it was meant as a fork.
const HEAD_BYTES: usize = 64 * 1024;

/// What reading a file gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Text, as most files are.
    Text(Arc<str>),
    /// Bytes that are no UTF-8.
    Bytes(Arc<[u8]>),
    /// The start of a file that is too large.
    TooLarge(Arc<[u8]>),
    /// It could not be read, for this reason.
    Unreadable(String),
}

impl Contents {
    /// Contents that are this text.
    pub fn text(text: &str) -> Self {
        Self::from_bytes(text.as_bytes().to_vec())
    }

    /// Contents of these bytes; if there are more than [`MAX_BYTES`], what lies beyond need not be there.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        if bytes.len() > MAX_BYTES {
            return Self::TooLarge(bytes[..HEAD_BYTES].into());
        }
        if is_utf16(&bytes).is_some() {
            return Self::Bytes(bytes.into());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(error) => Self::Bytes(error.into_bytes().into()),
        }
    }
}

/// Contents as text, and what stood in the way.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// The text. Bytes that are none are replaced, behind the first of them offsets are no longer those of the file.
    pub(crate) text: Arc<str>,
    pub(crate) obstacle: Option<Obstacle>,
}

/// Why contents are not simply text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Unreadable(String),
    TooLarge,
    /// Two bytes a character; the text is decoded.
    Utf16(Span),
    /// Bytes that are no UTF-8, from here on.
    NotUtf8(Span),
}

/// Decodes contents.
pub(crate) fn decode(contents: &Contents) -> Decoded {
    let bytes = match contents {
        Contents::Text(text) => return Decoded { text: text.clone(), obstacle: None },
        Contents::Bytes(bytes) => bytes,
        Contents::TooLarge(head) => {
            let head = String::from_utf8_lossy(head);
            return Decoded { text: head.into(), obstacle: Some(Obstacle::TooLarge) };
        }
        Contents::Unreadable(reason) => {
            return Decoded { text: "".into(), obstacle: Some(Obstacle::Unreadable(reason.clone())) };
        }
    };
    if let Some(order) = is_utf16(bytes) {
        // The first byte that cannot be read is the mark, or the first zero.
        let at = bytes.iter().position(|byte| *byte == 0 || *byte >= 0xfe).unwrap_or(0);
        let text = utf16(bytes, order);
        let obstacle = Some(Obstacle::Utf16(character_at(&text, at)));
        return Decoded { text: text.into(), obstacle };
    }
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let text = String::from_utf8_lossy(bytes);
    let obstacle = Some(Obstacle::NotUtf8(character_at(&text, at)));
    Decoded { text: text.into(), obstacle }
}

/// The character that the byte at `at` belongs to; nothing behind the end.
fn character_at(text: &str, at: usize) -> Span {
    let start = text.floor_char_boundary(at);
    Span::new(start, start + text[start..].chars().next().map_or(0, char::len_utf8))
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

/// Whether bytes are UTF-16: by their mark, or because every other of the first bytes is zero.
fn is_utf16(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes {
        [0xff, 0xfe, ..] => Some(ByteOrder::Little),
        [0xfe, 0xff, ..] => Some(ByteOrder::Big),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(ByteOrder::Little),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some(ByteOrder::Big),
        _ => None,
    }
}

fn utf16(bytes: &[u8], order: ByteOrder) -> String {
    let units = bytes.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        match order {
            ByteOrder::Little => u16::from_le_bytes(pair),
            ByteOrder::Big => u16::from_be_bytes(pair),
        }
    });
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_utf_8_is_pointed_at_in_whole_characters() {
        // A mark of byte order takes three bytes once it is decoded; é as UTF-16 has the zero in the middle of its two.
        let cases: [(&[u8], Obstacle); 5] = [
            (b"\xff\xfea\0b\0", Obstacle::Utf16(Span::new(0, 3))),
            (b"\xe9\0b\0", Obstacle::Utf16(Span::new(0, 2))),
            (b"a\0b\0", Obstacle::Utf16(Span::new(1, 2))),
            (b"caf\xe9 \xe9", Obstacle::NotUtf8(Span::new(3, 6))),
            (b"caf\xc3", Obstacle::NotUtf8(Span::new(3, 6))),
        ];
        for (bytes, obstacle) in cases {
            assert_eq!(decode(&Contents::from_bytes(bytes.to_vec())).obstacle, Some(obstacle), "{bytes:?}");
        }
    }
}
