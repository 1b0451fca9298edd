//! Windows, and whatever else has paths of characters.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::UNIX_EPOCH;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// When it was last changed, in nanoseconds since 1970.
pub fn modified(found: &Metadata) -> i64 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The number of the file itself, which a file put in its place does not have; 0 where there is no such number.
pub fn file_number(_found: &Metadata) -> u64 {
    0
}

/// The user it belongs to.
pub fn owner(_found: &Metadata) -> Option<u32> {
    None
}

/// The user of this process.
pub fn user() -> Option<u32> {
    None
}

/// Whether both paths lead to one folder.
pub fn is_same_folder(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|found| other.canonicalize().is_ok_and(|other| found == other))
}

/// Runs the program, and ends as it ends. Comes back only if it cannot be started.
pub fn become_program(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// The path part of a file URI, before any byte of it is escaped. A drive stands behind a slash.
pub fn uri_of_path(path: &Path) -> Vec<u8> {
    let path = path.to_string_lossy();
    // What `canonicalize` gives is spelt so that the system takes it as it is; no editor spells it so.
    let path = path.strip_prefix(r"\\?\").unwrap_or(&path).replace('\\', "/");
    if path.starts_with('/') { path.into_bytes() } else { format!("/{path}").into_bytes() }
}

/// The path that the path part of a file URI means, when no byte of it is escaped any more.
pub fn path_of_uri(bytes: Vec<u8>) -> Option<PathBuf> {
    let path = String::from_utf8(bytes).ok()?;
    let drive = path.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
    Some(drive.unwrap_or(&path).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_stands_behind_a_slash_in_a_uri() {
        for (path, uri) in [(r"C:\forks\a b.md", "/C:/forks/a b.md"), ("/forks/a.md", "/forks/a.md")] {
            assert_eq!(uri_of_path(Path::new(path)), uri.as_bytes());
            assert_eq!(path_of_uri(uri.into()), Some(path.replace('\\', "/").into()));
        }
        assert_eq!(uri_of_path(Path::new(r"\\?\C:\a.md")), b"/C:/a.md");
        assert_eq!(path_of_uri(b"/\xff".to_vec()), None);
    }

    #[test]
    fn files_are_opened_and_told_apart_by_their_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, "text").unwrap();
        let found = open(&path).unwrap().metadata().unwrap();
        assert!(modified(&found) > 0);
        assert_eq!((file_number(&found), owner(&found), user()), (0, None, None));
        assert!(is_same_folder(folder.path(), &folder.path().join(".")));
        assert!(!is_same_folder(folder.path(), &path));
    }
}
