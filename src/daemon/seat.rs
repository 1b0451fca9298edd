//! The daemon's seat: the lock that makes it the only one, and the socket at which it is found.

use std::fs::{self, File, Metadata, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio::net::UnixListener;

use crate::host::client::Connection;
use crate::host::dirs::Home;
use crate::host::files::{self, Access};
use crate::host::holder::{self, Holder};

/// How long to wait for a seat whose holder is not to be found at its socket: it is leaving, or only just arriving.
const PATIENCE: Duration = Duration::from_secs(3);

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long a holder is given before it is poked again.
const POKE_AGAIN: Duration = Duration::from_millis(100);

/// The mode of the socket.
const PRIVATE_SOCKET: u32 = 0o600;

/// Files kept free for forks, journal and log.
const RESERVED_FILES: usize = 64;

/// More connections than any user has sessions, and few enough for the memory they take.
const MOST_CONNECTIONS: usize = 16 * 1024;

/// Why the seat cannot be had.
#[derive(Debug)]
pub(super) enum SeatError {
    /// Another daemon has it.
    Taken,
    /// A file of it cannot be used.
    File(&'static str, io::Error),
}

/// The right to the seat: the lock's file, as long as it is the one at its path. Whoever removes that file takes the seat
/// away, since the next daemon locks another.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    lock: PathBuf,
    number: (u64, u64),
}

impl Claim {
    /// Whether the seat is still ours. Costs one look at the file.
    pub(super) fn stands(&self) -> bool {
        match fs::symlink_metadata(&self.lock) {
            Ok(metadata) => files::number(&metadata) == self.number,
            // What cannot be looked at has not been taken from us.
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }
}

#[derive(Debug)]
pub(super) struct Seat {
    lock: File,
    claim: Claim,
    home: Home,
    socket: Option<Socket>,
}

/// A socket of ours.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    number: (u64, u64),
}

impl Socket {
    /// Whether it is what stands at its path, for those who look for it there.
    fn is_in_place(&self) -> Option<Metadata> {
        fs::symlink_metadata(&self.path).ok().filter(|found| files::number(found) == self.number)
    }
}

impl Seat {
    /// Takes the seat. The lock goes with the process, however that ends.
    pub(super) fn take(home: &Home) -> Result<Self, SeatError> {
        let until = Instant::now() + PATIENCE;
        let mut poke_at = Instant::now();
        loop {
            // Opened each time: another file may have taken its place.
            let lock = files::open(&home.lock(), Access::Write).map_err(|error| SeatError::File("lock", error))?;
            match lock.try_lock() {
                Ok(()) => {
                    let metadata = lock.metadata().map_err(|error| SeatError::File("lock", error))?;
                    let claim = Claim { lock: home.lock(), number: files::number(&metadata) };
                    // Else it was removed since it was opened, and another daemon may have the one there is now.
                    if claim.stands() {
                        return Ok(Self { lock, claim, home: home.clone(), socket: None });
                    }
                }
                Err(TryLockError::Error(error)) => return Err(SeatError::File("lock", error)),
                Err(TryLockError::WouldBlock) if is_held(home) => return Err(SeatError::Taken),
                Err(TryLockError::WouldBlock) => {
                    if Instant::now() >= until {
                        tracing::warn!("another daemon has the lock, and cannot be reached");
                        return Err(SeatError::Taken);
                    }
                    // It may have lost its socket without knowing.
                    if Instant::now() >= poke_at {
                        poke_at = Instant::now() + POKE_AGAIN;
                        Holder { pid: home.recorded_pid() }.poke();
                    }
                    thread::sleep(LOOK_AGAIN);
                }
            }
        }
    }

    /// What tells whether the seat is still ours.
    pub(super) fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Opens the socket, in the base folder if it cannot be at its proper place, and says so. Its place is recorded in
    /// the lock, where clients find it.
    pub(super) fn listen(&mut self) -> io::Result<(UnixListener, Option<String>)> {
        let deposed = listener(&self.home);
        let proper = self.home.socket().to_owned();
        let (listener, path, note) = match self.bind(&proper) {
            Ok(listener) => (listener, proper, None),
            Err(error) => {
                let Some(path) = self.home.fallback_socket() else { return Err(error) };
                let Ok(listener) = self.bind(&path) else { return Err(error) };
                let note =
                    format!("The socket cannot be at {} ({error}): it is in the base folder.", proper.display());
                (listener, path, Some(note))
            }
        };
        fs::set_permissions(&path, Permissions::from_mode(PRIVATE_SOCKET))?;
        let number = files::number(&fs::symlink_metadata(&path)?);
        let record = Home::record(&path, std::process::id());
        self.socket = Some(Socket { path, number });
        // In this order there is always a record to be read.
        self.lock.write_all_at(&record, 0)?;
        self.lock.set_len(record.len() as u64)?;
        // Whoever was there has lost the seat without having noticed: its lock was removed, and its journal perhaps.
        if let Some(deposed) = deposed.filter(|pid| *pid != std::process::id()) {
            holder::poke(deposed);
        }
        Ok((listener, note))
    }

    /// What stands at its place was left by a daemon that is no more, since the lock is ours.
    fn bind(&self, path: &Path) -> io::Result<UnixListener> {
        if path == self.home.socket() {
            self.home.prepare_socket().map_err(io::Error::other)?;
        }
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
        match UnixListener::bind(path) {
            // Another base folder's daemon has just tidied the folder that we share.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path == self.home.socket() => {
                self.home.prepare_socket().map_err(io::Error::other)?;
                UnixListener::bind(path)
            }
            outcome => outcome,
        }
    }

    /// Whether our socket is where clients look for it, and open to them.
    pub(super) fn can_be_found(&self) -> bool {
        let found = self.socket.as_ref().and_then(Socket::is_in_place);
        found.is_some_and(|socket| socket.permissions().mode() & 0o777 == PRIVATE_SOCKET)
    }

    /// Takes the socket away, so that nobody comes any more. The lock stays until the process ends.
    pub(super) fn leave(&mut self) {
        if let Some(socket) = self.socket.take()
            // Another daemon's, if the seat was taken from us.
            && socket.is_in_place().is_some()
        {
            // Nothing to be done about it if this fails: the next daemon removes it.
            let _ = fs::remove_file(socket.path);
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

/// The process of the daemon that answers at its socket, where the system tells.
fn listener(home: &Home) -> Option<u32> {
    Connection::to_daemon_of(home, Instant::now() + LOOK_AGAIN).ok()?.server()
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
