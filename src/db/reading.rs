//! Reading what is new on disk, on several threads.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::query::ForkInput;
use crate::compile::{Contents, MAX_BYTES};
use crate::project::{self, FileSystem, Stamp};

/// An input of the database, and how it got there.
pub(super) struct Known<I> {
    pub(super) input: I,
    pub(super) seen: Seen,
}

/// Where the contents that the database knows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// From disk, where the file had this stamp.
    Disk(Stamp),
    /// From a text that stands in for the disk.
    Overlay(Arc<str>),
    /// That is not known, so they may be out of date.
    Unknown,
}

/// What is needed to read files; threads can share it.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) forks: &'a HashMap<Arc<Path>, Known<ForkInput>>,
    pub(super) overlays: &'a BTreeMap<PathBuf, Arc<str>>,
}

impl Reading<'_> {
    /// What a file holds, unless the database knows it already.
    pub(super) fn read_if_changed(&self, path: &Path) -> Option<(Seen, Contents)> {
        match self.forks.get(path) {
            Some(known) if self.is_current(path, &known.seen) => None,
            _ => Some(self.read(path)),
        }
    }

    /// Whether what was seen is still what is there.
    pub(super) fn is_current(&self, path: &Path, seen: &Seen) -> bool {
        match (self.overlays.get(path), seen) {
            (Some(text), Seen::Overlay(seen)) => Arc::ptr_eq(text, seen) || text == seen,
            (None, Seen::Disk(stamp)) => self.fs.metadata(path).is_ok_and(|found| found.stamp == *stamp),
            _ => false,
        }
    }

    /// What a file holds.
    pub(super) fn read(&self, path: &Path) -> (Seen, Contents) {
        if let Some(text) = self.overlays.get(path) {
            return (Seen::Overlay(text.clone()), Contents::text(text));
        }
        // One byte more than there may be shows that a file is too large.
        match self.fs.open(path, MAX_BYTES + 1) {
            Ok((found, bytes)) => (Seen::Disk(found.stamp), Contents::from_bytes(bytes)),
            Err(error) => (Seen::Unknown, Contents::Unreadable(project::reason(&error))),
        }
    }
}
