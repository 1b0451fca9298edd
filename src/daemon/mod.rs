//! The daemon: one process per user that holds the state and waits with the sessions.
//!
//! A current-thread runtime. One task, the actor, owns the state, the journal and the parked hooks; each connection
//! is a task that talks to it through channels; programs are compiled on a thread of their own, and the journal
//! has one that brings its log into the database. No policy: what happens is told to the engine, and what the engine asks
//! for is done.
//!
//! Between the engine's deadlines nothing wakes up in here: there is no periodic timer.

mod actor;
mod bell;
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

use tokio::net::UnixListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::host::dirs::{Home, HomeError};
use crate::host::holder::{self, POKE};
use crate::journal::{Journal, JournalError};

use self::actor::{Actor, Message};
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
    // Before anything else can go wrong. A daemon without a log is better than none.
    let unlogged = log::start(&home.log()).err();
    let notes = unlogged.map(|error| format!("There is no log: {} cannot be used ({error}).", home.log().display()));
    let seat = match Seat::take(home) {
        Ok(seat) => Ok(seat),
        Err(SeatError::Taken) => return Ok(Life::NotNeeded),
        Err(SeatError::File(what, error)) => Err(DaemonError::File(what, error)),
    };
    let outcome = seat.and_then(|seat| live(home, seat, notes.into_iter().collect(), make_source));
    if let Err(error) = &outcome {
        tracing::error!("{error}");
    }
    outcome.map(|()| Life::Lived)
}

fn live<S: ProgramSource>(
    home: &Home,
    mut seat: Seat,
    notes: Vec<String>,
    make_source: impl Fn() -> S + Send + Sync + 'static,
) -> Result<(), DaemonError> {
    let mut opened = Journal::open(&home.journal()).map_err(DaemonError::Journal)?;
    opened.notes.extend(notes);
    // A daemon whose lock was removed may still be about. The journal takes nothing of it any more; let it know.
    if let Some(former) = opened.journal.former_holder() {
        holder::poke(former);
    }
    let random = random::Random::open().map_err(|error| DaemonError::File("source of randomness", error))?;
    let room = seat::room_for_connections();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| DaemonError::File("event loop", error))?;
    runtime.block_on(async {
        let signals = || {
            let poked = SignalKind::from_raw(POKE.as_raw());
            Ok((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(poked)?))
        };
        let (mut terminate, mut interrupt, poked) = signals().map_err(|error| DaemonError::File("signals", error))?;
        let (listener, note) = seat.listen().map_err(|error| DaemonError::File("socket", error))?;
        opened.notes.extend(note);
        tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "started");
        for note in &opened.notes {
            tracing::warn!("{note}");
        }
        let core = Core::new(opened, random);
        let (messages, inbox) = mpsc::channel(MESSAGES);
        let (loader, loads) = loader::Loader::start(make_source);
        let (watch, exits) = watch::Watch::new();
        let mut actor = Actor::new(core, loader, watch, home, seat.claim().clone());
        tokio::select! {
            () = actor.run(inbox, loads, exits) => {}
            () = keep_door(&mut seat, listener, &messages, room, poked) => {}
            _ = terminate.recv() => tracing::info!("told to leave by a signal"),
            _ = interrupt.recv() => tracing::info!("told to leave by a signal"),
        }
        // From here on nobody finds us any more; then the next daemon may come.
        seat.leave();
        actor.finish();
        Ok(())
    })
}

/// Lets people in, and sees to the door when somebody says that nobody can be found at it. Returns when the seat is ours
/// no longer, or nobody lets people in any more: a daemon that hears nobody must make room for one that does.
async fn keep_door(
    seat: &mut Seat,
    listener: UnixListener,
    messages: &mpsc::Sender<Message>,
    room: usize,
    mut poked: Signal,
) {
    // Ends with this, since a set of tasks takes them along.
    let mut accepting = JoinSet::new();
    accepting.spawn(connection::accept(listener, messages.clone(), room));
    loop {
        tokio::select! {
            known = poked.recv() => {
                if known.is_none() {
                    return std::future::pending().await;
                }
            }
            Some(ended) = accepting.join_next() => match ended {
                // It was sent away, since there is another.
                Err(ended) if ended.is_cancelled() => continue,
                _ => {
                    tracing::error!("nobody is let in any more: leaving to a daemon that can");
                    return;
                }
            },
        }
        if !seat.claim().stands() {
            tracing::warn!("the lock was removed or replaced: leaving to whoever holds it now");
            return;
        }
        if seat.can_be_found() {
            continue;
        }
        let note = match seat.listen() {
            Ok((listener, note)) => {
                accepting.abort_all();
                accepting.spawn(connection::accept(listener, messages.clone(), room));
                format!("The socket was gone, and was made anew. {}", note.unwrap_or_default()).trim_end().to_owned()
            }
            // Those who are parked can still be woken.
            Err(error) => format!("The socket is gone and cannot be made anew ({error})."),
        };
        // Nobody listens any more when the daemon leaves.
        let _ = messages.send(Message::Noted(note)).await;
    }
}
