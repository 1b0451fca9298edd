//! How things stand, as the daemon tells it: sessions, what comes due, what became of wakes.

use serde::{Deserialize, Serialize};

use crate::engine::{ForkType, Outcome, PermissionMode, Reason, SessionId, TaskId, Trigger, Usage, WakeId};
use crate::ir::{ForkName, LaunchDir, ProjectRoot, Time};

/// How things stand, for `autofork status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The daemon.
    pub daemon: DaemonStatus,
    /// The sessions, in the order they began.
    pub sessions: Vec<SessionStatus>,
}

/// The daemon itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Since when it has been running.
    pub since: Time,
    /// Its clock's reading when this was asked.
    pub now: Time,
    /// What a person should know about its start, in whole sentences: a journal that was set aside, for example.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What keeps every fork from firing now; one of the notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// The session.
    pub session: SessionId,
    /// Where it was launched.
    pub launch: LaunchDir,
    /// The project's root.
    pub root: ProjectRoot,
    /// When it was first heard of.
    pub began: Time,
    /// When it was last heard of.
    pub last_event: Time,
    /// Where it stands.
    pub standing: Standing,
    /// Whether its client can spawn forks, as far as it has shown.
    #[serde(default)]
    pub fork_type: ForkType,
    /// The fork that comes due next if nothing but time passes.
    pub next: Option<NextDue>,
    /// All its forks, each with what stands in its way.
    pub forks: Vec<ForkStatus>,
    /// Its latest wakes, oldest first.
    pub wakes: Vec<WakeStatus>,
    /// How much of its context is used, where that is known.
    #[serde(default)]
    pub gauge: Option<GaugeStatus>,
    /// Background work that is not a fork's, and since when it is known. As long as the clock of the pause stands, it
    /// is this that holds it.
    #[serde(default)]
    pub background: Vec<TaskStatus>,
    /// Whether the clock of the pause runs.
    #[serde(default = "runs")]
    pub clock: Clock,
    /// The forks that came due together with others and wait for them.
    #[serde(default)]
    pub held: Vec<HeldStatus>,
    /// The last permission mode seen.
    #[serde(default)]
    pub mode: Option<PermissionMode>,
}

/// Whether the clock of a pause runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// It does, or there is no pause.
    Runs,
    /// Background work holds it: until then at the most, or until that work ends.
    Held(Option<Time>),
}

const fn runs() -> Clock {
    Clock::Runs
}

/// How much of a session's context is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaugeStatus {
    /// Tokens in the context.
    pub tokens: u64,
    /// The size of the context window, in tokens.
    pub window: u64,
}

/// A piece of background work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// The work, by the client's id.
    pub task: TaskId,
    /// Since when it is known.
    pub since: Time,
}

/// A fork that is held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldStatus {
    /// The fork.
    pub fork: ForkName,
    /// Whom it waits for.
    pub after: Vec<ForkName>,
    /// Since when.
    pub since: Time,
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It has had no turn yet.
    Fresh,
    /// A turn is under way, or was interrupted.
    MidTurn {
        /// Since when.
        since: Time,
    },
    /// It is quiet and can be woken.
    Parked {
        /// Since when the clock of its pause runs.
        since: Time,
    },
    /// It is quiet, but no hook is parked to wake it through.
    Unparked {
        /// Since when.
        since: Time,
    },
}

/// The fork that comes due next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextDue {
    /// The fork.
    pub fork: ForkName,
    /// When.
    pub at: Time,
}

/// One fork in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkStatus {
    /// The fork.
    pub fork: ForkName,
    /// When it comes due if nothing but time passes.
    pub due: Option<Time>,
    /// What stands in its way.
    pub reasons: Vec<Reason>,
    /// When it last fired in this session, as far back as is remembered.
    #[serde(default)]
    pub last: Option<LastFiring>,
}

/// The last time a fork fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFiring {
    /// When.
    pub at: Time,
    /// What made it due.
    pub trigger: Trigger,
    /// What became of it.
    pub state: RunState,
}

/// One wake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeStatus {
    /// The wake.
    pub wake: WakeId,
    /// When it was issued.
    pub at: Time,
    /// What became of each of its forks.
    pub runs: Vec<RunStatus>,
}

/// What became of one fork of a wake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The fork.
    pub fork: ForkName,
    /// What made it due.
    pub trigger: Trigger,
    /// Where its run stands.
    pub state: RunState,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The ticket was not redeemed yet.
    Waiting,
    /// The ticket can no longer be redeemed.
    Void,
    /// It is running.
    Live {
        /// Since when.
        since: Time,
    },
    /// It has ended.
    Ended {
        /// When it was spawned.
        started: Time,
        /// When it ended.
        at: Time,
        /// How.
        outcome: Outcome,
        /// Its final message.
        report: Option<String>,
        /// What it cost.
        usage: Option<Usage>,
    },
}

/// A session that was looked after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAfter {
    /// The session.
    pub session: SessionId,
    /// Where it was launched.
    pub launch: LaunchDir,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a session that was looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its client was gone, so it was ended.
    Ended,
    /// Its client lives.
    Alive,
    /// Its client is not known.
    Unknown,
}
