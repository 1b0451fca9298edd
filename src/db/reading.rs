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
    pub(super) forks: &'a HashMap<PathBuf, Known<ForkInput>>,
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

/// Fewer things than this are done faster by one thread alone.
const WORTH_THREADS: usize = 64;

/// Does something with each thing, on as many threads as the machine has, and gives the outcomes in order. Each thread
/// is given something of its own to work with.
pub(super) fn in_parallel<T: Sync, S: Send, R: Send>(
    things: &[T],
    own: impl Fn() -> S,
    work: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    // Asked only where it matters: to count processors takes longer than to compile a file.
    let threads = || std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let threads = if things.len() < WORTH_THREADS { 1 } else { threads() };
    if threads < 2 {
        let own = own();
        return things.iter().map(|thing| work(&own, thing)).collect();
    }
    let chunk = things.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = things
            .chunks(chunk)
            .map(|part| {
                let own = own();
                scope.spawn(move || part.iter().map(|thing| work(&own, thing)).collect::<Vec<R>>())
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
