//! The client of a scenario: what a session outside the daemon knows and does. Its model does as it is asked.

use crate::engine::{Outcome, PermissionMode, PollId, TaskId, ToolUseId};
use crate::ir::{ForkName, Time};

/// A fork that runs in the session.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) id: TaskId,
    pub(super) fork: ForkName,
    /// The call that spawned it.
    pub(super) call: ToolUseId,
    pub(super) ends_at: Time,
    pub(super) outcome: Outcome,
    pub(super) report: String,
}

/// One session's client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// How many turns there were.
    pub(super) turn: u64,
    /// Set while one is under way.
    pub(super) busy: bool,
    pub(super) poll: Option<PollId>,
    pub(super) agents: Vec<Agent>,
    /// Ended, and the session was not told yet.
    pub(super) unannounced: Vec<Agent>,
    /// Background work that is not ours.
    pub(super) tasks: Vec<String>,
    pub(super) mode: Option<PermissionMode>,
    /// When the user's last turn began.
    pub(super) user_turn: Option<Time>,
}

impl Client {
    pub(super) fn next_end(&self) -> Option<Time> {
        self.agents.iter().map(|agent| agent.ends_at).min()
    }
}
