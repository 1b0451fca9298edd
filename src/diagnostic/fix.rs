//! Fixes: edits that mend what a diagnostic found.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::text::Span;

/// Whether a fix may be made without a person looking at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Applicability {
    /// It says the same as before, only rightly: what a file that works compiles to does not change.
    Safe,
    /// It is what was probably meant, but a guess.
    Unsafe,
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: Arc<Path>,
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// Edits that belong together: all are made or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Whether it may be made unseen.
    pub applicability: Applicability,
    /// What it does, as an order: "write `30m`".
    pub message: String,
    /// The edits, in the order of their places.
    pub edits: Vec<Edit>,
}
