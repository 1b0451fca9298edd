//! What the tests share: a stage with forks, and a raw connection to the daemon.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use autofork::host::protocol::Hello;
use autofork::sim::{FakeClient, Finished, Stage, StopHook};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// How long anything may take that should take milliseconds: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A stage without debounce, with one fork for each pair of a name and an `idle` value.
pub(crate) fn stage(forks: &[(&str, &str)]) -> Stage {
    let stage = Stage::new(Path::new(env!("CARGO_BIN_EXE_autofork"))).unwrap();
    configure(&stage, "");
    for (name, idle) in forks {
        write_fork(&stage, name, idle);
    }
    stage
}

pub(crate) fn configure(stage: &Stage, more: &str) {
    fs::write(stage.home().join("config.toml"), format!("wake_debounce = \"0s\"\n{more}")).unwrap();
}

pub(crate) fn write_fork(stage: &Stage, name: &str, idle: &str) {
    let text = format!("---\nfork: true\nrun_on:\n  - idle: {idle}\n---\nThe body of {name}.\n");
    fs::write(stage.project().join(format!(".autofork/forks/{name}.md")), text).unwrap();
}

/// Starts a daemon and waits until it listens.
pub(crate) fn start_daemon(stage: &Stage) -> autofork::sim::Player {
    let (player, ()) = stage.start(&mut stage.command(&["daemon"]), |_| ()).unwrap();
    wait_for("the daemon", || Wire::open(stage).is_some());
    player
}

/// Runs a command to its end.
pub(crate) fn run(stage: &Stage, arguments: &[&str]) -> Output {
    stage.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The daemon's process, if one answers.
pub(crate) fn daemon_pid(stage: &Stage) -> Option<Pid> {
    let mut wire = Wire::open(stage)?;
    wire.say(&json!({ "protocol": 1, "version": env!("CARGO_PKG_VERSION") }));
    let hello: Hello = serde_json::from_value(wire.hear()?).ok()?;
    Pid::from_raw(i32::try_from(hello.pid?).ok()?)
}

pub(crate) fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).unwrap();
}

/// Whether anything of the process is left. The first of its threads may be gone before the last one lets go of the lock
/// and the socket, so each is looked at.
pub(crate) fn is_alive(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    threads.into_iter().flatten().flatten().any(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    })
}

/// Whether the first session's hook is parked.
pub(crate) fn is_parked(stage: &Stage) -> bool {
    status(stage)["sessions"][0]["standing"]["parked"].is_object()
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The session takes a turn and goes quiet.
pub(crate) fn turn(client: &mut FakeClient<'_>) -> StopHook {
    assert_eq!(client.prompt("Go on.").unwrap(), silent());
    client.stop(autofork::sim::HookAsked::No).unwrap()
}

/// The wake that a parked hook brings.
pub(crate) fn await_wake(client: &FakeClient<'_>, hook: StopHook) -> String {
    let finished = client.await_stop(hook, PATIENCE).unwrap().expect("a wake in time");
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert_eq!(finished.stdout, "");
    finished.stderr
}

/// A hook that left no trace.
pub(crate) fn silent() -> Finished {
    Finished { code: Some(0), stdout: String::new(), stderr: String::new() }
}

/// How things stand, as the command tells programs.
pub(crate) fn status(stage: &Stage) -> Value {
    let output = run(stage, &["status", "--json"]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A connection that says what it likes.
pub(crate) struct Wire {
    stream: UnixStream,
    replies: BufReader<UnixStream>,
}

impl Wire {
    pub(crate) fn open(stage: &Stage) -> Option<Self> {
        let stream = UnixStream::connect(stage.home().join("daemon.sock")).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let replies = BufReader::new(stream.try_clone().unwrap());
        Some(Self { stream, replies })
    }

    /// A connection past its hellos.
    pub(crate) fn greeted(stage: &Stage) -> Self {
        let mut wire = Self::open(stage).expect("a daemon listens");
        wire.say(&json!({ "protocol": 1, "version": env!("CARGO_PKG_VERSION") }));
        assert_eq!(wire.hear().unwrap()["protocol"], 1);
        wire
    }

    pub(crate) fn say(&mut self, frame: &Value) {
        self.say_raw(format!("{frame}\n").as_bytes());
    }

    /// The daemon may have hung up already.
    pub(crate) fn say_raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next reply; none at the end of the connection.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.replies.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }
}

/// A request that parks a session's turn.
pub(crate) fn park(stage: &Stage, session: &str, turn: u64) -> Value {
    let mark = json!({ "prompt": format!("turn-{turn}"), "at": turn });
    json!({ "park": {
        "origin": origin(stage, session),
        "mark": mark,
        "stopped": { "stopped": { "mark": mark, "kind": "plain", "background": [], "mode": "other" } },
    } })
}

pub(crate) fn origin(stage: &Stage, session: &str) -> Value {
    json!({ "session": session, "conversation": session, "launch": stage.project(), "client": null })
}
