//! A file system in memory, for tests, examples and texts that are not saved.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind, FileSystem, Metadata, Stamp};

/// Files in memory, by their absolute paths. There are no links and no users.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, (Vec<u8>, i64)>,
    folders: BTreeSet<PathBuf>,
    changes: i64,
}

impl Memory {
    /// Writes a file, and the folders that it lies in.
    pub fn write(&mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) {
        let path = path.into();
        self.folders.extend(path.ancestors().skip(1).map(Path::to_path_buf));
        self.changes += 1;
        self.files.insert(path, (contents.into(), self.changes));
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &Path) {
        self.files.remove(path);
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl FileSystem for Memory {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let (contents, _) = self.files.get(path).ok_or_else(missing)?;
        Ok(contents[..contents.len().min(limit)].to_vec())
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        if let Some((contents, change)) = self.files.get(path) {
            let stamp = Stamp { modified: *change, size: contents.len() as u64, number: 0 };
            return Ok(Metadata { kind: EntryKind::File, stamp, owner: None });
        }
        let folder = Metadata { kind: EntryKind::Folder, stamp: Stamp::default(), owner: None };
        self.folders.contains(path).then_some(folder).ok_or_else(missing)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        if !self.folders.contains(path) {
            return Err(missing());
        }
        let name = |child: &PathBuf| -> Option<OsString> {
            (child.parent() == Some(path)).then(|| child.file_name().map(OsString::from)).flatten()
        };
        let files = self.files.keys().filter_map(name).map(|name| Entry { name, kind: EntryKind::File });
        let folders = self.folders.iter().filter_map(name).map(|name| Entry { name, kind: EntryKind::Folder });
        Ok(files.chain(folders).collect())
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.metadata(path).map(|_| path.to_path_buf())
    }
}
