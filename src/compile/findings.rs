//! Collecting diagnostics while a file is compiled.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix, Label, Level, Rule};
use crate::syntax::yaml::Place;
use crate::text::Span;

/// The diagnostics of one file, as far as it has been looked at.
#[derive(Debug)]
pub(crate) struct Findings {
    path: Arc<Path>,
    found: Vec<Diagnostic>,
}

impl Findings {
    /// Nothing yet, for the file at `path`.
    pub(crate) fn new(path: Arc<Path>) -> Self {
        Self { path, found: Vec::new() }
    }

    /// Goes on with the file at `path`.
    pub(crate) fn in_file(&mut self, path: &Arc<Path>) -> &mut Self {
        self.path = path.clone();
        self
    }

    /// Adds a finding at a place of the file. What was found and what it leads to, in one sentence without a full stop.
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        place: impl Into<Place>,
        message: impl Into<String>,
    ) -> Draft<'_> {
        let place = place.into();
        let mut diagnostic = Diagnostic::new(rule, self.path.clone(), place.span, message);
        if let Some(words) = place.words {
            diagnostic.labels.push(Label {
                path: self.path.clone(),
                span: words,
                message: "written here".to_owned(),
            });
        }
        let index = self.found.len();
        self.found.push(diagnostic);
        Draft { diagnostic: &mut self.found[index], through_alias: place.words.is_some() }
    }

    /// All findings, in the order of their places.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
        self.found
    }
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Self::here(span)
    }
}

/// A finding that may still be given a label, help and a fix.
pub(crate) struct Draft<'a> {
    diagnostic: &'a mut Diagnostic,
    through_alias: bool,
}

impl Draft<'_> {
    /// At another level than the rule's own.
    pub(crate) fn level(self, level: Level) -> Self {
        self.diagnostic.level = level;
        self
    }

    /// A few words at the place.
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        self.diagnostic.label = label.into();
        self
    }

    /// A few words at a further place of the same file.
    pub(crate) fn also(self, span: Span, message: impl Into<String>) -> Self {
        let path = self.diagnostic.path.clone();
        self.also_in(path, span, message)
    }

    /// A few words at a place of any file.
    pub(crate) fn also_in(self, path: Arc<Path>, span: Span, message: impl Into<String>) -> Self {
        self.diagnostic.labels.push(Label { path, span, message: message.into() });
        self
    }

    /// How to write it right.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        self.diagnostic.help = Some(help.into());
        self
    }

    /// Edits that mend it. Words that an alias brought in are left alone: they are also used elsewhere.
    pub(crate) fn fix(
        self,
        applicability: Applicability,
        message: impl Into<String>,
        edits: impl IntoIterator<Item = (Span, String)>,
    ) -> Self {
        if !self.through_alias {
            let path = &self.diagnostic.path;
            let mut edits: Vec<Edit> =
                edits.into_iter().map(|(span, text)| Edit { path: path.clone(), span, text }).collect();
            edits.sort_by_key(|edit| edit.span);
            self.diagnostic.fix = Some(Fix { applicability, message: message.into(), edits });
        }
        self
    }

    /// A fix that may be made unseen, of one edit.
    pub(crate) fn safe(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix(Applicability::Safe, message, [(span, text.into())])
    }

    /// A fix that is a guess, of one edit.
    pub(crate) fn guess(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix(Applicability::Unsafe, message, [(span, text.into())])
    }
}
