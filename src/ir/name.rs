//! Names that forks, tags and folders go by.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A type for texts of one kind that serve as names: cheap to copy, compared as they stand.
macro_rules! text_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use text_name;

text_name!(
    /// The name of a fork: its file's stem, or its folder's name where the file is `FORK.md`. Any text, even an odd
    /// one; whether it is a wise name is a question for a rule of the compiler. Whoever makes one has brought it to
    /// Unicode NFC.
    ForkName
);
text_name!(
    /// A label of a fork, by which configuration switches, filters and throttles groups of forks. Case-sensitive.
    Tag
);

/// The folder in which a session was launched; its fork files are looked for there and in each ancestor. Pinned at
/// the session's first event, so that a `cd` changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaunchDir(#[serde(with = "super::lossy")] PathBuf);

/// The root of the project that a session works on; tag throttles are kept per project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectRoot(#[serde(with = "super::lossy")] PathBuf);

macro_rules! folder_name {
    ($name:ident) => {
        impl $name {
            /// The folder at `path`, taken as it is given.
            pub fn new(path: impl Into<PathBuf>) -> Self {
                Self(path.into())
            }

            /// The folder's path.
            pub fn as_path(&self) -> &Path {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.display().fmt(f)
            }
        }
    };
}

folder_name!(LaunchDir);
folder_name!(ProjectRoot);
