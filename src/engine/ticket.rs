//! Tickets and the runs they turn into.
//!
//! A ticket is issued with a wake, for one fork in one session, and is redeemed at most once. From its redemption it
//! carries the run: live until somebody says that it ended, or until nobody has said anything for too long.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::{Outcome, TaskNotice, Usage};
use super::id::{TaskId, TicketId, ToolUseId, WakeId};
use super::record::Stage;
use super::stamps::Before;
use crate::ir::{ForkName, Moment, Seconds, Time};

/// A run that gave no sign for so long counts as ended: its end was lost.
pub const RUN_AGES_OUT: Seconds = Seconds::minutes(30);

/// How many times a ticket may be redeemed anew after its spawn failed.
const RETRIES: u8 = 1;

/// The permission to run one fork once in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its number.
    pub id: TicketId,
    /// The wake it was issued with.
    pub wake: WakeId,
    /// The first wake of the batch that its fork came due in: the same, unless the fork was held back.
    pub batch: WakeId,
    /// The fork.
    pub fork: ForkName,
    /// What made the fork due.
    pub trigger: Trigger,
    /// When it was issued.
    pub issued: Time,
    /// What the stamps were before, to be restored if this comes to nothing.
    pub(super) before: Before,
    /// How many spawns with it have failed.
    pub failures: u8,
    /// Where it stands.
    pub state: TicketState,
    /// Where it stood when it was last recorded.
    #[serde(default)]
    pub(super) recorded: Option<Stage>,
}

/// Where a ticket stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketState {
    /// It can be redeemed.
    Open,
    /// It was redeemed, and this is its run.
    Redeemed(Run),
    /// It can no longer be redeemed, and never ran.
    Void,
}

/// What made a fork due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The session had been quiet for so long.
    Idle(Seconds),
    /// The context had reached a threshold.
    Context {
        /// The threshold.
        moment: Moment,
        /// Tokens in the context.
        tokens: u64,
    },
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(length) if length.is_zero() => f.write_str("the turn has ended"),
            Self::Idle(length) => write!(f, "quiet for {length}"),
            Self::Context { moment, tokens } => write!(f, "{moment}, context at {tokens}"),
        }
    }
}

/// What the description of each of our spawn calls begins with.
pub const CALL_PREFIX: &str = "autofork: ";

/// The description that the spawn call of a fork carries. The client shows it, and lists the running subagent under
/// it, which tells the fork's run where nothing better does.
pub fn call_description(fork: &ForkName) -> String {
    format!("{CALL_PREFIX}{fork}")
}

/// One run of a fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The call that spawned it, where it is known.
    pub tool_use: Option<ToolUseId>,
    /// The subagent that it is, once known.
    pub agent: Option<TaskId>,
    /// When it was spawned.
    pub started: Time,
    /// The last sign of it.
    pub last_sign: Time,
    /// How it ended, once it has.
    pub end: Option<RunEnd>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// When.
    pub at: Time,
    /// How.
    pub outcome: Outcome,
    /// Its final message.
    pub report: Option<String>,
    /// What it cost, where the client tells.
    pub usage: Option<Usage>,
}

impl Ticket {
    /// Its run, if it was redeemed.
    pub fn run(&self) -> Option<&Run> {
        match &self.state {
            TicketState::Redeemed(run) => Some(run),
            TicketState::Open | TicketState::Void => None,
        }
    }

    pub(super) fn run_mut(&mut self) -> Option<&mut Run> {
        match &mut self.state {
            TicketState::Redeemed(run) => Some(run),
            TicketState::Open | TicketState::Void => None,
        }
    }

    /// The run, if it is live at `now`.
    pub fn live_run(&self, now: Time) -> Option<&Run> {
        self.run().filter(|run| run.end.is_none() && now < run.ages_out())
    }

    /// Redeems the ticket for a run that begins `now`.
    pub(super) fn redeem(&mut self, now: Time, tool_use: Option<ToolUseId>, agent: Option<TaskId>) {
        self.state = TicketState::Redeemed(Run { tool_use, agent, started: now, last_sign: now, end: None });
    }

    /// The spawn came to nothing: open for another try, if one is left.
    pub(super) fn spawn_failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.state = if self.has_failed() { TicketState::Void } else { TicketState::Open };
    }

    /// Whether its spawn has failed as often as it is tried.
    pub(super) fn has_failed(&self) -> bool {
        self.failures > RETRIES
    }
}

impl Run {
    /// When it counts as ended if it gives no further sign.
    pub fn ages_out(&self) -> Time {
        self.last_sign.after(RUN_AGES_OUT)
    }

    /// Whether `notice` is about this run.
    pub(super) fn is_meant_by(&self, notice: &TaskNotice) -> bool {
        let same_agent = self.agent.is_some() && self.agent == notice.task;
        let same_call = self.tool_use.is_some() && self.tool_use == notice.tool_use;
        same_agent || same_call
    }

    /// The run has ended. The first word on how counts; later ones, and there are several carriers, only fill in what
    /// was not known.
    pub(super) fn finish(&mut self, now: Time, outcome: Outcome, report: Option<String>, usage: Option<Usage>) {
        self.last_sign = now;
        let end = self.end.get_or_insert(RunEnd { at: now, outcome, report: None, usage: None });
        if end.outcome == Outcome::Lost {
            end.outcome = outcome;
        }
        if end.report.is_none() {
            end.report = report;
        }
        if end.usage.is_none() {
            end.usage = usage;
        }
    }
}
