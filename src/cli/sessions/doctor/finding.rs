//! What a check comes to: a level, what was found, why it matters, and what to do.

use std::path::PathBuf;

use serde::Serialize;

/// How bad a finding is, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing, and perhaps meant so.
    Note,
    /// Probably not meant so.
    Warn,
    /// Something does not work.
    Problem,
}

impl Level {
    /// All of them, the mildest first.
    pub(super) const ALL: [Self; 4] = [Self::Ok, Self::Note, Self::Warn, Self::Problem];

    /// Whether it makes the command exit with 1.
    pub(super) fn counts(self) -> bool {
        self >= Self::Warn
    }
}

/// What one check came to. Texts are as found: whoever shows them escapes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The check, in kebab case: part of the contract with whoever reads the JSON.
    pub(super) check: &'static str,
    pub(super) level: Level,
    /// What was found.
    pub(super) found: String,
    /// Why it matters.
    pub(super) why: &'static str,
    /// What to do, exactly; none where there is nothing to do.
    pub(super) remedy: Option<String>,
    /// The file or folder that it is about.
    #[serde(serialize_with = "lossy")]
    pub(super) path: Option<PathBuf>,
}

// The form that serde asks for.
#[allow(clippy::ref_option)]
fn lossy<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// A check, before it is known what it comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) why: &'static str,
}

impl Check {
    pub(super) fn ok(self, found: impl Into<String>) -> Finding {
        self.finding(Level::Ok, found)
    }

    pub(super) fn note(self, found: impl Into<String>) -> Finding {
        self.finding(Level::Note, found)
    }

    pub(super) fn warn(self, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        self.finding(Level::Warn, found).remedy(remedy)
    }

    pub(super) fn problem(self, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        self.finding(Level::Problem, found).remedy(remedy)
    }

    fn finding(self, level: Level, found: impl Into<String>) -> Finding {
        Finding { check: self.name, level, found: found.into(), why: self.why, remedy: None, path: None }
    }
}

impl Finding {
    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    pub(super) fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }
}
