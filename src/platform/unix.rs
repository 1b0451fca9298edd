//! Linux and macOS.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Mode, OFlags};

/// Opens a file for reading, and waits for nobody: opening a pipe would wait for somebody who writes to it.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// When it was last changed, in nanoseconds since 1970.
pub fn modified(found: &Metadata) -> i64 {
    found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec())
}

/// The number of the file itself, which a file put in its place does not have; 0 where there is no such number.
pub fn file_number(found: &Metadata) -> u64 {
    found.ino()
}

/// The user it belongs to.
pub fn owner(found: &Metadata) -> Option<u32> {
    Some(found.uid())
}

/// The user of this process.
pub fn user() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

/// Whether both paths lead to one folder.
pub fn is_same_folder(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    number(one).is_some_and(|found| Some(found) == number(other))
}

/// Runs the program in the place of this one. Comes back only if it cannot be started.
pub fn become_program(command: &mut Command) -> io::Error {
    command.exec()
}

/// The path part of a file URI, before any byte of it is escaped.
pub fn uri_of_path(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path that the path part of a file URI means, when no byte of it is escaped any more.
pub fn path_of_uri(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes).into())
}
