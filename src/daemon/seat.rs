//! The daemon's seat: the lock that makes it the only one, and the socket at which it is found.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use tokio::net::UnixListener;

use crate::host::client::Connection;
use crate::host::dirs::{Home, HomeError};

/// How long to wait for a seat whose holder is not to be found at its socket: it is leaving, or only just arriving.
const PATIENCE: Duration = Duration::from_secs(3);

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Files kept free for forks, journal and log.
const RESERVED_FILES: usize = 64;

/// More connections than any user has sessions, and few enough for the memory they take.
const MOST_CONNECTIONS: usize = 16 * 1024;

/// Why the seat cannot be had.
#[derive(Debug)]
pub(super) enum SeatError {
    /// Another daemon has it.
    Taken,
    /// There is no folder for it.
    Home(HomeError),
    /// A file of it cannot be used.
    File(&'static str, io::Error),
}

#[derive(Debug)]
pub(super) struct Seat {
    lock: File,
    home: Home,
    socket: Option<PathBuf>,
}

impl Seat {
    /// Takes the seat. The lock goes with the process, however that ends.
    pub(super) fn take(home: &Home) -> Result<Self, SeatError> {
        home.prepare_socket().map_err(SeatError::Home)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(home.lock()).map_err(|error| SeatError::File("lock", error))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { lock, home: home.clone(), socket: None }),
                Err(TryLockError::Error(error)) => return Err(SeatError::File("lock", error)),
                Err(TryLockError::WouldBlock) => {
                    if is_held(home) || Instant::now() >= until {
                        return Err(SeatError::Taken);
                    }
                    thread::sleep(LOOK_AGAIN);
                }
            }
        }
    }

    /// Opens the socket. What stands at its place was left by a daemon that is no more, since the lock is ours.
    pub(super) fn listen(&mut self) -> io::Result<UnixListener> {
        let path = self.home.socket();
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!("{} is in the way", path.display()),
                ));
            }
            Err(_) => {}
        }
        let listener = match UnixListener::bind(path) {
            // Another base folder's daemon has just tidied the folder that we share.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.home.prepare_socket().map_err(io::Error::other)?;
                UnixListener::bind(path)?
            }
            outcome => outcome?,
        };
        self.socket = Some(path.to_owned());
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        self.lock.set_permissions(Permissions::from_mode(0o600))?;
        self.lock.set_len(0)?;
        self.lock.write_all(&[path.as_os_str().as_bytes(), b"\n"].concat())?;
        Ok(listener)
    }

    /// Takes the socket away, so that nobody comes any more. The lock stays until the process ends.
    pub(super) fn leave(&mut self) {
        if let Some(path) = self.socket.take() {
            // Gone already, or nothing to be done about it: the next daemon removes it.
            let _ = fs::remove_file(path);
            self.home.tidy_socket();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Whether a daemon answers at its socket.
fn is_held(home: &Home) -> bool {
    Connection::to_daemon_of(home, Instant::now() + LOOK_AGAIN).is_ok()
}

/// Raises the limit of open files as far as the system allows, and returns how many connections fit into it: each
/// parked hook holds one open and each client that is watched another, and some must be left for reading forks.
pub(super) fn room_for_connections() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised there is room for fewer.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok());
    let files = files.unwrap_or(usize::MAX);
    (files.saturating_sub(RESERVED_FILES) / 2).clamp(1, MOST_CONNECTIONS)
}
