//! Byte ranges.

use std::ops::Range;

/// A range of bytes of one file, from its start; empty where a place has no extent. Files are bounded at a mebibyte,
/// so 32 bits are plenty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` to before `end`. Offsets past four gibibytes are cut off there.
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end.max(start)) }
    }

    /// The empty range at `offset`.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The same range in a text that holds this one from `base` on.
    #[must_use]
    pub fn shifted(self, base: usize) -> Self {
        Self::new(self.start() + base, self.end() + base)
    }

    /// The offset of the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The offset after the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Whether it holds no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether `offset` lies in it.
    pub fn contains(self, offset: usize) -> bool {
        self.range().contains(&offset)
    }

    /// The range from the start of this one to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.start) }
    }

    /// The range for indexing.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// The text it covers; empty if it lies outside of `text` or across a character.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }
}
