//! One fork, compiled.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ForkName, Moment, Seconds, Tag};

/// A fork as compiled from its file. Where the file held a bad value, this holds the default that stands in for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The name by which it is known and ordered.
    pub name: ForkName,
    /// The file it was compiled from.
    #[serde(with = "super::lossy")]
    pub path: PathBuf,
    /// What it is for, in its author's words.
    pub description: Option<String>,
    /// When it comes due; empty if nothing can make it fire.
    pub run_on: Vec<Moment>,
    /// The least time between two runs in one conversation; never zero.
    pub throttle: Option<Seconds>,
    /// The forks it waits for when they come due together with it.
    pub after: Vec<ForkName>,
    /// Whether two of its runs may be under way at once.
    pub overlap: Overlap,
    /// Its labels.
    pub tags: Vec<Tag>,
    /// What to do.
    pub body: Body,
}

/// Whether two runs of one fork may be under way at once. In JSON `true` or `false`, as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Overlap {
    /// One run at a time.
    #[default]
    Forbidden,
    /// A new run may start while another is live.
    Allowed,
}

impl From<bool> for Overlap {
    fn from(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Forbidden }
    }
}

impl From<Overlap> for bool {
    fn from(overlap: Overlap) -> Self {
        overlap == Overlap::Allowed
    }
}

/// The instructions of a fork: everything after the frontmatter, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Body {
    /// The line of the file on which it begins, from 1.
    pub first_line: u32,
    /// The text, line ends as in the file.
    pub text: Arc<str>,
}
