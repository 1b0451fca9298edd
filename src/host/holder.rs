//! The daemon that holds the lock, for those who cannot find it at its socket.

use std::fs::TryLockError;

use rustix::process::{Pid, Signal, kill_process};

use super::dirs::Home;
use super::files::{self, Access};

/// The signal that makes a daemon see whether its seat is still its own and its socket still in place. Whoever does not
/// know it ignores it, so that nothing happens to a process that has come by the id of a daemon of old.
pub const POKE: Signal = Signal::URG;

/// Whoever holds the lock of a base folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process, if it has recorded that.
    pub pid: Option<u32>,
}

impl Holder {
    /// The holder of the lock; none if nobody holds it.
    pub fn of(home: &Home) -> Option<Self> {
        let lock = files::open(&home.lock(), Access::Read).ok()?;
        matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| Self { pid: home.recorded_pid() })
    }

    /// Has it look after its seat and its socket.
    pub fn poke(self) {
        if let Some(pid) = self.pid {
            poke(pid);
        }
    }
}

/// Has the daemon that is this process look after its seat and its socket.
pub fn poke(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended.
        let _ = kill_process(pid, POKE);
    }
}
