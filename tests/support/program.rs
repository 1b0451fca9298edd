//! The program in a project on disk, away from the user's own files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A project and a home in a temporary folder, which goes when this does.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Sandbox {
    /// A project with an empty `LOG.md`, and a home without anything.
    pub(crate) fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir_all(sandbox.home()).expect("a home");
        sandbox.write("LOG.md", "");
        sandbox
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder is there").join("project")
    }

    /// The user's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, contents).expect("a file");
    }

    /// Writes a fork of the project.
    pub(crate) fn fork(&self, path: &str, contents: impl AsRef<[u8]>) {
        self.write(Path::new(".autofork/forks").join(path), contents);
    }

    /// Runs the program in the project's folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_in(&self.project(), arguments)
    }

    /// Runs the program in some folder.
    pub(crate) fn run_in(&self, folder: &Path, arguments: &[&str]) -> Run {
        let output = self.command(folder).args(arguments).output().expect("the program runs");
        self.outcome(&output)
    }

    /// The program, ready to be run.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autofork"));
        command.current_dir(folder).env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// What a run left behind, with the temporary folder's name taken out.
    pub(crate) fn outcome(&self, output: &Output) -> Run {
        let root = self.folder.path().canonicalize().expect("the folder is there");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&*root.to_string_lossy(), "~");
        Run { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}
