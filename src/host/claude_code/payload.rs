//! Hook payloads: which call of which hook tells which fact.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value};

use super::{notification, transcript};
use crate::engine::{
    BackgroundTask, Caller, ClientProcess, Conversation, Fact, Mark, Origin, PermissionMode, PromptId, SessionId,
    SpawnFailure, Start, StartSource, TagOverride, TaskId, TaskKind, ToolUseId, TurnKind,
};
use crate::host::protocol::{Token, shorten_description};
use crate::ir::{LaunchDir, Tag, Time};

/// The longest id that is believed, in bytes. The client's are UUIDs and the like.
const LONGEST_ID: usize = 256;

/// The longest report that is kept, in bytes: what a dependent fork is told of its predecessors must fit its context.
const LONGEST_REPORT: usize = 64 * 1024;

/// The name of the tool that spawns subagents.
const SPAWN_TOOL: &str = "Agent";

/// What a hook's call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// A fact to be told.
    Fact {
        /// The session.
        origin: Origin,
        /// The fact.
        fact: Fact<Token>,
    },
    /// A turn has ended: tell it, and wait to wake the session.
    Park {
        /// The session.
        origin: Origin,
        /// The turn.
        mark: Mark,
        /// The [`Fact::Stopped`] to be told.
        stopped: Fact<Token>,
    },
}

/// What a hook's process knows beside its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEnv {
    /// The folder the client was launched in (`CLAUDE_PROJECT_DIR`), if it is an absolute path.
    pub project_dir: Option<String>,
    /// The client's process.
    pub client: Option<ClientProcess>,
    /// Tag sets from the session's environment.
    pub tags: TagOverride,
    /// Whether forks were switched on for the client.
    pub forks: ForkSwitch,
    /// When this hook was started.
    pub started: Time,
}

/// Whether the session's environment switches forks on (`CLAUDE_CODE_FORK_SUBAGENT`). The newer clients do not need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkSwitch {
    /// It says so.
    On,
    /// It says nothing, or no.
    Unset,
}

impl HookEnv {
    /// Reads the environment through `variable`; none if this is not a session with a person in front of it: the
    /// client names itself `cli` in `CLAUDE_CODE_ENTRYPOINT` then, and otherwise for a run with `-p`. `identify` finds
    /// the process behind a process id.
    pub fn read(
        variable: impl Fn(&str) -> Option<OsString>,
        identify: impl Fn(u32) -> Option<ClientProcess>,
        started: Time,
    ) -> Option<Self> {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        if text("CLAUDE_CODE_ENTRYPOINT")? != "cli" {
            return None;
        }
        let tags = |name: &str| {
            text(name).map(|list| {
                let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                names.map(Tag::from).collect::<BTreeSet<Tag>>()
            })
        };
        Some(Self {
            project_dir: text("CLAUDE_PROJECT_DIR").filter(|dir| Path::new(dir).is_absolute()),
            client: text("CLAUDE_PID").and_then(|pid| pid.parse().ok()).and_then(identify),
            tags: TagOverride { enable: tags("AUTOFORK_ENABLE_TAGS"), disable: tags("AUTOFORK_DISABLE_TAGS") },
            forks: match text("CLAUDE_CODE_FORK_SUBAGENT").map(|value| value.trim().to_ascii_lowercase()).as_deref() {
                Some("1" | "true" | "yes" | "on") => ForkSwitch::On,
                _ => ForkSwitch::Unset,
            },
            started,
        })
    }
}

/// What the call of the hook for `event` (the client's name of it in kebab case) with `payload` on its standard input
/// comes to; `None` if there is nothing to tell: an unknown event, no sense in the payload, or a spawn without a
/// ticket, which is none of our business.
pub fn translate(event: &str, payload: &[u8], env: &HookEnv) -> Option<Call> {
    let Value::Object(fields) = serde_json::from_slice(payload).ok()? else { return None };
    let payload = Payload { fields: &fields };
    let origin = origin(payload, env)?;
    let mark = Mark { prompt: payload.id("prompt_id").map(PromptId::from), at: env.started };
    let fact = match event {
        "session-start" => Fact::Started(start(payload)),
        "user-prompt-submit" => Fact::Prompt {
            mark,
            prompt: notification::classify(payload.text("prompt").unwrap_or_default()),
            mode: permission_mode(payload),
        },
        "stop" => {
            let stopped = Fact::Stopped {
                mark: mark.clone(),
                kind: turn_kind(payload),
                background: background_tasks(payload),
                mode: permission_mode(payload),
            };
            return Some(Call::Park { origin, mark, stopped });
        }
        "pre-tool-use" => spawn_requested(payload)?,
        "post-tool-use" => spawn_started(payload)?,
        "post-tool-use-failure" => spawn_failed(payload)?,
        "subagent-start" if payload.text("agent_type") == Some("fork") => {
            Fact::ForkStarted(payload.id("agent_id")?.into())
        }
        "subagent-stop" => Fact::SubagentStopped {
            agent: payload.id("agent_id")?.into(),
            report: payload.text("last_assistant_message").map(shorten_report),
        },
        "session-end" => Fact::Ended,
        _ => return None,
    };
    Some(Call::Fact { origin, fact })
}

/// A JSON object whose fields are read one by one: a field of an unexpected type counts as absent, and costs no other.
#[derive(Clone, Copy)]
struct Payload<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Payload<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        self.fields.get(name)?.as_str()
    }

    /// A text that can serve as an id: neither empty nor of absurd length.
    fn id(self, name: &str) -> Option<&'a str> {
        self.text(name).filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
    }

    fn object(self, name: &str) -> Option<Self> {
        Some(Self { fields: self.fields.get(name)?.as_object()? })
    }

    fn objects(self, name: &str) -> Option<impl Iterator<Item = Self>> {
        let items = self.fields.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_object).map(|fields| Self { fields }))
    }
}

fn origin(payload: Payload<'_>, env: &HookEnv) -> Option<Origin> {
    let session = payload.id("session_id")?;
    let transcript = payload.text("transcript_path").map(Path::new);
    let conversation = transcript
        .and_then(Path::file_stem)
        .and_then(|stem| stem.to_str())
        .filter(|stem| !stem.is_empty() && stem.len() <= LONGEST_ID)
        .unwrap_or(session);
    // A fork in a worktree reports the worktree as its working directory; the client's own folder stays.
    let launch = env.project_dir.as_deref().or_else(|| payload.text("cwd"))?;
    if !Path::new(launch).is_absolute() {
        return None;
    }
    Some(Origin {
        session: SessionId::from(session),
        conversation: Conversation::from(conversation),
        launch: LaunchDir::new(launch),
        client: env.client,
        transcript: transcript.filter(|path| path.is_absolute()).map(Path::to_path_buf),
        tags: env.tags.clone(),
    })
}

fn start(payload: Payload<'_>) -> Start {
    let source = match payload.text("source") {
        Some("resume") => StartSource::Resume,
        Some("clear") => StartSource::Clear,
        Some("compact") => StartSource::Compact,
        _ => StartSource::Startup,
    };
    Start {
        source,
        tokens: payload.fields.get("context_tokens").and_then(Value::as_u64),
        window: transcript::window_of(payload.text("model").unwrap_or_default()),
    }
}

fn permission_mode(payload: Payload<'_>) -> Option<PermissionMode> {
    payload.text("permission_mode").map(|mode| match mode {
        "plan" => PermissionMode::Plan,
        _ => PermissionMode::Other,
    })
}

fn turn_kind(payload: Payload<'_>) -> TurnKind {
    match payload.fields.get("stop_hook_active") {
        Some(Value::Bool(true)) => TurnKind::HookAsked,
        _ => TurnKind::Plain,
    }
}

/// The list that the client gives from 2.1.161 on; `None` where it gives none.
fn background_tasks(payload: Payload<'_>) -> Option<Vec<BackgroundTask>> {
    let tasks = payload.objects("background_tasks")?;
    let task = |task: Payload<'_>| {
        let is_fork = task.text("type") == Some("subagent") && task.text("agent_type") == Some("fork");
        Some(BackgroundTask {
            id: TaskId::from(task.id("id")?),
            kind: if is_fork { TaskKind::Fork } else { TaskKind::Other },
            description: shorten_description(task.text("description").unwrap_or_default()),
        })
    };
    Some(tasks.filter_map(task).collect())
}

/// A spawn that presents a ticket. One without is none of our business.
fn spawn_requested(payload: Payload<'_>) -> Option<Fact<Token>> {
    Some(Fact::SpawnRequested {
        tool_use: spawn_call(payload)?,
        ticket: presented_ticket(payload)?,
        caller: caller(payload),
    })
}

fn spawn_started(payload: Payload<'_>) -> Option<Fact<Token>> {
    Some(Fact::SpawnStarted {
        tool_use: spawn_call(payload)?,
        agent: payload.object("tool_response")?.id("agentId")?.into(),
        ticket: presented_ticket(payload),
    })
}

/// The client refuses a call that a fork makes for a further fork, after asking us: that tells nothing of the session's
/// own call.
fn spawn_failed(payload: Payload<'_>) -> Option<Fact<Token>> {
    if caller(payload) == Caller::Subagent {
        return None;
    }
    let error = payload.text("error").unwrap_or_default();
    let fork_type_missing = error.contains("Agent type 'fork' not found");
    let failure = if fork_type_missing { SpawnFailure::ForkTypeMissing } else { SpawnFailure::Other };
    Some(Fact::SpawnFailed { tool_use: spawn_call(payload)?, failure })
}

/// The call, if its tool is the one that spawns.
fn spawn_call(payload: Payload<'_>) -> Option<ToolUseId> {
    (payload.text("tool_name") == Some(SPAWN_TOOL)).then_some(())?;
    payload.id("tool_use_id").map(ToolUseId::from)
}

fn presented_ticket(payload: Payload<'_>) -> Option<Token> {
    Token::find_in(payload.object("tool_input")?.text("prompt")?)
}

/// A call made inside a subagent carries that subagent's id; one of the session's own model carries none.
fn caller(payload: Payload<'_>) -> Caller {
    match payload.fields.get("agent_id") {
        None | Some(Value::Null) => Caller::Main,
        Some(_) => Caller::Subagent,
    }
}

/// A report, cut at a character's end if it is too long to keep.
pub(super) fn shorten_report(report: &str) -> String {
    report[..report.floor_char_boundary(LONGEST_REPORT)].to_owned()
}
