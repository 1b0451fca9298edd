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
fn stop_daemon_ends_one_that_hears_nothing_and_nothing_is_lost() {
    let stage = stage(&[("journal", "12s")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || is_parked(&stage));
    let pid = daemon_pid(&stage).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let stopped = run(&stage, &["stop-daemon"]);
    assert!(stopped.status.success() && text(&stopped).contains("did not answer, and was ended"), "{stopped:?}");
    wait_for("its end", || !is_alive(pid));
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1, "its hook has brought another one, that knows all");
}

#[test]
fn stop_daemon_lets_parked_hooks_go_and_no_daemon_comes_back() {
    let stage = stage(&[("journal", "1h")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || is_parked(&stage));
    let pid = daemon_pid(&stage).unwrap();
    assert!(run(&stage, &["stop-daemon"]).status.success());
    // Its seat is free a moment before its process is gone.
    wait_for("its end", || !is_alive(pid));
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

/// What `doctor` says of a check, with a level before it.
fn diagnosis(stage: &autofork::sim::Stage, check: &str) -> String {
    let output = run(stage, &["doctor", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = document["checks"].as_array().unwrap().iter().filter(|found| found["check"] == check);
    let lines =
        found.map(|found| format!("{}: {}", found["level"].as_str().unwrap(), found["found"].as_str().unwrap()));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn doctor_tells_hooks_that_were_never_heard_of_from_those_that_are_alive() {
    let stage = stage(&[("journal", "1h")]);
    assert_eq!(diagnosis(&stage, "hooks"), "note: no hook event has ever arrived");
    assert!(!stage.home().join("daemon.lock").exists(), "it starts no daemon");
    start_daemon(&stage);
    assert_eq!(diagnosis(&stage, "hooks"), "note: no hook event has ever arrived");
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let alive = diagnosis(&stage, "hooks");
    assert!(alive.starts_with("ok: last event ") && alive.ends_with("s ago"), "{alive}");
    assert!(diagnosis(&stage, "plugin").starts_with("ok: "), "its hooks report, so it is there");
    assert!(diagnosis(&stage, "socket").starts_with("ok: "));
    // The journal alone tells it too, of a session that is over and when no daemon is there.
    client.end().unwrap();
    assert!(diagnosis(&stage, "hooks").starts_with("ok: last event "));
    assert!(run(&stage, &["stop-daemon"]).status.success());
    assert!(diagnosis(&stage, "hooks").starts_with("ok: last event "));
    assert_eq!(diagnosis(&stage, "journal"), "ok: it can be read");
}

#[test]
fn doctor_tells_of_a_journal_that_is_newer_or_was_set_aside() {
    let stage = stage(&[]);
    let journal = stage.home().join("journal.db");
    std::fs::write(stage.home().join("journal.db.damaged-1"), "x").unwrap();
    std::fs::write(&journal, "this is no database at all, and long enough to be looked at").unwrap();
    let told = diagnosis(&stage, "journal");
    assert!(told.starts_with("problem: it cannot be read") && told.contains("\nnote: a damaged journal"), "{told}");
    let mut newer = vec![0; 100];
    newer[..16].copy_from_slice(b"SQLite format 3\0");
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&journal, newer).unwrap();
    let told = diagnosis(&stage, "journal");
    assert!(told.starts_with("problem: it was written by a newer autofork (format 99)"), "{told}");
    assert!(!run(&stage, &["doctor"]).status.success());
}

#[test]
fn prune_ends_sessions_whose_client_is_gone_and_says_what_it_did() {
    let stage = stage(&[]);
    let told = |arguments: &[&str]| {
        let output = run(&stage, arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(told(&["prune"]).starts_with("No daemon is running."));
    assert!(!stage.home().join("daemon.lock").exists(), "it starts none");
    start_daemon(&stage);
    assert_eq!(told(&["prune"]), "There is no session.\n");
    let (player, ()) = stage.start(std::process::Command::new("sleep").arg("60"), |_| ()).unwrap();
    let mut client = FakeClient::new(&stage, "s").with_pid(player.pid());
    client.start().unwrap();
    assert_eq!(told(&["prune"]), "Nothing to end: 1 session is there.\n");
    let mut wire = Wire::greeted(&stage);
    let started = json!({ "started": { "source": "startup", "window": "none" } });
    wire.say(&json!({ "fact": { "origin": origin(&stage, "t"), "fact": started } }));
    assert_eq!(wire.hear().unwrap(), "done");
    stage.signal(player, Signal::KILL);
    stage.wait(player, PATIENCE).unwrap();
    // The daemon may have noticed by itself; after this it has in any case.
    assert!(told(&["prune"]).contains("Left t in "));
    let left: serde_json::Value = serde_json::from_str(&told(&["prune", "--json"])).unwrap();
    assert_eq!(left["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(left["sessions"][0]["session"], "t");
    assert_eq!(left["sessions"][0]["verdict"], "unknown");
    assert_eq!(status(&stage)["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn logs_are_printed_and_followed() {
    let stage = stage(&[]);
    let output = run(&stage, &["logs"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    start_daemon(&stage);
    let output = run(&stage, &["logs", "-n", "1"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("started"), "{output:?}");
    let mut command = stage.command(&["logs", "--follow", "-n", "0"]);
    let (follower, stdout) =
        stage.start(command.stdout(Stdio::piped()), |child| child.stdout.take().unwrap()).unwrap();
    // Until it has looked once, what comes may count as what was there.
    std::thread::sleep(Duration::from_millis(500));
    assert!(run(&stage, &["stop-daemon"]).status.success());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    assert!(lines.next().unwrap().unwrap().contains("told to leave"));
    assert!(lines.next().unwrap().unwrap().contains("left"));
    stage.signal(follower, Signal::KILL);
}
