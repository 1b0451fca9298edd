//! A report: what a renderer is given.

use std::borrow::Cow;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Applicability, Diagnostic, Level};
use crate::text::{Position, Sources, Span};

/// The outcome of a check, ready to be rendered.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// What was found, in the order in which it is shown.
    pub diagnostics: &'a [Diagnostic],
    /// The texts that the diagnostics point into.
    pub sources: &'a Sources,
    /// How many files were looked at.
    pub files: usize,
    /// Paths below this folder are shown relative to it.
    pub base: &'a Path,
}

/// How many there are of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Summary {
    /// Files looked at.
    pub files: usize,
    /// Findings of level `error`.
    pub errors: usize,
    /// Findings of level `warn`.
    pub warnings: usize,
    /// Findings of level `hint`.
    pub hints: usize,
}

impl Report<'_> {
    /// The numbers of the report.
    pub fn summary(&self) -> Summary {
        let count = |level| self.diagnostics.iter().filter(|found| found.level == level).count();
        Summary {
            files: self.files,
            errors: count(Level::Error),
            warnings: count(Level::Warn),
            hints: count(Level::Hint),
        }
    }

    /// How many findings a fix of at most that applicability would mend.
    pub fn fixable(&self, applicability: Applicability) -> usize {
        let fixes = self.diagnostics.iter().filter_map(|found| found.fix.as_ref());
        fixes.filter(|fix| fix.applicability == applicability).count()
    }

    /// A path as it is shown: relative to the base where it lies below it. Not escaped.
    pub fn path<'p>(&self, path: &'p Path) -> Cow<'p, str> {
        self.relative(path).to_string_lossy()
    }

    /// The same, byte for byte.
    pub fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.base).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path)
    }

    /// First and last position of a place; none in a file whose text was not read.
    pub fn range(&self, path: &Path, span: Span) -> Option<(Position, Position)> {
        let source = self.sources.get(path)?;
        Some((source.position(span.start()), source.position(span.end())))
    }
}
