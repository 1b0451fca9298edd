//! Source texts with their line index.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use codespan_reporting::files::{Error, Files};

use super::{BYTE_ORDER_MARK, Span, visible};

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1. A leading byte order mark takes none.
    pub column: u32,
}

/// The text of one file, with an index of its lines that is built when first asked for.
#[derive(Debug)]
pub struct Source {
    path: Arc<Path>,
    text: Arc<str>,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// The file at `path` with `text` in it, byte order mark included.
    pub fn new(path: impl Into<Arc<Path>>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into(), line_starts: OnceLock::new() }
    }

    /// Where the file is.
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// All of its text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The number of lines; a text without any has one.
    pub fn line_count(&self) -> usize {
        self.line_starts().len()
    }

    /// The line, counted from 0, that holds the byte at `offset`. Past the end it is the last line.
    pub fn line_of(&self, offset: usize) -> usize {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.line_starts().partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The bytes of a line, counted from 0, line end included; empty past the last line.
    pub fn line_span(&self, line: usize) -> Span {
        let starts = self.line_starts();
        let end = self.text.len();
        let start = starts.get(line).map_or(end, |start| *start as usize);
        Span::new(start, starts.get(line + 1).map_or(end, |next| *next as usize))
    }

    /// A line, counted from 0, without its line end and without a leading byte order mark.
    pub fn line_text(&self, line: usize) -> &str {
        let text = self.line_span(line).of(&self.text).trim_end_matches(['\n', '\r']);
        if line == 0 { text.trim_start_matches(BYTE_ORDER_MARK) } else { text }
    }

    /// Line and column of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.line_of(offset);
        let start = self.line_span(line).start();
        let mut end = offset.clamp(start, self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[start..end];
        let marks = usize::from(line == 0 && before.starts_with(BYTE_ORDER_MARK));
        let clip = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Position { line: clip(line + 1), column: clip(before.chars().count() - marks + 1) }
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| line_starts(&self.text))
    }
}

/// LF, CRLF and a lone CR each end a line.
fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (offset, byte) in bytes.iter().enumerate() {
        let ends = match byte {
            b'\n' => true,
            b'\r' => bytes.get(offset + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends {
            starts.push(u32::try_from(offset + 1).unwrap_or(u32::MAX));
        }
    }
    starts
}

/// The texts that diagnostics point into, by path; the database of files that renderers read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    by_path: HashMap<Arc<Path>, Arc<Source>>,
}

impl Sources {
    /// Adds a text, in place of an earlier one at its path.
    pub fn insert(&mut self, source: Arc<Source>) {
        self.by_path.insert(source.path().clone(), source);
    }

    /// The text at `path`, if it was read.
    pub fn get(&self, path: &Path) -> Option<&Arc<Source>> {
        self.by_path.get(path)
    }

    /// All texts in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Source>> {
        let mut texts: Vec<&Arc<Source>> = self.by_path.values().collect();
        texts.sort_by(|left, right| left.path().as_os_str().cmp(right.path().as_os_str()));
        texts.into_iter()
    }

    /// The paths of all texts, in no particular order.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.by_path.keys()
    }

    /// Adds the texts of others, in place of earlier ones at their paths.
    pub fn extend(&mut self, others: Self) {
        if self.by_path.is_empty() {
            *self = others;
        } else {
            self.by_path.extend(others.by_path);
        }
    }

    fn source_of(&self, path: &Path) -> Result<&Arc<Source>, Error> {
        self.get(path).ok_or(Error::FileMissing)
    }
}

impl FromIterator<Arc<Source>> for Sources {
    fn from_iter<I: IntoIterator<Item = Arc<Source>>>(texts: I) -> Self {
        Self { by_path: texts.into_iter().map(|source| (source.path().clone(), source)).collect() }
    }
}

/// A file's path is its id. Names are shown escaped.
impl<'a> Files<'a> for Sources {
    type FileId = &'a Path;
    type Name = String;
    type Source = &'a str;

    fn name(&'a self, path: &'a Path) -> Result<String, Error> {
        Ok(visible(&path.to_string_lossy()).into_owned())
    }

    fn source(&'a self, path: &'a Path) -> Result<&'a str, Error> {
        Ok(self.source_of(path)?.text())
    }

    fn line_index(&'a self, path: &'a Path, offset: usize) -> Result<usize, Error> {
        Ok(self.source_of(path)?.line_of(offset))
    }

    fn column_number(&'a self, path: &'a Path, _line: usize, offset: usize) -> Result<usize, Error> {
        Ok(self.source_of(path)?.position(offset).column as usize)
    }

    fn line_range(&'a self, path: &'a Path, line: usize) -> Result<Range<usize>, Error> {
        let source = self.source_of(path)?;
        if line >= source.line_count() {
            return Err(Error::LineTooLarge { given: line, max: source.line_count() - 1 });
        }
        Ok(source.line_span(line).range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, offset: usize) -> (u32, u32) {
        let position = Source::new(Path::new("a.md"), text).position(offset);
        (position.line, position.column)
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let text = "a\nb\r\nc\rd";
        assert_eq!(position(text, 2), (2, 1));
        assert_eq!(position(text, 5), (3, 1));
        assert_eq!(position(text, 7), (4, 1));
        assert_eq!(position(text, 99), (4, 2));
    }

    #[test]
    fn columns_are_characters_and_a_byte_order_mark_takes_none() {
        assert_eq!(position("\u{feff}é整x", 3 + 2 + 3), (1, 3));
        assert_eq!(position("\u{feff}x", 3), (1, 1));
        assert_eq!(position("é", 1), (1, 1), "inside a character is at it");
    }

    #[test]
    fn lines_are_given_without_their_ends() {
        let source = Source::new(Path::new("a.md"), "\u{feff}one\r\ntwo\r");
        assert_eq!(source.line_text(0), "one");
        assert_eq!(source.line_text(1), "two");
        assert_eq!(source.line_text(2), "");
        assert_eq!(source.line_text(9), "");
    }
}
