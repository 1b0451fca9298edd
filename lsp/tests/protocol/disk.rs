//! A disk in memory that changes while the server looks at it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use autofork::project::{Entry, FileSystem, Memory, Metadata};

/// Files that tests write and remove behind the server's back.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    files: Mutex<Memory>,
    /// A file that is listed but gone when somebody reads it.
    vanished: Option<PathBuf>,
}

impl Disk {
    /// A disk with these files.
    pub(crate) fn new(files: Memory) -> Self {
        Self { files: Mutex::new(files), vanished: None }
    }

    /// The same, where a file goes away between being listed and being read.
    pub(crate) fn without(files: Memory, vanished: PathBuf) -> Self {
        Self { vanished: Some(vanished), ..Self::new(files) }
    }

    pub(crate) fn write(&self, path: &Path, contents: &[u8]) {
        self.files.lock().unwrap().write(path, contents);
    }

    pub(crate) fn remove(&self, path: &Path) {
        self.files.lock().unwrap().remove(path);
    }

    fn with<T>(&self, path: &Path, look: impl FnOnce(&Memory) -> io::Result<T>) -> io::Result<T> {
        if self.vanished.as_deref() == Some(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        look(&self.files.lock().unwrap())
    }
}

impl FileSystem for Disk {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.with(path, |files| files.read(path, limit))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.with(path, |files| files.metadata(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.with(path, |files| files.list(path))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.with(path, |files| files.real_path(path))
    }
}
