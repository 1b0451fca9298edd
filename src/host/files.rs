//! Opening the files that are ours alone. Whatever else stands at their names is refused: a symbolic link would lead a
//! write somewhere else, a pipe would hang whoever opens it, and another user's file is not ours to trust.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// A file of ours: for nobody else.
const PRIVATE_FILE: u32 = 0o600;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read it, if it is there.
    Read,
    /// To add to its end. It is made if it is not there, and closed to others.
    Append,
    /// To read and write it. It is made if it is not there, and closed to others.
    Write,
}

/// Opens a regular file of ours, by this very name. Never waits.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Append => options.append(true).create(true),
        Access::Write => options.read(true).write(true).create(true).truncate(false),
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.mode(PRIVATE_FILE).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).map_err(in_words)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    if access != Access::Read && metadata.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    }
    Ok(file)
}

/// Why the file at `path` could not be opened as one of ours, judged by a look from outside. That it is not there, or
/// cannot be looked at, is no reason.
pub fn obstacle(path: &Path) -> Option<io::Error> {
    check(&fs::symlink_metadata(path).ok()?).err()
}

/// Which file it is: the numbers of its device and of itself.
pub fn number(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(())
}

fn in_words(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP | Errno::MLINK) => io::Error::other("it is a symbolic link"),
        // A pipe that nobody reads, or a socket.
        Some(Errno::NXIO | Errno::ISDIR) => io::Error::other("it is not a regular file"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_regular_file_by_its_own_name_is_opened_and_nothing_hangs() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        symlink(&file, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for access in [Access::Read, Access::Append, Access::Write] {
            for wrong in [&link, &pipe, &folder.path().to_owned()] {
                let error = open(wrong, access).unwrap_err().to_string();
                assert!(error.starts_with("it is "), "{access:?} {}: {error}", wrong.display());
                assert!(obstacle(wrong).is_some());
            }
            open(&file, access).unwrap();
        }
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, PRIVATE_FILE, "closed to others");
        assert!(obstacle(&file).is_none());
        assert!(obstacle(&folder.path().join("nothing")).is_none());
    }
}
