//! Text as it stands in a file: where things are in it, and how to show it safely.
//!
//! A place is a byte range of the file as it lies on disk, byte order mark included. Lines and columns are computed
//! from it once, at the edge, and only here. This room does no I/O and knows nothing of forks.

mod escape;
mod lines;
mod source;
mod span;

pub use escape::{brief, is_invisible, visible, visible_json, visible_line};
pub use lines::{line_end, lines};
pub use source::{Position, Source, Sources};
pub use span::Span;

/// The byte order mark that some editors write before a file's first character. It takes no column.
pub const BYTE_ORDER_MARK: char = '\u{feff}';
