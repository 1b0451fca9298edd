//! The diagnostic itself.

use std::path::Path;
use std::sync::Arc;

use super::{Fix, Level, Rule};
use crate::text::Span;

/// A further place that a diagnostic points at, with a few words on what it has to do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The file.
    pub path: Arc<Path>,
    /// The place in it.
    pub span: Span,
    /// At most six words.
    pub message: String,
}

/// One finding: what is wrong, where, what the compiler makes of it, and how to write it right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How much it matters here.
    pub level: Level,
    /// What is wrong and what happens because of it.
    pub message: String,
    /// The file.
    pub path: Arc<Path>,
    /// The place in it.
    pub span: Span,
    /// A few words at that place; may be empty.
    pub label: String,
    /// Further places, also in other files.
    pub labels: Vec<Label>,
    /// How to write it right.
    pub help: Option<String>,
    /// Edits that would mend it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of `rule` at a place, at the rule's own level, without label, help or fix.
    pub fn new(rule: &'static Rule, path: Arc<Path>, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            level: rule.level,
            message: message.into(),
            path,
            span,
            label: String::new(),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// The order in which diagnostics are shown: by file, by place, by rule.
    pub fn sort_key(&self) -> (&Path, Span, &'static str) {
        (&self.path, self.span, self.rule.name)
    }
}
