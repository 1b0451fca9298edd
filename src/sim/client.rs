//! A client that behaves as Claude Code was seen to: the hooks it calls, in their order, with payloads of the same
//! form, and a model that follows a wake to the letter.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::stage::{Player, Stage, StageError};

/// How long any hook but a parked one may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client process with one session.
#[derive(Debug)]
pub struct FakeClient<'a> {
    stage: &'a Stage,
    session: String,
    project: PathBuf,
    pid: u32,
    turn: u32,
    tasks: Vec<Value>,
}

/// How a hook has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said on standard error.
    pub stderr: String,
}

/// A Stop hook that is parked.
#[derive(Debug)]
pub struct StopHook {
    player: Player,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl StopHook {
    /// Its process.
    pub fn player(&self) -> Player {
        self.player
    }
}

/// A call of the tool that spawns subagents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The call's id.
    pub tool_use: String,
    /// Its input.
    pub input: Value,
}

impl<'a> FakeClient<'a> {
    /// A client on `stage` with a session of this id, launched in the stage's project. It goes by the process id of
    /// whoever plays it.
    pub fn new(stage: &'a Stage, session: &str) -> Self {
        Self {
            stage,
            session: session.to_owned(),
            project: stage.project(),
            pid: std::process::id(),
            turn: 0,
            tasks: Vec::new(),
        }
    }

    /// The same client under another process id. Two clients of one process would be one client to the daemon.
    #[must_use]
    pub fn with_pid(self, pid: u32) -> Self {
        Self { pid, ..self }
    }

    /// The session begins.
    pub fn start(&mut self) -> Result<Finished, StageError> {
        self.hook("session-start", json!({ "source": "startup", "model": "claude-opus-5-5" }))
    }

    /// A turn begins with what the user, or the client in its own name, says.
    pub fn prompt(&mut self, text: &str) -> Result<Finished, StageError> {
        self.turn += 1;
        self.hook("user-prompt-submit", json!({ "prompt": text }))
    }

    /// A turn begins with a wake: the client hands on what a Stop hook has said.
    pub fn prompt_with_wake(&mut self, said: &str) -> Result<Finished, StageError> {
        self.prompt(&format!(
            "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n<system-reminder>\n\
             Stop hook blocking error from command \"Stop\": {said}\n</system-reminder>"
        ))
    }

    /// A turn ends: a Stop hook is started and goes on beside the session. `hook_asked` is whether a hook had asked
    /// for that turn.
    pub fn stop(&mut self, hook_asked: HookAsked) -> Result<StopHook, StageError> {
        let payload = self.payload(json!({
            "hook_event_name": "Stop",
            "stop_hook_active": hook_asked == HookAsked::Yes,
            "last_assistant_message": "Done.",
            "background_tasks": self.tasks,
            "session_crons": [],
        }));
        self.start_hook("stop", &payload)
    }

    /// How a parked hook has ended; `None` if it is still parked after `patience`.
    pub fn await_stop(&self, hook: StopHook, patience: Duration) -> Result<Result<Finished, StopHook>, StageError> {
        match self.stage.wait(hook.player, patience)? {
            None => Ok(Err(hook)),
            Some(status) => Ok(Ok(Finished {
                code: status.code(),
                stdout: hook.stdout.join().unwrap_or_default(),
                stderr: hook.stderr.join().unwrap_or_default(),
            })),
        }
    }

    /// The calls that a wake asks for, as a model makes them that follows it to the letter.
    pub fn calls_asked_for(&self, wake: &str) -> Vec<AgentCall> {
        let inputs = wake.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let spawns = inputs.filter(|input| input.get("subagent_type").is_some());
        spawns
            .enumerate()
            .map(|(index, input)| AgentCall { tool_use: format!("toolu_{}_{index}", self.turn), input })
            .collect()
    }

    /// The client asks its hooks about a call. On standard output they say what becomes of it.
    pub fn ask_about(&self, call: &AgentCall) -> Result<Finished, StageError> {
        self.hook(
            "pre-tool-use",
            json!({ "tool_name": "Agent", "tool_input": call.input, "tool_use_id": call.tool_use }),
        )
    }

    /// The call has started a fork that now runs in the background.
    pub fn launch(&mut self, call: &AgentCall, agent: &str) -> Result<(), StageError> {
        self.tasks.push(json!({
            "id": agent,
            "type": "subagent",
            "status": "running",
            "description": call.input.get("description"),
            "agent_type": "fork",
        }));
        self.hook("subagent-start", json!({ "agent_id": agent, "agent_type": "fork" }))?;
        self.hook(
            "post-tool-use",
            json!({
                "tool_name": "Agent",
                "tool_input": call.input,
                "tool_use_id": call.tool_use,
                "tool_response": { "agentId": agent, "status": "async_launched" },
            }),
        )?;
        Ok(())
    }

    /// The fork has finished: its own hook says so, and then the client tells its session, which begins a turn.
    pub fn finish(&mut self, call: &AgentCall, agent: &str, report: &str) -> Result<Finished, StageError> {
        self.tasks.retain(|task| task.get("id").and_then(Value::as_str) != Some(agent));
        self.hook(
            "subagent-stop",
            json!({ "agent_id": agent, "agent_type": "fork", "last_assistant_message": report }),
        )?;
        let name = call.input.get("description").and_then(Value::as_str).unwrap_or_default();
        self.prompt(&format!(
            "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{}</tool-use-id>\n\
             <output-file>/dev/null</output-file>\n<status>completed</status>\n\
             <summary>Agent \"{name}\" finished</summary>\n<result>{report}</result>\n\
             <usage><subagent_tokens>1312</subagent_tokens><tool_uses>2</tool_uses>\
             <duration_ms>1000</duration_ms></usage>\n</task-notification>",
            call.tool_use
        ))
    }

    /// The session is over.
    pub fn end(&self) -> Result<Finished, StageError> {
        self.hook("session-end", json!({ "reason": "prompt_input_exit" }))
    }

    /// Runs a hook to its end with these fields beside the common ones.
    pub fn hook(&self, event: &str, fields: Value) -> Result<Finished, StageError> {
        self.hook_with(event, &self.payload(fields))
    }

    /// Runs a hook to its end with exactly these bytes on its standard input.
    pub fn hook_with(&self, event: &str, payload: &[u8]) -> Result<Finished, StageError> {
        let hook = self.start_hook(event, payload)?;
        match self.await_stop(hook, PATIENCE)? {
            Ok(finished) => Ok(finished),
            Err(_) => Err(StageError::Late("the end of a hook")),
        }
    }

    /// The environment in which the client runs its hooks.
    pub fn environment(&self, command: &mut Command) {
        command
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("CLAUDE_PID", self.pid.to_string())
            .env("CLAUDE_CODE_SESSION_ID", &self.session);
    }

    fn start_hook(&self, event: &str, payload: &[u8]) -> Result<StopHook, StageError> {
        let mut command = self.stage.command(&["hook", event]);
        self.environment(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (player, (stdin, stdout, stderr)) = self.stage.start(&mut command, |child: &mut Child| {
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        })?;
        let payload = payload.to_vec();
        thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                // A hook may leave without having read all of it.
                let _ = stdin.write_all(&payload);
            }
        });
        Ok(StopHook { player, stdout: collect(stdout), stderr: collect(stderr) })
    }

    fn payload(&self, fields: Value) -> Vec<u8> {
        let mut payload = Map::new();
        payload.insert("session_id".to_owned(), json!(self.session));
        payload.insert("transcript_path".to_owned(), json!(format!("/nowhere/{}.jsonl", self.session)));
        payload.insert("cwd".to_owned(), json!(self.project));
        payload.insert("prompt_id".to_owned(), json!(format!("{}-turn-{}", self.session, self.turn)));
        payload.insert("permission_mode".to_owned(), json!("default"));
        if let Value::Object(fields) = fields {
            payload.extend(fields);
        }
        Value::Object(payload).to_string().into_bytes()
    }
}

/// Whether a hook had asked for the turn that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAsked {
    /// None had.
    No,
    /// One had: a wake of ours, for example.
    Yes,
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is what there is.
            let _ = pipe.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}
