//! The real file system.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind, FileSystem, Metadata, Stamp};

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let found = fs::metadata(path)?;
        let stamp = Stamp {
            modified: i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec()),
            size: found.size(),
            number: found.ino(),
        };
        Ok(Metadata { kind: kind(found.file_type()), stamp, owner: Some(found.uid()) })
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
