//! Where the daemon's programs come from: the compiler. And its gauges: the client's transcripts.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::daemon::{GaugeReading, Loaded, ProgramSource};
use crate::db::Workspace;
use crate::host::claude_code::Transcript;
use crate::ir::LaunchDir;
use crate::project::{Disk, Entry, FileSystem, Metadata, UserDirs};

use crate::cli::surroundings;

/// A workspace that keeps what it has compiled, so that a load costs little more than looking at the files.
pub(super) struct Source {
    workspace: Workspace,
    disk: Arc<WatchedDisk>,
    user: UserDirs,
    /// How far each transcript was read.
    transcripts: HashMap<PathBuf, Transcript>,
}

/// How many transcripts are remembered. A forgotten one is read anew from its beginning.
const TRANSCRIPTS: usize = 1024;

impl Source {
    pub(super) fn new() -> Self {
        let disk = Arc::new(WatchedDisk::default());
        let workspace = Workspace::new(Arc::clone(&disk) as Arc<dyn FileSystem>);
        Self { workspace, disk, user: surroundings::user_dirs(), transcripts: HashMap::new() }
    }
}

/// The disk, and whether something could not be read only because too many files are open. That says nothing of the
/// forks: they are not gone.
#[derive(Debug, Default)]
struct WatchedDisk {
    starved: AtomicBool,
}

impl WatchedDisk {
    fn watched<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        use rustix::io::Errno;
        let errno = outcome.as_ref().err().and_then(Errno::from_io_error);
        if matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM)) {
            self.starved.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl FileSystem for WatchedDisk {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.watched(Disk.read(path, limit))
    }

    fn open(&self, path: &Path, limit: usize) -> io::Result<(Metadata, Vec<u8>)> {
        self.watched(Disk.open(path, limit))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.watched(Disk.metadata(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.watched(Disk.list(path))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.watched(Disk.real_path(path))
    }
}

impl ProgramSource for Source {
    fn load(&mut self, launch: &LaunchDir) -> Option<Loaded> {
        let loaded = self.workspace.load(launch, &self.user);
        if self.disk.starved.swap(false, Ordering::Relaxed) {
            // What could not be read must not be remembered as such.
            self.workspace = Workspace::new(Arc::clone(&self.disk) as Arc<dyn FileSystem>);
            return None;
        }
        Some(Loaded { program: loaded.program, root: loaded.root })
    }

    fn gauge(&mut self, transcript: &Path) -> Option<GaugeReading> {
        if self.transcripts.len() >= TRANSCRIPTS && !self.transcripts.contains_key(transcript) {
            self.transcripts.clear();
        }
        let reading = self.transcripts.entry(transcript.to_owned()).or_default().read(transcript).ok()?;
        Some(GaugeReading { tokens: reading.tokens, window: reading.window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_told_apart_from_files_that_are_gone() {
        let disk = WatchedDisk::default();
        let failed = |errno: rustix::io::Errno| disk.watched(Err::<(), _>(errno.into())).unwrap_err();
        failed(rustix::io::Errno::NOENT);
        failed(rustix::io::Errno::ACCESS);
        assert!(!disk.starved.load(Ordering::Relaxed));
        failed(rustix::io::Errno::MFILE);
        assert!(disk.starved.load(Ordering::Relaxed));
    }

    #[test]
    fn what_could_not_be_read_for_want_of_files_is_no_program_and_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let forks = folder.path().join(".autofork/forks");
        std::fs::create_dir_all(&forks).unwrap();
        std::fs::write(forks.join("a.md"), "---\nfork: true\nrun_on: [idle]\n---\nDo it.\n").unwrap();
        let launch = LaunchDir::new(folder.path());
        let mut source = Source::new();
        source.disk.starved.store(true, Ordering::Relaxed);
        assert_eq!(source.load(&launch), None);
        let loaded = source.load(&launch).unwrap();
        assert!(loaded.program.forks().any(|fork| fork.name.as_str() == "a"));
    }
}
