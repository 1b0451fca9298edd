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

    /// Ends it without its leave, for one that hears nothing any more; false if no daemon is known by that number. What it
    /// knows is in its journal.
    pub fn end(self) -> bool {
        let daemon = self.pid.filter(|pid| is_daemon(*pid));
        let daemon = daemon.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        daemon.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
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

/// Whether a process was started as a daemon. The number comes from a file, and may be another's by now.
#[cfg(target_os = "linux")]
fn is_daemon(pid: u32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(1) == Some(b"daemon")
}

/// Elsewhere that is not to be seen; whoever holds the lock has recorded the number.
#[cfg(not(target_os = "linux"))]
fn is_daemon(_: u32) -> bool {
    true
}
