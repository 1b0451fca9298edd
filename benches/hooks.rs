//! What hooks and daemon cost, next to what a process costs anyway. Run with `cargo bench --bench hooks`.
//!
//! Ratios of things measured in turns, so that a busy machine slows both sides alike. `AUTOFORK_BIN` names another
//! binary to measure, a release for example.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use autofork::sim::{FakeClient, Player, Stage};
use serde_json::json;

const ROUNDS: usize = 300;
const WAKES: usize = 40;
const PARKED: usize = 500;
const FORKS: usize = 2000;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    hook_against_true()?;
    stop_to_wake("one fork", 1)?;
    stop_to_wake("2 000 forks", FORKS)?;
    idle_daemon()?;
    Ok(())
}

/// A stage with a daemon on it.
fn stage(forks: usize, idle: &str) -> Outcome<(Stage, Player)> {
    let program = std::env::var_os("AUTOFORK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_autofork").into());
    let stage = Stage::new(Path::new(&program))?;
    fs::write(stage.home().join("config.toml"), "wake_debounce = \"0s\"\n")?;
    for number in 0..forks {
        let idle = if number == 0 { idle } else { "1h" };
        let text = format!("---\nfork: true\nrun_on:\n  - idle: {idle}\n---\nDo thing {number}.\n");
        fs::write(stage.project().join(format!(".autofork/forks/fork-{number}.md")), text)?;
    }
    let (daemon, ()) = stage.start(&mut stage.command(&["daemon"]), |_| ())?;
    while UnixStream::connect(stage.home().join("daemon.sock")).is_err() {
        stage.pause(Duration::from_millis(5))?;
    }
    Ok((stage, daemon))
}

/// How long a process takes from its start to its end, with this on its standard input; and its exit code.
fn timed(command: &mut Command, payload: &str) -> Outcome<(Duration, Option<i32>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // `true` does not read.
        let _ = stdin.write_all(payload.as_bytes());
    }
    let status = child.wait()?;
    Ok((began.elapsed(), status.code()))
}

fn hook(stage: &Stage, client: &FakeClient<'_>, event: &str) -> Command {
    let mut command = stage.command(&["hook", event]);
    client.environment(&mut command);
    command
}

fn hook_against_true() -> Outcome<()> {
    let (stage, _) = stage(1, "1h")?;
    let mut client = FakeClient::new(&stage, "s");
    client.start()?;
    let payload = json!({ "session_id": "s", "cwd": stage.project(), "prompt_id": "p", "prompt": "hi" }).to_string();
    let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/hooks/autofork-hook");
    let (mut nothing, mut prompt, mut unrelated, mut shimmed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        nothing.push(timed(Command::new("/bin/true").env_clear(), &payload)?.0);
        prompt.push(timed(&mut hook(&stage, &client, "user-prompt-submit"), &payload)?.0);
        unrelated.push(timed(&mut hook(&stage, &client, "pre-tool-use"), &payload)?.0);
        // As the client runs it: a shell that becomes the binary.
        let mut through_shim = Command::new("/bin/sh");
        let plain = hook(&stage, &client, "user-prompt-submit");
        through_shim.arg(&shim).arg("user-prompt-submit").env_clear().env("AUTOFORK_BIN", plain.get_program());
        through_shim.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shimmed.push(timed(&mut through_shim, &payload)?.0);
    }
    let base = median(&mut nothing);
    println!("/bin/true                            {}", shown(&mut nothing));
    println!("hook user-prompt-submit, daemon up   {}  {}", shown(&mut prompt), ratio(&mut prompt, base, 3.0));
    println!("the same through the plugin's shim   {}  {}", shown(&mut shimmed), ratio(&mut shimmed, base, 4.0));
    println!("hook pre-tool-use without a ticket   {}  {}", shown(&mut unrelated), ratio(&mut unrelated, base, 3.0));
    Ok(())
}

/// From the start of a session's first Stop hook to its end with the wake: alone, and while another session begins a
/// turn.
fn stop_to_wake(what: &str, forks: usize) -> Outcome<()> {
    let (stage, _) = stage(forks, "0s")?;
    let (mut wakes, mut prompts) = (Vec::new(), Vec::new());
    let mut other = FakeClient::new(&stage, "other").with_pid(1);
    other.start()?;
    let prompt = json!({ "session_id": "other", "cwd": stage.project(), "prompt_id": "p", "prompt": "hi" });
    for number in 0..2 * WAKES {
        let session = format!("s{number}");
        let mut client = FakeClient::new(&stage, &session).with_pid(u32::try_from(number)? + 2);
        client.start()?;
        client.prompt("Go on.")?;
        let stop = json!({
            "session_id": session, "cwd": stage.project(), "prompt_id": format!("{session}-turn-1"),
            "stop_hook_active": false, "background_tasks": [],
        });
        let mut command = hook(&stage, &client, "stop");
        let stopping = std::thread::spawn(move || timed(&mut command, &stop.to_string()).map_err(|_| ()));
        if number % 2 == 0 {
            prompts.push(timed(&mut hook(&stage, &other, "user-prompt-submit"), &prompt.to_string())?.0);
        }
        let Ok(Ok((took, Some(2)))) = stopping.join() else { return Err("a Stop hook without a wake".into()) };
        if number % 2 == 1 {
            wakes.push(took);
        }
    }
    let target = if forks == 1 { 15 } else { 50 };
    println!("first Stop to wake, {what:<16} {}  target {target} ms", shown(&mut wakes));
    println!("another session's prompt meanwhile   {}  target 10 ms", shown(&mut prompts));
    Ok(())
}

fn idle_daemon() -> Outcome<()> {
    let (stage, daemon) = stage(1, "1h")?;
    let mut client = FakeClient::new(&stage, "s");
    client.start()?;
    stage.pause(Duration::from_millis(500))?;
    let before = switches(daemon.pid())?;
    stage.pause(Duration::from_secs(3))?;
    let wake_ups = switches(daemon.pid())? - before;
    println!("idle daemon, one session             {} kB resident  target 10 000 kB", resident(daemon.pid())?);
    println!("wake-ups in 3 s                      {wake_ups}  target 0");

    let mut parked = Vec::new();
    for number in 0..PARKED {
        let mut stream = UnixStream::connect(stage.home().join("daemon.sock"))?;
        let mark = json!({ "prompt": "p", "at": 1 });
        let session = format!("p{number}");
        let origin =
            json!({ "session": session, "conversation": session, "launch": stage.project(), "client": null });
        let stopped = json!({ "stopped": { "mark": mark, "kind": "plain", "background": [], "mode": "other" } });
        let park = json!({ "park": { "origin": origin, "mark": mark, "stopped": stopped } });
        let hello = json!({ "protocol": 1, "version": env!("CARGO_PKG_VERSION") });
        stream.write_all(format!("{hello}\n{park}\n").as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream.try_clone()?).read_line(&mut line)?;
        parked.push(stream);
    }
    stage.pause(Duration::from_secs(1))?;
    let before = switches(daemon.pid())?;
    stage.pause(Duration::from_secs(3))?;
    let wake_ups = switches(daemon.pid())? - before;
    println!("{PARKED} parked sessions                  {} kB resident  target 20 000 kB", resident(daemon.pid())?);
    println!("wake-ups in 3 s                      {wake_ups}  target 0");
    drop(parked);
    Ok(())
}

/// Context switches of all threads of a process.
fn switches(pid: u32) -> Outcome<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        sum += field(&status, "voluntary_ctxt_switches:") + field(&status, "nonvoluntary_ctxt_switches:");
    }
    Ok(sum)
}

fn resident(pid: u32) -> Outcome<u64> {
    Ok(field(&fs::read_to_string(format!("/proc/{pid}/status"))?, "VmRSS:"))
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn shown(times: &mut [Duration]) -> String {
    let median = median(times);
    let late = times[times.len() * 95 / 100];
    format!("p50 {:6.2} ms  p95 {:6.2} ms", median.as_secs_f64() * 1e3, late.as_secs_f64() * 1e3)
}

fn ratio(times: &mut [Duration], base: Duration, target: f64) -> String {
    format!("{:.2}x  target {target:.0}x", median(times).as_secs_f64() / base.as_secs_f64())
}
