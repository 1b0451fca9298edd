//! What can happen: facts from the host, from the daemon's connections, and the passing of time.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::gauge::WindowSign;
use super::id::{ClientProcess, Conversation, PollId, PromptId, SessionId, TaskId, TicketId, ToolUseId};
use crate::ir::{LaunchDir, ProjectRoot, Tag, Time};

/// Something that happened. Everything that changes the state is one of these, so that the journal of events is
/// all that is needed to build the state anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The daemon has started: no connection of an earlier life exists any more.
    Restarted,
    /// Time has passed; nothing else happened.
    Tick,
    /// Another program is in force at a launch folder.
    ProgramChanged(LaunchDir),
    /// The host reports a fact about a session.
    Host {
        /// The session and where it lives.
        origin: Origin,
        /// The project's root, as found for the origin's launch folder.
        root: ProjectRoot,
        /// The fact.
        fact: Fact,
    },
    /// The conversation's gauge was read, at a Stop for example.
    GaugeRead {
        /// The session.
        session: SessionId,
        /// Tokens in the context; `None` if that cannot be told.
        tokens: Option<u64>,
        /// What the models' ids say of the context window.
        window: WindowSign,
    },
    /// A hook is parked: the session can be woken through it.
    Parked {
        /// The session.
        session: SessionId,
        /// The connection.
        poll: PollId,
        /// The Stop whose hook this is.
        mark: Mark,
    },
    /// The connection of a parked hook has ended without an answer of ours.
    PollDropped {
        /// The session.
        session: SessionId,
        /// The connection.
        poll: PollId,
    },
    /// A wake was not sent: its hook had gone, or the journal could not be written. The session is not parked.
    WakeWithheld(SessionId),
    /// A hook has confirmed that it received the wake it was answered with.
    WakeDelivered(SessionId),
    /// The client's process of a session is gone.
    ClientGone(SessionId),
    /// The client's process of a session is alive although its parked hook went away.
    ClientAlive(SessionId),
}

/// Which session a fact is about, and what is known of it from outside. All but the session's id is pinned at the
/// session's first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// Its conversation.
    pub conversation: Conversation,
    /// Where it was launched.
    pub launch: LaunchDir,
    /// The client's process, where the host tells it.
    pub client: Option<ClientProcess>,
    /// The file in which the client keeps the conversation.
    #[serde(default)]
    pub transcript: Option<PathBuf>,
    /// Tag sets given by the session's environment.
    #[serde(default)]
    pub tags: TagOverride,
}

/// Tag sets from a session's environment; each replaces the configured set of its name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TagOverride {
    /// Replaces `enable_tags`, if given; may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable: Option<BTreeSet<Tag>>,
    /// Replaces `disable_tags`, if given; may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable: Option<BTreeSet<Tag>>,
}

/// A fact about a session, as its host reports it. `T` is how the teller refers to a ticket: the host by its token,
/// the engine by its number, or by none if there is no such ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T = Option<TicketId>> {
    /// The session has begun, or goes on under a new client process.
    Started(Start),
    /// A turn has begun.
    Prompt {
        /// The turn.
        mark: Mark,
        /// Who or what began it.
        prompt: Prompt,
        /// The permission mode, where the client tells it.
        mode: Option<PermissionMode>,
    },
    /// A turn has ended.
    Stopped {
        /// The turn.
        mark: Mark,
        /// Whether the turn was one that a hook had asked for.
        kind: TurnKind,
        /// Unfinished background work; `None` if the client does not tell.
        background: Option<Vec<BackgroundTask>>,
        /// The permission mode, where the client tells it.
        mode: Option<PermissionMode>,
    },
    /// The model asks for a spawn and presents a ticket.
    SpawnRequested {
        /// The call.
        tool_use: ToolUseId,
        /// The ticket presented.
        ticket: T,
        /// Who calls.
        caller: Caller,
    },
    /// A spawn call has started a subagent.
    SpawnStarted {
        /// The call.
        tool_use: ToolUseId,
        /// The subagent.
        agent: TaskId,
        /// The ticket in the call's own input, if one is there.
        ticket: Option<T>,
    },
    /// A spawn call has failed.
    SpawnFailed {
        /// The call.
        tool_use: ToolUseId,
        /// Why.
        failure: SpawnFailure,
    },
    /// A subagent of type fork has started; its call is not told.
    ForkStarted(TaskId),
    /// A subagent has stopped by itself.
    SubagentStopped {
        /// The subagent.
        agent: TaskId,
        /// Its final message.
        report: Option<String>,
    },
    /// The session is over.
    Ended,
}

impl<T> Fact<T> {
    /// The same fact with its ticket referred to in another way.
    pub fn map_ticket<U>(self, mut map: impl FnMut(T) -> U) -> Fact<U> {
        match self {
            Self::Started(source) => Fact::Started(source),
            Self::Prompt { mark, prompt, mode } => Fact::Prompt { mark, prompt, mode },
            Self::Stopped { mark, kind, background, mode } => Fact::Stopped { mark, kind, background, mode },
            Self::SpawnRequested { tool_use, ticket, caller } => {
                Fact::SpawnRequested { tool_use, ticket: map(ticket), caller }
            }
            Self::SpawnStarted { tool_use, agent, ticket } => {
                Fact::SpawnStarted { tool_use, agent, ticket: ticket.map(map) }
            }
            Self::SpawnFailed { tool_use, failure } => Fact::SpawnFailed { tool_use, failure },
            Self::ForkStarted(agent) => Fact::ForkStarted(agent),
            Self::SubagentStopped { agent, report } => Fact::SubagentStopped { agent, report },
            Self::Ended => Fact::Ended,
        }
    }
}

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Why.
    pub source: StartSource,
    /// Tokens in the context, where the client tells.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// What the model's id says of the context window.
    pub window: WindowSign,
}

impl<T> Fact<T> {
    /// Whether it says where the session is from now on, and under which tags. A conversation that was compacted goes on
    /// where it was.
    pub fn places_session(&self) -> bool {
        matches!(self, Self::Started(start) if start.source != StartSource::Compact)
    }
}

impl From<StartSource> for Start {
    fn from(source: StartSource) -> Self {
        Self { source, tokens: None, window: WindowSign::None }
    }
}

/// Why a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartSource {
    /// A new conversation.
    Startup,
    /// An earlier conversation goes on.
    Resume,
    /// The conversation was cleared: this is a new one in the same client.
    Clear,
    /// The conversation was compacted and goes on.
    Compact,
}

/// Tells turns apart and puts them in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The client's id of the turn, where it has one.
    pub prompt: Option<PromptId>,
    /// When the hook that reports it was started.
    pub at: Time,
}

/// Who or what began a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// The user.
    Human,
    /// A wake of ours.
    Wake,
    /// A hook that is not ours asked the session to go on. Not the user's doing, so it does not end a pause: two
    /// tools that wake each other would never rest otherwise.
    OtherHook,
    /// Background work has come to an end.
    Tasks(Vec<TaskNotice>),
}

/// The end of a background task, as the session is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNotice {
    /// The task; for a subagent, the agent.
    pub task: Option<TaskId>,
    /// The call that started it.
    pub tool_use: Option<ToolUseId>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it reported.
    pub report: Option<String>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// How sure it is that the client says so.
    pub evidence: Evidence,
}

/// How sure it is that a notice is the client's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It is.
    Plain,
    /// It stood after the report of an agent, and may be a part of that report. It can tell the end of a run of ours;
    /// that a task is foreign, and so the pause over, is not believed: two forks that quote notices would chase each
    /// other for ever.
    AfterReport,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It finished.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped, by the user or the model.
    Killed,
    /// It is no longer there, and nobody said how it ended.
    Lost,
}

/// What a run cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens, as the client counts them.
    pub tokens: u64,
    /// Calls of tools.
    pub tool_uses: u64,
    /// Milliseconds from start to end.
    pub duration_ms: u64,
}

/// Whether a turn was one that a hook had asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// No hook asked for it.
    Plain,
    /// A hook asked for it, a wake of ours for example.
    HookAsked,
}

/// A piece of background work that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    /// Its id; for a subagent, the agent's.
    pub id: TaskId,
    /// What it is.
    pub kind: TaskKind,
    /// The description it was started with.
    pub description: String,
}

/// What a background task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A subagent of type fork.
    Fork,
    /// Anything else: a command, another subagent.
    Other,
}

/// How much the session's model may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Planning: nothing is to be changed.
    Plan,
    /// Any other mode.
    Other,
}

/// Who calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// The session's own model.
    Main,
    /// A subagent, a fork for example.
    Subagent,
}

/// Why a spawn call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnFailure {
    /// The client knows no subagent of type fork.
    ForkTypeMissing,
    /// Anything else.
    Other,
}
