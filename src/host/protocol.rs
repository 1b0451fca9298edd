//! The protocol between hooks and commands on one side and the daemon on the other.
//!
//! One JSON value a line, in both directions, over a Unix socket. Each side begins with a [`Hello`]; then the client
//! sends [`Request`]s and the daemon answers each with one [`Reply`]. A client need not wait for the daemon's hello
//! before its first request. Words are the engine's; a ticket is known by its [`Token`] here.
//!
//! The one frame that never changes, so that any version can retire any other, is [`SHUTDOWN`].

mod status;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::{Conversation, Denial, Fact, ForkType, Mark, Origin, Outcome, SessionId, Trigger, WakeId};
use crate::ir::{ForkName, ProjectRoot, Time};

pub use status::{
    Clock, DaemonStatus, ForkStatus, GaugeStatus, HeldStatus, LastFiring, LookedAfter, NextDue, RunState, RunStatus,
    SessionStatus, Standing, Status, TaskStatus, Verdict, WakeStatus,
};

/// The version of the frames below. Raised by any change that an older peer would misread.
pub const PROTOCOL: u32 = 1;

/// Asks a daemon of any version to leave. Sent instead of everything else; never answered.
pub const SHUTDOWN: &str = r#"{"autofork":"shutdown"}"#;

/// The first line of each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol spoken: [`PROTOCOL`].
    pub protocol: u32,
    /// The version of the program that speaks.
    pub version: String,
    /// The daemon's process; absent in a client's hello.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// What stands for a ticket outside the daemon: `af-` and 128 random bits in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(u128);

/// What a client asks of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A fact about a session. Answered with [`Reply::Allow`] or [`Reply::Deny`] where a spawn was asked for, else
    /// with [`Reply::Done`].
    Fact {
        /// The session.
        origin: Origin,
        /// The fact.
        fact: Fact<Token>,
    },
    /// A turn has ended, and this connection waits to wake the session. Answered, when the time comes, with
    /// [`Reply::Wake`] or [`Reply::Released`]. Sent anew as it is after a daemon went away.
    Park {
        /// The session.
        origin: Origin,
        /// The turn that has ended.
        mark: Mark,
        /// The [`Fact::Stopped`] of that turn.
        stopped: Fact<Token>,
    },
    /// The wake just received has arrived. Not answered.
    WakeArrived {
        /// The session.
        session: SessionId,
    },
    /// How things stand. Answered with [`Reply::Status`].
    Status,
    /// The same, with all other forks left out. Answered with [`Reply::Status`].
    Why(ForkName),
    /// What a ticket stands for. Answered with [`Reply::Ticket`].
    Ticket(Token),
    /// End the sessions whose client is gone. Answered with [`Reply::Pruned`]; a daemon that does not know it yet
    /// answers with [`Reply::Failed`].
    Prune,
    /// Let every parked hook go, then leave. Answered with [`Reply::Done`]. Unlike [`SHUTDOWN`], after which parked
    /// hooks look for the next daemon and start one, this is a person's wish that there be none.
    Leave,
}

/// What the daemon answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The fact was taken in.
    Done,
    /// The spawn may go ahead with these instructions.
    Allow(Box<Instructions>),
    /// The spawn is refused.
    Deny(Denial),
    /// The session is to be woken.
    Wake(WakeOrder),
    /// The hook may go: there is nothing to do.
    Released,
    /// How things stand.
    Status(Box<Status>),
    /// What a ticket stands for, if there is such a ticket.
    Ticket(Option<Box<Instructions>>),
    /// Every session that was there, with what became of it.
    Pruned(Vec<LookedAfter>),
    /// The request could not be carried out.
    Failed(String),
}

/// The forks a session is to spawn now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeOrder {
    /// The wake.
    pub wake: WakeId,
    /// The forks, one ticket each, in byte order of their names.
    pub forks: Vec<DueFork>,
    /// The forks that came due with these and wait for some of them.
    #[serde(default)]
    pub held: Vec<ForkName>,
}

/// A fork to be spawned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueFork {
    /// Its ticket.
    pub ticket: Token,
    /// Its name.
    pub fork: ForkName,
    /// What it is for.
    pub description: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// What made it due.
    pub trigger: Trigger,
}

/// What a ticket stands for: everything a run of a fork must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructions {
    /// The ticket.
    pub ticket: Token,
    /// The fork.
    pub fork: ForkName,
    /// Its file.
    pub path: PathBuf,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Its body, verbatim, as it was when the ticket was issued.
    pub body: String,
    /// What made it due.
    pub trigger: Trigger,
    /// The session it runs in.
    pub session: SessionId,
    /// That session's conversation.
    pub conversation: Conversation,
    /// The project's root.
    pub root: ProjectRoot,
    /// When the ticket was issued.
    pub issued: Time,
    /// What became of the forks that it waited for.
    #[serde(default)]
    pub predecessors: Vec<Predecessor>,
    /// What the client has shown of the type that spawns name, when the ticket was redeemed.
    #[serde(default)]
    pub fork_type: ForkType,
}

/// What became of a fork that another one waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predecessor {
    /// The fork.
    pub fork: ForkName,
    /// How its run ended; `None` if it never ran.
    pub outcome: Option<Outcome>,
    /// Its report.
    pub report: Option<String>,
}

/// The longest request that a daemon reads, line end included. The report of a fork is the longest thing that is told.
pub const MAX_FRAME: usize = 4 * 1024 * 1024;

/// The longest reply that a client reads, line end included. Instructions hold a fork's body, which can be a megabyte of
/// what JSON writes with six bytes each, and the reports of its predecessors.
pub const MAX_REPLY: usize = 32 * 1024 * 1024;

/// How much of a description is passed on, in characters. It is for people; nobody reads more.
const LONGEST_DESCRIPTION: usize = 300;

/// As much of a description as is passed on.
pub fn shorten_description(description: &str) -> String {
    description.chars().take(LONGEST_DESCRIPTION).collect()
}

/// A value as a frame: one line of JSON.
pub fn frame(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Whether a line is the frame [`SHUTDOWN`], however it is spaced.
pub fn is_shutdown(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Frame {
        autofork: String,
    }
    serde_json::from_slice::<Frame>(line).is_ok_and(|frame| frame.autofork == "shutdown")
}

impl Hello {
    /// The hello of this program.
    pub fn ours(pid: Option<u32>) -> Self {
        Self { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), pid }
    }

    /// Whether its speaker is of an earlier version than this program. A version that cannot be read is not.
    pub fn is_older(&self) -> bool {
        match (release(&self.version), release(env!("CARGO_PKG_VERSION"))) {
            (Some(theirs), Some(ours)) => theirs < ours,
            _ => false,
        }
    }
}

/// The three numbers of a version. What follows them, a pre-release for example, does not count.
fn release(version: &str) -> Option<[u64; 3]> {
    let core = version.split(['-', '+']).next()?;
    let mut numbers = core.split('.').map(|number| number.parse().ok());
    let release = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(release)
}

impl From<&Instructions> for DueFork {
    fn from(instructions: &Instructions) -> Self {
        Self {
            ticket: instructions.ticket.clone(),
            fork: instructions.fork.clone(),
            description: instructions.description.clone(),
            path: instructions.path.clone(),
            trigger: instructions.trigger,
        }
    }
}

/// How a token begins.
const TOKEN_PREFIX: &str = "af-";

/// How many hexadecimal digits follow.
const TOKEN_DIGITS: usize = 32;

impl Token {
    /// The token of these 128 bits, which the caller took from a source of randomness.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Exactly a token, or none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(TOKEN_PREFIX)?;
        let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() != TOKEN_DIGITS || !digits.bytes().all(lower_hex) {
            return None;
        }
        u128::from_str_radix(digits, 16).ok().map(Self)
    }

    /// The first token in a text, standing alone between characters that are no letters, digits or hyphens.
    pub fn find_in(text: &str) -> Option<Self> {
        text.split(|character: char| !(character.is_alphanumeric() || character == '-')).find_map(Self::parse)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TOKEN_PREFIX}{:032x}", self.0)
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.to_string()
    }
}

impl TryFrom<String> for Token {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is not a ticket"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_version_is_told_by_its_numbers() {
        let hello = |version: &str| Hello { version: version.to_owned(), ..Hello::ours(None) };
        assert!(hello("0.0.9").is_older());
        assert!(!hello(env!("CARGO_PKG_VERSION")).is_older());
        assert!(!hello("10.0.0").is_older(), "numbers are not compared as text");
        assert!(!hello("nonsense").is_older());
    }

    #[test]
    fn the_shutdown_frame_is_known_however_it_is_spaced() {
        assert!(is_shutdown(SHUTDOWN.as_bytes()));
        assert!(is_shutdown(b" { \"autofork\" : \"shutdown\", \"more\": 1 }"));
        assert!(!is_shutdown(b"{}"));
        assert!(!is_shutdown(b"shutdown"));
    }

    #[test]
    fn a_token_is_found_in_prose_and_nothing_else_is() {
        let token = Token::from_bits(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        let shown = "af-0123456789abcdef0011223344556677";
        assert_eq!(token.to_string(), shown);
        assert_eq!(Token::find_in(&format!("Ticket {shown}. Read it.")), Some(token.clone()));
        assert_eq!(Token::find_in(&format!("(`{shown}`)")), Some(token));
        assert_eq!(Token::find_in(&format!("{shown}0")), None, "too long");
        assert_eq!(Token::find_in(&format!("x{shown}")), None, "glued to a word");
        assert_eq!(Token::find_in("af-0123456789ABCDEF0011223344556677"), None, "capitals");
        assert_eq!(Token::find_in(""), None);
    }
}
