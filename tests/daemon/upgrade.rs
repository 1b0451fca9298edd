//! An update: a newer program finds the daemon of an older one, with many sessions parked at it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use autofork::sim::{FakeClient, Stage, StopHook};
use serde_json::Value;

use crate::support::*;

const SESSIONS: u32 = 50;

/// The newest there is.
const NEWER: &str = env!("CARGO_BIN_EXE_autofork");

/// This very program, but of an earlier version: each place in a copy of it that says its version says another one of
/// the same length.
fn make_older(path: &Path) {
    let ours = env!("CARGO_PKG_VERSION").as_bytes();
    let older: Vec<u8> = ours.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
    let mut program = fs::read(NEWER).unwrap();
    let mut at = 0;
    while let Some(found) = program[at..].windows(ours.len()).position(|found| found == ours) {
        program[at + found..][..ours.len()].copy_from_slice(&older);
        at += found + ours.len();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, program).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let told = Command::new(path).arg("--version").output().unwrap().stdout;
    assert_eq!(String::from_utf8(told).unwrap().trim(), format!("autofork {}", String::from_utf8(older).unwrap()));
}

/// A stage on which the older program plays, and that program.
fn older_stage(folder: &tempfile::TempDir) -> (Stage, PathBuf) {
    let older = folder.path().join("bin/autofork");
    make_older(&older);
    let stage = Stage::new(&older).unwrap();
    configure(&stage, "");
    write_fork(&stage, "journal", "1h");
    (stage, older)
}

/// So many sessions, each with a hook of the older program that is parked.
fn park_all(stage: &Stage) -> Vec<StopHook> {
    let hooks = (0..SESSIONS).map(|number| {
        // Processes that do not exist: nobody watches them.
        let mut client = FakeClient::new(stage, &format!("s{number:02}")).with_pid(u32::MAX - number);
        turn(&mut client)
    });
    let hooks = hooks.collect();
    wait_for("all of them, parked", || pauses(stage, stage.command(&[]).get_program().as_ref()).len() == 50);
    hooks
}

/// A command of that program on the stage.
fn command(stage: &Stage, program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir(stage.project());
    for (name, value) in stage.command(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Since when each parked session's pause has lasted.
fn pauses(stage: &Stage, program: &Path) -> Vec<(String, Value)> {
    let output = command(stage, program, &["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let sessions = status["sessions"].as_array().cloned().unwrap_or_default();
    let parked = sessions.into_iter().filter(|session| session["standing"]["parked"].is_object());
    let told = parked.map(|session| {
        (session["session"].as_str().unwrap().to_owned(), session["standing"]["parked"]["since"].clone())
    });
    let mut told: Vec<(String, Value)> = told.collect();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    told
}

/// A hook of the newer program comes by, for a session of its own. Nothing of what follows is noticed.
fn newer_hook_comes_by(stage: &Stage, program: &Path) {
    let payload = stage.root().join("payload.json");
    fs::write(&payload, serde_json::json!({ "session_id": "new", "cwd": stage.project() }).to_string()).unwrap();
    let mut hook = command(stage, program, &["hook", "session-start"]);
    FakeClient::new(stage, "new").environment(&mut hook);
    let output = hook.stdin(fs::File::open(&payload).unwrap()).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

fn all_park_at_the_newer_one(stage: &Stage, hooks: Vec<StopHook>, newer: &Path, before: &[(String, Value)]) {
    let first = daemon_pid(stage).unwrap();
    let began = Instant::now();
    newer_hook_comes_by(stage, newer);
    let second = daemon_pid(stage).expect("a daemon");
    eprintln!("retired and replaced after {:?}", began.elapsed());
    assert_ne!(first, second);
    assert!(began.elapsed() < Duration::from_secs(3), "a second, on a machine that is not busy");
    wait_for("all of them, parked again", || pauses(stage, newer).len() == before.len());
    eprintln!("all parked again after {:?}", began.elapsed());
    assert_eq!(pauses(stage, newer), before, "no pause has begun anew");
    let output = command(stage, newer, &["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["daemon"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["sessions"].as_array().unwrap().len(), before.len() + 1);
    for hook in &hooks {
        assert_eq!(stage.ended(hook.player()).unwrap(), None, "each hook is the one that was parked");
    }
    // All hooks of the older program are parked here, so none of them has brought back a daemon of its own.
    assert!(command(stage, newer, &["stop-daemon"]).status().unwrap().success());
    let client = FakeClient::new(stage, "any");
    for hook in hooks {
        assert_eq!(client.await_stop(hook, PATIENCE).unwrap().unwrap(), silent());
    }
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches("started").count(), 2, "the older one and the newer one:\n{log}");
}

#[test]
fn an_update_in_place_retires_the_older_daemon_and_all_sessions_park_at_the_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, older) = older_stage(&folder);
    let hooks = park_all(&stage);
    let before = pauses(&stage, &older);
    // As the plugin does it: by renaming, while the older one runs.
    let fresh = folder.path().join("fresh");
    fs::copy(NEWER, &fresh).unwrap();
    fs::rename(&fresh, &older).unwrap();
    all_park_at_the_newer_one(&stage, hooks, &older, &before);
}

#[test]
fn an_update_in_another_place_retires_the_older_daemon_and_hooks_of_the_older_program_do_not_bring_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, older) = older_stage(&folder);
    let hooks = park_all(&stage);
    let before = pauses(&stage, &older);
    all_park_at_the_newer_one(&stage, hooks, Path::new(NEWER), &before);
}

#[test]
fn an_older_program_does_not_fight_a_newer_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _) = older_stage(&folder);
    let newer = command(&stage, Path::new(NEWER), &["daemon"]);
    let (daemon, ()) = stage.start(&mut { newer }, |_| ()).unwrap();
    wait_for("the daemon", || Wire::open(&stage).is_some());
    // Hooks and commands of the older program are served as ever, and none sends it away.
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || pauses(&stage, Path::new(NEWER)).len() == 1);
    assert_eq!(pauses(&stage, stage.command(&[]).get_program().as_ref()).len(), 1, "the older one can ask too");
    client.prompt("Go on.").unwrap();
    assert_eq!(client.await_stop(hook, PATIENCE).unwrap().unwrap(), silent());
    assert_eq!(stage.ended(daemon).unwrap(), None);
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches("started").count(), 1, "{log}");
}
