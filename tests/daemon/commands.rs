//! The commands around the daemon.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use autofork::sim::FakeClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::*;

#[test]
fn status_and_ticket_start_no_daemon() {
    let stage = stage(&[]);
    assert_eq!(status(&stage), json!({ "version": 1, "daemon": null, "sessions": [] }));
    let output = run(&stage, &["status"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("No daemon is running."), "{output:?}");
    let ticket = run(&stage, &["ticket", "af-0123456789abcdef0123456789abcdef"]);
    assert_eq!(ticket.status.code(), Some(2));
    let stopped = run(&stage, &["stop-daemon"]);
    assert!(stopped.status.success());
    assert!(!stage.home().join("daemon.lock").exists());
}

#[test]
fn stop_daemon_lets_parked_hooks_go_and_no_daemon_comes_back() {
    let stage = stage(&[("journal", "1h")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    let pid = daemon_pid(&stage).unwrap();
    assert!(run(&stage, &["stop-daemon"]).status.success());
    assert!(!is_alive(pid));
    assert_eq!(client.await_stop(hook, PATIENCE).unwrap().unwrap(), silent());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(daemon_pid(&stage), None);
}

#[test]
fn a_ticket_says_what_it_stands_for() {
    let stage = stage(&[("journal", "0s")]);
    start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    let call = client.calls_asked_for(&wake).remove(0);
    let prompt = call.input["prompt"].as_str().unwrap().to_owned();
    let token = autofork::host::protocol::Token::find_in(&prompt).unwrap().to_string();
    let output = run(&stage, &["ticket", &token]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("fork          journal") && shown.contains("The body of journal."), "{shown}");
}

#[test]
fn the_demo_plays_to_its_end_and_leaves_nothing() {
    let stage = stage(&[]);
    let temporary = stage.root().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let output = stage.command(&["demo"]).env("TMPDIR", &temporary).stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    for moment in ["journal is due", "redeems the ticket", "reports:", "so nothing happens", "Nothing is left"] {
        assert!(shown.contains(moment), "{moment:?} is missing in:\n{shown}");
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn an_interrupted_demo_leaves_nothing_either() {
    let stage = stage(&[]);
    let temporary = stage.root().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = stage.command(&["demo"]);
    let (player, stdout) = stage
        .start(command.env("TMPDIR", &temporary).stdout(Stdio::piped()), |child| child.stdout.take().unwrap())
        .unwrap();
    // The daemon's process stands on the first line of the timeline.
    let mut stdout = stdout;
    let mut shown = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&shown).contains("parks at the daemon") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
        shown.push(byte[0]);
    }
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let pid = shown.split("(process ").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let daemon = Pid::from_raw(pid.parse().unwrap()).unwrap();
    assert!(is_alive(daemon));
    kill_process(Pid::from_raw(i32::try_from(player.pid()).unwrap()).unwrap(), Signal::INT).unwrap();
    let status = stage.wait(player, PATIENCE).unwrap().expect("it ends");
    assert_eq!(status.code(), Some(2));
    assert!(!is_alive(daemon));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}
