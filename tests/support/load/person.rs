//! A client as the load needs it: it runs a hook and waits for it without a thread of its own, and remembers what it
//! told.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use autofork::engine::{Fact, Origin, TagOverride};
use autofork::host::protocol::{Request, Token};
use autofork::ir::LaunchDir;
use autofork::sim::Stage;
use serde_json::{Value, json};

/// How often a parked hook is looked at by whoever waits for its end.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Whoever the clients pretend to be: processes that only wait. Each client has its own.
#[derive(Debug, Default)]
pub(crate) struct Folk {
    members: Vec<Child>,
}

impl Folk {
    /// The id of one more.
    pub(crate) fn newcomer(&mut self) -> u32 {
        let member = Command::new("sleep").arg("86400").env_clear().stdin(Stdio::null()).spawn();
        let member = member.expect("sleep is there");
        let pid = member.id();
        self.members.push(member);
        pid
    }
}

impl Drop for Folk {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.kill();
            let _ = member.wait();
        }
    }
}

/// An event that a hook was run for: its session, its name, and what tells it from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Told {
    pub(crate) session: String,
    pub(crate) event: &'static str,
    pub(crate) which: String,
}

/// Somebody at a client, with one session at a time.
#[derive(Debug)]
pub(crate) struct Person<'a> {
    stage: &'a Stage,
    project: PathBuf,
    pid: u32,
    pub(crate) session: String,
    turn: usize,
    pub(crate) told: Vec<Told>,
}

impl<'a> Person<'a> {
    pub(crate) fn new(stage: &'a Stage, project: &Path, session: String, pid: u32) -> Self {
        Self { stage, project: project.to_owned(), pid, session, turn: 0, told: Vec::new() }
    }

    /// The client's next session begins.
    pub(crate) fn begin_another(&mut self, session: String) {
        (self.session, self.turn) = (session, 0);
        self.start();
    }

    pub(crate) fn start(&mut self) {
        self.run("session-start", String::new(), json!({ "source": "startup", "model": "claude-opus-5-5" }));
    }

    /// A turn begins. Returns how long its hook took.
    pub(crate) fn prompt(&mut self, text: &str) -> Duration {
        self.turn += 1;
        let began = Instant::now();
        let ended = self.run("user-prompt-submit", self.turn_id(), json!({ "prompt": text }));
        let took = began.elapsed();
        assert!(ended.is_silent(), "{ended:?}");
        took
    }

    /// A turn ends, with these agents at work.
    pub(crate) fn stop(&mut self, agents: &[&str]) -> Hook {
        let tasks: Vec<Value> = agents
            .iter()
            .map(|agent| {
                let description = "autofork: at-once";
                json!({ "id": agent, "type": "subagent", "agent_type": "fork", "description": description })
            })
            .collect();
        self.begin("stop", self.turn_id(), json!({ "background_tasks": tasks }))
    }

    /// A hook that tells something of the turn, told apart by `which`.
    pub(crate) fn run(&mut self, event: &'static str, which: String, fields: Value) -> Ended {
        self.begin(event, which, fields).end()
    }

    fn turn_id(&self) -> String {
        format!("{}-turn-{}", self.session, self.turn)
    }

    fn begin(&mut self, event: &'static str, which: String, fields: Value) -> Hook {
        self.told.push(Told { session: self.session.clone(), event, which });
        let mut payload = json!({
            "session_id": self.session, "cwd": self.project, "prompt_id": self.turn_id(), "permission_mode": "default",
        });
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
            payload.extend(fields);
        }
        let mut command = self.stage.command(&["hook", event]);
        command
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("CLAUDE_PID", self.pid.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        if let Some(mut stdin) = child.stdin.take() {
            // It is short enough for the pipe to take it in at once.
            stdin.write_all(payload.to_string().as_bytes()).expect("a hook reads its payload");
        }
        Hook(Some(child))
    }
}

/// The request by which a hook tells that an agent has finished, of a session that nobody knows, and what it tells.
pub(crate) fn finished_agent(stage: &Stage, client: usize, number: usize) -> (Request, Told) {
    let session = format!("nobody-{client}");
    let agent = format!("{session}-agent-{number}");
    let origin = Origin {
        session: session.as_str().into(),
        conversation: session.as_str().into(),
        launch: LaunchDir::new(stage.project()),
        client: None,
        transcript: None,
        tags: TagOverride::default(),
    };
    let fact = Fact::SubagentStopped { agent: agent.as_str().into(), report: Some("Done.".to_owned()) };
    (Request::Fact { origin, fact }, Told { session, event: "subagent-stop", which: agent })
}

/// A hook's process.
#[derive(Debug)]
pub(crate) struct Hook(Option<Child>);

/// How a hook has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Hook {
    pub(crate) fn pid(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }

    /// Waits for the end of a hook that does not park.
    pub(crate) fn end(mut self) -> Ended {
        let child = self.0.take().expect("it is taken once");
        Ended::from(child.wait_with_output().expect("our own child"))
    }

    /// Waits for the end of one that parks; none, and the end of it, if it takes longer than that.
    pub(crate) fn end_within(mut self, patience: Duration) -> Option<Ended> {
        let until = Instant::now() + patience;
        while self.0.as_mut()?.try_wait().expect("our own child").is_none() {
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(LOOK_AGAIN);
        }
        Some(self.end())
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ended {
    /// It was never noticed.
    pub(crate) fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// It woke its session.
    pub(crate) fn is_wake(&self) -> bool {
        self.code == Some(2) && self.stdout.is_empty()
    }

    /// The tickets of a wake.
    pub(crate) fn tickets(&self) -> Vec<String> {
        let calls = self.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        calls.filter_map(|call| Token::find_in(call["prompt"].as_str()?).map(|token| token.to_string())).collect()
    }

    /// What it said of a spawn.
    pub(crate) fn decision(&self) -> Option<String> {
        let answer: Value = serde_json::from_str(&self.stdout).ok()?;
        Some(answer["hookSpecificOutput"]["permissionDecision"].as_str()?.to_owned())
    }
}
