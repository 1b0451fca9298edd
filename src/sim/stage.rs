//! A stage: a folder with a base folder and a project in it, and the processes that play there. When it is struck,
//! nothing is left of either.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::host::dirs::HOME_VARIABLE;

/// How long a process may take to follow a polite request to leave.
const POLITENESS: Duration = Duration::from_secs(2);

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Why there is no stage, or why it is of no use.
#[derive(Debug)]
pub enum StageError {
    /// Something could not be done: what, and why.
    Io(&'static str, io::Error),
    /// What happens could not be told to whoever watches.
    Unheard(io::Error),
    /// The stage was struck.
    Struck,
    /// Something did not come in time.
    Late(&'static str),
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, error) => write!(f, "cannot {what}: {error}"),
            Self::Unheard(error) => write!(f, "the output cannot be written: {error}"),
            Self::Struck => f.write_str("interrupted"),
            Self::Late(what) => write!(f, "{what} did not come in time"),
        }
    }
}

impl std::error::Error for StageError {}

/// A folder and the processes in it.
#[derive(Debug)]
pub struct Stage {
    root: PathBuf,
    program: PathBuf,
    cast: Mutex<Cast>,
}

#[derive(Debug, Default)]
struct Cast {
    struck: bool,
    children: Vec<Child>,
}

/// A process of a stage, by the id under which the stage knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Player(u32);

impl Player {
    /// The process's id.
    pub const fn pid(self) -> u32 {
        self.0
    }
}

impl Stage {
    /// A new stage below the folder for temporary files, where `program` plays autofork.
    pub fn new(program: &Path) -> Result<Self, StageError> {
        let folder = |error| StageError::Io("make a temporary folder", error);
        let temporary = std::env::temp_dir();
        for number in 0..u32::MAX {
            let root = temporary.join(format!("autofork-demo-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&root) {
                Ok(()) => {
                    let stage = Self { root, program: program.to_owned(), cast: Mutex::default() };
                    for part in [stage.home(), stage.project().join(".autofork/forks")] {
                        fs::create_dir_all(part).map_err(folder)?;
                    }
                    return Ok(stage);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(folder(error)),
            }
        }
        Err(StageError::Late("a free name for a folder"))
    }

    /// The folder that everything is in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The base folder.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The project that sessions are launched in.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// A command of autofork, with an environment that leads it to this stage and nowhere else.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().current_dir(self.project());
        command.env("HOME", &self.root).env(HOME_VARIABLE, self.home());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Starts a process that leaves with the stage. `take` gets it first, to take its pipes.
    pub fn start<T>(
        &self,
        command: &mut Command,
        take: impl FnOnce(&mut Child) -> T,
    ) -> Result<(Player, T), StageError> {
        let mut cast = self.cast();
        if cast.struck {
            return Err(StageError::Struck);
        }
        let mut child = command.spawn().map_err(|error| StageError::Io("start a process", error))?;
        let taken = take(&mut child);
        let player = Player(child.id());
        cast.children.push(child);
        Ok((player, taken))
    }

    /// How a process has ended, if it has.
    pub fn ended(&self, player: Player) -> Result<Option<ExitStatus>, StageError> {
        let mut cast = self.cast();
        if cast.struck {
            return Err(StageError::Struck);
        }
        let Some(index) = cast.children.iter().position(|child| child.id() == player.0) else {
            return Err(StageError::Late("a process that is known"));
        };
        let status = cast.children[index].try_wait().map_err(|error| StageError::Io("wait for a process", error))?;
        if status.is_some() {
            cast.children.retain(|child| child.id() != player.0);
        }
        Ok(status)
    }

    /// Waits for a process to end, for `patience` at the most.
    pub fn wait(&self, player: Player, patience: Duration) -> Result<Option<ExitStatus>, StageError> {
        let until = Instant::now() + patience;
        loop {
            match self.ended(player)? {
                None if Instant::now() < until => thread::sleep(LOOK_AGAIN),
                outcome => return Ok(outcome),
            }
        }
    }

    /// Sends a signal to a process that was started here and has not ended.
    pub fn signal(&self, player: Player, signal: Signal) {
        let cast = self.cast();
        if cast.children.iter().any(|child| child.id() == player.0) {
            send(player.0, signal);
        }
    }

    /// Waits, unless the stage is struck meanwhile.
    pub fn pause(&self, length: Duration) -> Result<(), StageError> {
        let until = Instant::now() + length;
        while Instant::now() < until {
            if self.cast().struck {
                return Err(StageError::Struck);
            }
            thread::sleep(LOOK_AGAIN.min(until.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    /// Ends every process, the latest first, and removes the folder. The daemon was started first and leaves last:
    /// hooks that outlived it would look for another.
    pub fn strike(&self) {
        let mut cast = self.cast();
        cast.struck = true;
        while let Some(mut child) = cast.children.pop() {
            let until = Instant::now() + POLITENESS;
            send(child.id(), Signal::TERM);
            while matches!(child.try_wait(), Ok(None)) {
                if Instant::now() >= until {
                    let _ = child.kill();
                    let _ = child.wait();
                    break;
                }
                thread::sleep(LOOK_AGAIN);
            }
        }
        // A daemon that a hook has started was nobody's child here.
        let _ = self.command(&["stop-daemon"]).status();
        let _ = fs::remove_dir_all(&self.root);
    }

    /// A panic in the middle of a play must not keep the stage from being cleared.
    fn cast(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.cast().struck {
            self.strike();
        }
    }
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}
