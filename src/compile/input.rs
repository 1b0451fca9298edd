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
    /// Its bytes; if there are more than [`MAX_BYTES`], what lies beyond need not be there.
    Bytes(Arc<[u8]>),
    /// It could not be read, for this reason.
    Unreadable(String),
}

impl Contents {
    /// Contents that are this text.
    pub fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().into())
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
        Contents::Unreadable(reason) => {
            return Decoded { text: "".into(), obstacle: Some(Obstacle::Unreadable(reason.clone())) };
        }
        Contents::Bytes(bytes) => bytes,
    };
    if bytes.len() > MAX_BYTES {
        let head = String::from_utf8_lossy(&bytes[..HEAD_BYTES]);
        return Decoded { text: head.into(), obstacle: Some(Obstacle::TooLarge) };
    }
    if let Some(text) = utf16(bytes) {
        // The first byte that cannot be read is the mark, or the first zero.
        let at = bytes.iter().position(|byte| *byte == 0 || *byte >= 0xfe).unwrap_or(0);
        return Decoded { text: text.into(), obstacle: Some(Obstacle::Utf16(Span::new(at, at + 1))) };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.into(), obstacle: None },
        Err(error) => {
            let at = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes);
            let length = text[at..].chars().next().map_or(0, char::len_utf8);
            Decoded { text: text.into(), obstacle: Some(Obstacle::NotUtf8(Span::new(at, at + length))) }
        }
    }
}

/// The text of bytes that are UTF-16: by their mark, or because every other of the first bytes is zero.
fn utf16(bytes: &[u8]) -> Option<String> {
    let little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => true,
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => false,
        _ => return None,
    };
    let units = bytes.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
