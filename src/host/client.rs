//! The client's side of the socket: what hooks and commands use to talk to the daemon.
//!
//! Blocking and plain, since a hook's whole life is a millisecond. Nothing here waits without a bound but
//! [`Connection::receive`] without a time limit, which is what parking is.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::dirs::Home;
use super::holder::Holder;
use super::launch::{Launched, Launcher};
use super::protocol::{Hello, MAX_FRAME, MAX_REPLY, PROTOCOL, Reply, Request, SHUTDOWN, frame};

/// How long to wait before looking again whether a daemon is there.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The longest such wait where many may be looking at once.
const LONGEST_REST: Duration = Duration::from_millis(32);

/// How long a daemon is given to show itself at its socket after it was poked.
const SHOWING: Duration = Duration::from_secs(1);

/// How long an older daemon is given to leave.
const RETIREMENT: Duration = Duration::from_secs(1);

/// How often one question is asked anew because the daemon went away or had to be retired.
const ATTEMPTS: usize = 3;

/// Why the daemon could not be asked.
#[derive(Debug)]
pub enum ClientError {
    /// No daemon is running.
    Absent,
    /// A daemon was started and could not do its work.
    CannotStart,
    /// A daemon holds the lock, and nobody answers at its socket.
    Hidden(Holder),
    /// Its socket cannot be reached.
    Unreachable(io::Error),
    /// The daemon is of an earlier version than this program.
    Outdated(Hello),
    /// The daemon speaks another protocol.
    OtherProtocol(Hello),
    /// Whoever listens at the socket is another user.
    Stranger,
    /// The daemon did not answer in time.
    Slow,
    /// The connection ended or broke.
    Broken(io::Error),
    /// What arrived makes no sense.
    Garbled,
}

impl ClientError {
    /// Whether trying again could help.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Absent | Self::Hidden(_) | Self::Broken(_) | Self::Slow | Self::Outdated(_))
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no daemon is running"),
            Self::CannotStart => f.write_str("the daemon could not start"),
            Self::Hidden(Holder { pid: Some(pid) }) => {
                write!(f, "a daemon is running (process {pid}), and does not answer")
            }
            Self::Hidden(Holder { pid: None }) => f.write_str("a daemon is running, and does not answer"),
            Self::Unreachable(error) => write!(f, "the daemon's socket cannot be reached: {error}"),
            Self::Outdated(hello) | Self::OtherProtocol(hello) => {
                write!(f, "the daemon is of another version: {}", hello.version.escape_debug())
            }
            Self::Stranger => f.write_str("another user listens at the daemon's socket"),
            Self::Slow => f.write_str("the daemon did not answer in time"),
            Self::Broken(error) => write!(f, "the connection to the daemon broke: {error}"),
            Self::Garbled => f.write_str("the daemon's answer makes no sense"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Slow,
            _ => Self::Broken(error),
        }
    }
}

/// What to do where no daemon is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Start one.
    Start,
    /// Start one if the last one was killed: what is told now, it would still have wanted to know.
    StartIfKilled,
    /// Leave it.
    Accept,
}

/// How long to wait for the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until there is a connection, which may take starting a daemon.
    pub connection: Duration,
    /// From then on until there is a reply.
    pub reply: Duration,
}

/// A process's way to the daemon.
#[derive(Debug)]
pub struct Client<'a> {
    home: &'a Home,
    launcher: Launcher,
}

impl<'a> Client<'a> {
    /// The way to the daemon of `home`.
    pub fn new(home: &'a Home) -> Self {
        Self { home, launcher: Launcher::default() }
    }

    /// Asks once and waits for the answer.
    pub fn ask(&mut self, request: &Request, absence: Absence, patience: Patience) -> Result<Reply, ClientError> {
        let until = Instant::now() + patience.connection;
        let mut outcome = Err(ClientError::Absent);
        for _ in 0..ATTEMPTS {
            outcome = self.connect(absence, until).and_then(|mut connection| {
                connection.send(request)?;
                connection.receive(Some(Instant::now() + patience.reply))
            });
            match &outcome {
                // It died under this hook and perhaps many others, and the first to start another is enough.
                Err(ClientError::Broken(_)) => thread::sleep(stagger(LONGEST_REST)),
                Err(ClientError::Outdated(_)) if absence == Absence::Start => self.retire(until),
                _ => break,
            }
            if Instant::now() >= until {
                break;
            }
        }
        outcome
    }

    /// Connects to the daemon, waiting `until` then at the most if one has to be started first.
    pub fn connect(&mut self, absence: Absence, until: Instant) -> Result<Connection, ClientError> {
        match absence {
            Absence::Accept => return self.find(until),
            Absence::StartIfKilled if !self.home.has_socket_left() => return Err(ClientError::Absent),
            Absence::Start | Absence::StartIfKilled => {}
        }
        let mut started = false;
        let mut rest = LOOK_AGAIN;
        loop {
            match Connection::to_daemon_of(self.home, until) {
                Err(ClientError::Absent) => {}
                outcome => return outcome,
            }
            match self.launcher.look() {
                Launched::Failed if started => return Err(ClientError::CannotStart),
                Launched::Running => {}
                Launched::None if started => {}
                Launched::None | Launched::Failed => {
                    self.launcher.start().map_err(|_| ClientError::CannotStart)?;
                    started = true;
                }
            }
            if Instant::now() >= until {
                return Err(ClientError::Absent);
            }
            // Longer and longer: many may be looking, and would keep the daemon from coming up.
            thread::sleep(rest);
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    /// Connects to the daemon if there is one. One that holds the lock but is not to be found has lost its socket: it is
    /// told so, and given the time to make another.
    fn find(&self, until: Instant) -> Result<Connection, ClientError> {
        let until = until.min(Instant::now() + SHOWING);
        let mut poked = None;
        loop {
            match Connection::to_daemon_of(self.home, until) {
                Err(ClientError::Absent) => {}
                outcome => return outcome,
            }
            let Some(holder) = Holder::of(self.home) else { return Err(ClientError::Absent) };
            if Instant::now() >= until {
                return Err(ClientError::Hidden(holder));
            }
            if poked != Some(holder) {
                holder.poke();
                poked = Some(holder);
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Asks a daemon of any version to leave, and waits until it is gone or time is up.
    pub fn retire(&mut self, until: Instant) {
        let until = until.min(Instant::now() + RETIREMENT);
        if let Ok(mut connection) = Connection::to_daemon_of(self.home, until) {
            let _ = connection.stream.write_all(format!("{SHUTDOWN}\n").as_bytes());
            // Nothing is answered: the connection's end is the sign.
            let _ = connection.read_line(Some(until));
        }
        while Instant::now() < until && Connection::to_daemon_of(self.home, until).is_ok() {
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// A part of that time that differs from process to process, for those who would all do the same at once.
pub fn stagger(most: Duration) -> Duration {
    most * (std::process::id() % 64) / 64
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
    greeting: Greeting,
}

/// How far the exchange of hellos is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Greeting {
    NotBegun,
    Sent,
    Done,
}

impl Connection {
    /// Connects to the socket of `home`, or else to the one that the running daemon has recorded: another login of
    /// the same user may have started it, with another folder for sockets.
    pub fn to_daemon_of(home: &Home, until: Instant) -> Result<Self, ClientError> {
        match Self::open(home.socket(), until) {
            Err(ClientError::Absent) => match home.recorded_socket() {
                Some(path) if path != home.socket() => Self::open(&path, until),
                _ => Err(ClientError::Absent),
            },
            outcome => outcome,
        }
    }

    /// The process that listens, where the system tells.
    pub fn server(&self) -> Option<u32> {
        server(&self.stream)
    }

    fn open(path: &Path, until: Instant) -> Result<Self, ClientError> {
        let stream = connect(path, until)?;
        if !is_ours(&stream, path) {
            return Err(ClientError::Stranger);
        }
        Ok(Self { stream, received: Vec::new(), greeting: Greeting::NotBegun })
    }

    /// Sends a request, together with our hello if it is the first.
    pub fn send(&mut self, request: &Request) -> Result<(), ClientError> {
        let mut frames = Vec::new();
        if self.greeting == Greeting::NotBegun {
            frames = frame(&Hello::ours(None)).map_err(|_| ClientError::Garbled)?;
            self.greeting = Greeting::Sent;
        }
        frames.extend(frame(request).map_err(|_| ClientError::Garbled)?);
        if frames.len() > MAX_FRAME {
            return Err(ClientError::Garbled);
        }
        self.stream.set_write_timeout(Some(Duration::from_secs(2)))?;
        Ok(self.stream.write_all(&frames)?)
    }

    /// Waits for the next reply: `until` then, or for ever.
    pub fn receive(&mut self, until: Option<Instant>) -> Result<Reply, ClientError> {
        if self.greeting != Greeting::Done {
            let line = self.read_line(until)?;
            let hello: Hello = serde_json::from_slice(&line).map_err(|_| ClientError::Garbled)?;
            self.greeting = Greeting::Done;
            if hello.is_older() {
                return Err(ClientError::Outdated(hello));
            }
            if hello.protocol != PROTOCOL {
                return Err(ClientError::OtherProtocol(hello));
            }
        }
        let line = self.read_line(until)?;
        serde_json::from_slice(&line).map_err(|_| ClientError::Garbled)
    }

    fn read_line(&mut self, until: Option<Instant>) -> Result<Vec<u8>, ClientError> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.received[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.received.split_off(searched + end + 1);
                return Ok(std::mem::replace(&mut self.received, rest));
            }
            searched = self.received.len();
            if searched > MAX_REPLY {
                return Err(ClientError::Garbled);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(ClientError::Slow);
            }
            self.stream.set_read_timeout(left)?;
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ClientError::Broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(length) => self.received.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Connects without ever blocking longer than `until`: the standard library's `connect` waits without a bound if the
/// daemon does not come round to accepting.
fn connect(path: &Path, until: Instant) -> Result<UnixStream, ClientError> {
    let address = SocketAddrUnix::new(path).map_err(|_| ClientError::Absent)?;
    let socket = socket().map_err(|error| ClientError::Unreachable(error.into()))?;
    loop {
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::ISCONN) => break,
            Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) if Instant::now() < until => {
                thread::sleep(LOOK_AGAIN);
            }
            Err(Errno::AGAIN) => return Err(ClientError::Slow),
            // Where the way to it is barred, a daemon has no socket either, but one at the place it has recorded.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::CONNREFUSED | Errno::ACCESS | Errno::LOOP) => {
                return Err(ClientError::Absent);
            }
            Err(error) => return Err(ClientError::Unreachable(error.into())),
        }
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(target_os = "linux")]
fn socket() -> rustix::io::Result<rustix::fd::OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Where a socket cannot be made with its flags, they are set after.
#[cfg(not(target_os = "linux"))]
fn socket() -> rustix::io::Result<rustix::fd::OwnedFd> {
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// Whether the server is a process of ours: it will be told what the session says.
#[cfg(target_os = "linux")]
fn is_ours(stream: &UnixStream, _: &Path) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

#[cfg(target_os = "linux")]
fn server(stream: &UnixStream) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

#[cfg(not(target_os = "linux"))]
fn server(_: &UnixStream) -> Option<u32> {
    None
}

/// Elsewhere by the socket's owner: only its folder's owner could have put it there, and that is a folder of ours.
#[cfg(not(target_os = "linux"))]
fn is_ours(_: &UnixStream, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let ours = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path).is_ok_and(|socket| socket.uid() == ours)
}
