//! What we need of a file system.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

/// Access to files. Links are followed everywhere but in [`FileSystem::list`], which says what is one.
pub trait FileSystem: Debug + Send + Sync {
    /// The first `limit` bytes of a file.
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// The first `limit` bytes of a file and what it is, in one go.
    fn open(&self, path: &Path, limit: usize) -> io::Result<(Metadata, Vec<u8>)> {
        Ok((self.metadata(path)?, self.read(path, limit)?))
    }

    /// What is at a path.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// What is in a folder, in no particular order.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// The path without links, dots and the like.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// A file, a folder, or something else.
    pub kind: EntryKind,
    /// Whether its contents may have changed.
    pub stamp: Stamp,
    /// The user that it belongs to; none where there are no users.
    pub owner: Option<u32>,
}

/// Changes whenever a file's contents do: time of the last change, size, and the file's own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Nanoseconds since the epoch.
    pub modified: i64,
    /// Bytes.
    pub size: u64,
    /// The inode.
    pub number: u64,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link to something.
    Link,
    /// A socket, a pipe, a device.
    Other,
}
