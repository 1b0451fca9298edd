//! The real file system.

use std::fs::{self, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind, FileSystem, Metadata, Stamp};
use crate::platform;

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        Ok(self.open(path, limit)?.1)
    }

    fn open(&self, path: &Path, limit: usize) -> io::Result<(Metadata, Vec<u8>)> {
        let file = platform::open(path)?;
        let found = metadata(&file.metadata()?);
        if found.kind != EntryKind::File {
            return Err(io::Error::other("it is not a file"));
        }
        // With room for all of it and one byte more, one call reads it and one sees its end.
        let size = usize::try_from(found.stamp.size).unwrap_or(limit).min(limit);
        let mut bytes = Vec::with_capacity(size + 1);
        file.take(limit as u64).read_to_end(&mut bytes)?;
        Ok((found, bytes))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        fs::metadata(path).map(|found| metadata(&found))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                Ok(Entry { kind: kind(entry.file_type()?), name: entry.file_name() })
            })
            .collect()
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }
}

fn metadata(found: &fs::Metadata) -> Metadata {
    let stamp =
        Stamp { modified: platform::modified(found), size: found.len(), number: platform::file_number(found) };
    Metadata { kind: kind(found.file_type()), stamp, owner: platform::owner(found) }
}

fn kind(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else if file_type.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}
