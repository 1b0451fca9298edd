//! `autofork demo`: the whole of it in a few seconds, with nothing of yours touched. A temporary folder, the real
//! compiler, the real daemon and the real hooks; only the client and its model are played.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};

use super::words::first_line;
use crate::cli::{CliError, output, written};
use crate::sim::{AgentCall, FakeClient, Finished, HookAsked, Stage, StageError, StopHook};

/// How long the demo's fork waits for quiet.
const QUIET: Duration = Duration::from_secs(2);

/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(5);

const FORK: &str = "---
fork: true
description: keeps the project's journal
run_on:
  - idle: 2s
---
Add one line to JOURNAL.md about what was done in this session and why.
";

/// Should this process be killed outright, the daemon soon leaves by itself.
const CONFIG: &str = "wake_debounce = \"0s\"\nsession_timeout = \"30s\"\nquiet_period = \"5s\"\n";

pub(super) fn run() -> Result<ExitCode, CliError> {
    let trouble = |error: &StageError| CliError::new(format!("the demo failed: {error}"));
    let program = std::env::current_exe().map_err(|error| CliError::new(format!("where am I? {error}")))?;
    let stage = Arc::new(Stage::new(&program).map_err(|error| trouble(&error))?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(format!("no event loop: {error}")))?;
    let play = Arc::clone(&stage);
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = tokio::task::spawn_blocking(move || play_on(&play)) => {
                outcome.unwrap_or(Err(StageError::Struck))
            }
            () = interruption() => Err(StageError::Struck),
        }
    });
    stage.strike();
    // The play notices that its stage is gone at its next step.
    runtime.shutdown_timeout(PATIENCE);
    match outcome {
        Ok(()) if stage.root().exists() => Err(CliError::new("the demo's folder could not be removed")
            .help(format!("remove {}", stage.root().display()))),
        Ok(()) => {
            output::say("\nThat was all of it. Nothing is left: no process, no file.\n")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(StageError::Unheard(error)) => written(Err(error)).map(|()| ExitCode::SUCCESS),
        Err(error) => Err(trouble(&error)),
    }
}

async fn interruption() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Tells who did what, and when.
struct Timeline {
    began: Instant,
}

impl Timeline {
    fn tell(&self, who: &Who, what: &str) -> Result<(), StageError> {
        let dim = Style::new().dimmed();
        let (name, style) = match who {
            Who::User => ("you", AnsiColor::Green.on_default().bold()),
            Who::Session => ("session", Style::new()),
            Who::Daemon => ("daemon", AnsiColor::Cyan.on_default()),
            Who::Hook => ("hook", AnsiColor::Blue.on_default()),
            Who::Model => ("model", AnsiColor::Magenta.on_default()),
            Who::Fork => ("fork", AnsiColor::Yellow.on_default().bold()),
        };
        let seconds = self.began.elapsed().as_secs_f64();
        let mut lines = what.lines();
        let first = lines.next().unwrap_or_default();
        let mut text = format!("{dim}{seconds:5.1}s{dim:#}  {style}{name:<8}{style:#}  {first}\n");
        for line in lines {
            let _ = writeln!(text, "                  {dim}│ {line}{dim:#}");
        }
        say(&text)
    }
}

fn say(text: &str) -> Result<(), StageError> {
    let mut out = anstream::stdout().lock();
    let outcome = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    outcome.map_err(StageError::Unheard)
}

enum Who {
    User,
    Session,
    Daemon,
    Hook,
    Model,
    Fork,
}

fn play_on(stage: &Stage) -> Result<(), StageError> {
    let write = |error| StageError::Io("write the demo's files", error);
    fs::write(stage.project().join(".autofork/forks/journal.md"), FORK).map_err(write)?;
    fs::write(stage.home().join("config.toml"), CONFIG).map_err(write)?;

    let line = Timeline { began: Instant::now() };
    say("A short session in a temporary project with one fork, .autofork/forks/journal.md:\n\n")?;
    for text in FORK.lines() {
        say(&format!("    {text}\n"))?;
    }
    say("\n")?;

    let (daemon, ()) = stage.start(&mut stage.command(&["daemon"]), |_| ())?;
    await_socket(stage)?;
    line.tell(&Who::Daemon, &format!("listens (process {})", daemon.pid()))?;

    let mut client = FakeClient::new(stage, "demo");
    client.start()?;
    line.tell(&Who::Session, "begins; its hooks tell the daemon what happens")?;
    client.prompt("Add a retry to the upload.")?;
    line.tell(&Who::User, "“Add a retry to the upload.”")?;
    stage.pause(Duration::from_millis(300))?;
    line.tell(&Who::Model, "adds it, and the turn ends")?;
    let parked = client.stop(HookAsked::No)?;
    line.tell(&Who::Hook, "the Stop hook parks at the daemon, beside the session; now it is quiet")?;

    let Ok(Finished { code: Some(2), stderr: woken, .. }) = client.await_stop(parked, QUIET + PATIENCE)? else {
        return Err(StageError::Late("the wake"));
    };
    line.tell(&Who::Daemon, "quiet for 2s: journal is due; the parked hook is told")?;
    line.tell(&Who::Hook, &format!("wakes the session with these words, and is gone\n{}", shortened(&woken)))?;
    client.prompt_with_wake(&woken)?;

    let calls = client.calls_asked_for(&woken);
    let [call] = calls.as_slice() else { return Err(StageError::Late("a call for one fork")) };
    line.tell(&Who::Model, "makes that call")?;
    redeem(&client, &line, call)?;
    client.launch(call, "agent-1")?;
    line.tell(&Who::Fork, "runs in the background: a copy of the session, with the whole conversation")?;
    let parked = client.stop(HookAsked::Yes)?;
    line.tell(&Who::Session, "says a short line; the turn ends, and its hook parks again")?;

    stage.pause(Duration::from_secs(1))?;
    client.finish(call, "agent-1", "Added a line to JOURNAL.md: uploads are now tried three times.")?;
    line.tell(&Who::Fork, "reports: “Added a line to JOURNAL.md: uploads are now tried three times.”")?;
    expect_released(&client, parked)?;
    let parked = client.stop(HookAsked::No)?;
    line.tell(&Who::Session, "has taken the report in; its hook parks again")?;

    match client.await_stop(parked, QUIET * 2)? {
        Err(still) => {
            line.tell(
                &Who::Daemon,
                "quiet for twice as long again: journal has fired in this pause, so nothing happens",
            )?;
            client.end()?;
            expect_released(&client, still)?;
        }
        Ok(_) => return Err(StageError::Late("a pause without a second wake")),
    }
    line.tell(&Who::Session, "ends; the daemon lets its hook go")?;
    stage.signal(daemon, rustix::process::Signal::TERM);
    match stage.wait(daemon, PATIENCE)? {
        Some(status) if status.success() => line.tell(&Who::Daemon, "leaves"),
        _ => Err(StageError::Late("the daemon's end")),
    }
}

fn await_socket(stage: &Stage) -> Result<(), StageError> {
    let until = Instant::now() + PATIENCE;
    while !stage.home().join("daemon.sock").exists() {
        if Instant::now() > until {
            return Err(StageError::Late("the daemon"));
        }
        stage.pause(Duration::from_millis(5))?;
    }
    Ok(())
}

/// The call is asked about, and comes back with the fork's instructions in it.
fn redeem(client: &FakeClient<'_>, line: &Timeline, call: &AgentCall) -> Result<(), StageError> {
    let answer = client.ask_about(call)?;
    let decision: serde_json::Value =
        serde_json::from_str(&answer.stdout).map_err(|_| StageError::Late("an answer to the call"))?;
    let prompt = decision
        .pointer("/hookSpecificOutput/updatedInput/prompt")
        .and_then(serde_json::Value::as_str)
        .ok_or(StageError::Late("the fork's instructions"))?;
    line.tell(
        &Who::Hook,
        &format!(
            "redeems the ticket: the call now carries the fork's instructions ({} bytes), the conversation does not\n{}",
            prompt.len(),
            shortened(prompt)
        ),
    )?;
    Ok(())
}

fn expect_released(client: &FakeClient<'_>, hook: StopHook) -> Result<(), StageError> {
    match client.await_stop(hook, PATIENCE)? {
        Ok(Finished { code: Some(0), .. }) => Ok(()),
        _ => Err(StageError::Late("the release of a hook")),
    }
}

/// Each line cut to what fits on a screen.
fn shortened(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| first_line(line, 96)).collect();
    lines.join("\n")
}
