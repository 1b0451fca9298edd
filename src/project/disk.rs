//! The real file system.

use std::fs::{self, File, FileType};
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
        Ok((found, contents(file, found.stamp.size, limit)?))
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

/// The first `limit` bytes of a file that says that it has `size`.
fn contents(mut file: File, size: u64, limit: usize) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).unwrap_or(limit);
    let mut bytes = vec![0; size.saturating_add(1).min(limit)];
    let read = match file.read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    // Whoever asks for one byte more than there should be and gets what there should be has seen the end, and need not
    // ask again. Else the file grows, or says nothing of its size.
    if read != size {
        file.take((limit - read) as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
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
