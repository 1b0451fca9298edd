//! Starting a daemon where there is none.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::dirs::{HOME_VARIABLE, RUNTIME_VARIABLE};

/// The command that is the daemon.
pub const DAEMON_COMMAND: &str = "daemon";

/// What a daemon needs of its starter's environment: what leads it to the same places, and no more. It lives longer
/// than its starter, and serves sessions with other environments.
const PASSED_ON: [&str; 3] = ["HOME", HOME_VARIABLE, RUNTIME_VARIABLE];

/// Starts daemons, and collects those that have ended.
#[derive(Debug, Default)]
pub struct Launcher {
    child: Option<Child>,
}

/// What became of the daemon that was started last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launched {
    /// None was started, or it gave way to another one.
    None,
    /// It is running.
    Running,
    /// It has ended because it could not do its work.
    Failed,
}

impl Launcher {
    /// Starts a daemon: another process of this program, apart from this one's terminal and folder. It leaves at once
    /// if there is one already.
    pub fn start(&mut self) -> io::Result<()> {
        let mut command = Command::new(this_program()?);
        command.arg(DAEMON_COMMAND).env_clear().current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        for name in PASSED_ON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        self.child = Some(command.spawn()?);
        Ok(())
    }

    /// Looks how the daemon started last is doing. Collects it if it has ended: a parked hook may outlive several.
    pub fn look(&mut self) -> Launched {
        let Some(child) = &mut self.child else { return Launched::None };
        match child.try_wait() {
            Ok(None) => Launched::Running,
            Ok(Some(status)) => {
                self.child = None;
                if status.success() { Launched::None } else { Launched::Failed }
            }
            Err(_) => Launched::Failed,
        }
    }
}

/// The file of this program. Linux says `… (deleted)` after it was replaced, by an update for example; then the new
/// one is the one to start.
fn this_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    match path.as_os_str().as_bytes().strip_suffix(b" (deleted)") {
        Some(replaced) if !path.exists() => Ok(OsString::from_vec(replaced.to_vec()).into()),
        _ => Ok(path),
    }
}
