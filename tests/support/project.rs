//! A project in memory, with a user beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::db::{Loaded, Workspace};
use autofork::ir::LaunchDir;
use autofork::project::{Memory, UserDirs};

/// Where the project is.
pub(crate) const PROJECT: &str = "/home/me/project";

/// A project with some notes in it, and a user without forks.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    files: Memory,
}

impl Project {
    /// A project in which only `LOG.md` exists.
    pub(crate) fn new() -> Self {
        let mut files = Memory::default();
        files.write(format!("{PROJECT}/LOG.md"), "");
        files.write(format!("{PROJECT}/.autofork/forks/.keep"), "");
        Self { files }
    }

    /// With a fork of the project, or of the user if the path starts with `user/`; `config.toml` is the configuration.
    pub(crate) fn with(mut self, path: &str, contents: impl Into<Vec<u8>>) -> Self {
        self.write(path, contents);
        self
    }

    /// Writes a file, as [`Project::with`] does.
    pub(crate) fn write(&mut self, path: &str, contents: impl Into<Vec<u8>>) {
        self.files.write(place(path), contents);
    }

    /// Loads it anew.
    pub(crate) fn load(&self) -> Loaded {
        Workspace::new(Arc::new(self.files.clone())).load(&LaunchDir::new(PROJECT), &user())
    }
}

/// The user of the project.
pub(crate) fn user() -> UserDirs {
    UserDirs::new(None, Some("/home/me".into()), None)
}

/// Where a file of the project or the user is.
pub(crate) fn place(path: &str) -> PathBuf {
    let (base, path) = match path.strip_prefix("user/") {
        Some(path) => ("/home/me/.autofork", path),
        None => ("/home/me/project/.autofork", path),
    };
    let base = Path::new(base);
    if path == "config.toml" { base.join(path) } else { base.join("forks").join(path) }
}
