//! The daemon: one process per user that holds the state and waits with the sessions.
//!
//! A current-thread runtime. One task, the actor, owns the state, the journal and the parked hooks; each connection
//! is a task that talks to it through channels; programs are compiled on a thread of their own. No policy: what
//! happens is told to the engine, and what the engine asks for is done.
//!
//! Between the engine's deadlines nothing wakes up in here: there is no periodic timer.

mod actor;
mod clock;
mod connection;
mod core;
mod loader;
mod log;
mod random;
mod seat;
mod second_look;
mod status;
mod watch;

use std::fmt;
use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::host::dirs::{Home, HomeError};
use crate::journal::{Journal, JournalError};

use self::actor::Actor;
use self::core::Core;
use self::seat::{Seat, SeatError};

pub use loader::{GaugeReading, Loaded, ProgramSource};

/// How many messages of connections may wait for the actor before connections have to.
const MESSAGES: usize = 256;

/// Why the daemon could not do its work.
#[derive(Debug)]
pub enum DaemonError {
    /// There is no place for its files.
    Home(HomeError),
    /// A file of its own cannot be used: what for, and why.
    File(&'static str, io::Error),
    /// The journal cannot be used.
    Journal(JournalError),
}

impl DaemonError {
    /// What a person can do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Home(error) => error.help(),
            Self::File(..) => "see whether the base folder can be written and the disk has room".to_owned(),
            Self::Journal(error) => error.help(),
        }
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home(error) => error.fmt(f),
            Self::File(what, error) => write!(f, "cannot use the {what}: {error}"),
            Self::Journal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DaemonError {}

/// How a daemon's life went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Another daemon was there already.
    NotNeeded,
    /// It has done its work.
    Lived,
}

/// Is the daemon of `home` until it is told to leave or nobody needs it any more. `make_source` makes what compiles
/// programs; it is called on a thread of its own, and again if what it made has panicked.
pub fn run<S: ProgramSource>(
    home: &Home,
    make_source: impl Fn() -> S + Send + Sync + 'static,
) -> Result<Life, DaemonError> {
    // Apart from the terminal and the process group of whoever started it. It fails for the leader of a group, which
    // is then a shell's job and was started by hand.
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    home.prepare().map_err(DaemonError::Home)?;
    let seat = match Seat::take(home) {
        Ok(seat) => seat,
        Err(SeatError::Taken) => return Ok(Life::NotNeeded),
        Err(SeatError::Home(error)) => return Err(DaemonError::Home(error)),
        Err(SeatError::File(what, error)) => return Err(DaemonError::File(what, error)),
    };
    log::start(&home.log()).map_err(|error| DaemonError::File("log", error))?;
    let outcome = live(home, seat, make_source);
    if let Err(error) = &outcome {
        tracing::error!("{error}");
    }
    outcome.map(|()| Life::Lived)
}

fn live<S: ProgramSource>(
    home: &Home,
    mut seat: Seat,
    make_source: impl Fn() -> S + Send + Sync + 'static,
) -> Result<(), DaemonError> {
    let opened = Journal::open(&home.journal()).map_err(DaemonError::Journal)?;
    for note in &opened.notes {
        tracing::warn!("{note}");
    }
    let random = random::Random::open().map_err(|error| DaemonError::File("source of randomness", error))?;
    let core = Core::new(opened, random);
    let room = seat::room_for_connections();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| DaemonError::File("event loop", error))?;
    runtime.block_on(async {
        let signals = || Ok((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?));
        let (mut terminate, mut interrupt) = signals().map_err(|error| DaemonError::File("signals", error))?;
        let listener = seat.listen().map_err(|error| DaemonError::File("socket", error))?;
        tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "started");
        let (messages, inbox) = mpsc::channel(MESSAGES);
        let (loader, loads) = loader::Loader::start(make_source);
        let accepting = tokio::spawn(connection::accept(listener, messages, room));
        let (watch, exits) = watch::Watch::new();
        let mut actor = Actor::new(core, loader, watch, home);
        tokio::select! {
            () = actor.run(inbox, loads, exits) => {}
            _ = terminate.recv() => tracing::info!("told to leave by a signal"),
            _ = interrupt.recv() => tracing::info!("told to leave by a signal"),
        }
        // From here on nobody finds us any more; then the next daemon may come.
        accepting.abort();
        seat.leave();
        actor.finish();
        Ok(())
    })
}
