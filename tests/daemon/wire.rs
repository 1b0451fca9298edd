//! The wire: whatever a peer says, the daemon lives on.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use autofork::host::protocol::{MAX_FRAME, SHUTDOWN, is_shutdown};
use autofork::sim::FakeClient;
use serde_json::json;

use crate::support::*;

#[test]
fn nonsense_is_answered_or_ignored_and_costs_nobody_else() {
    let stage = stage(&[]);
    let daemon = start_daemon(&stage);
    for garbage in [&b"\n"[..], b"{}\n", b"\x00\xff\xfe\n", b"GET / HTTP/1.1\r\n\r\n", b"[[[[[[[[[[\n", b"half a li"]
    {
        let mut wire = Wire::open(&stage).unwrap();
        wire.say_raw(garbage);
    }
    let mut wire = Wire::greeted(&stage);
    for request in [json!({ "dance": {} }), json!("dance"), json!(7), json!({ "park": { "origin": {} } })] {
        wire.say(&request);
        let reply = wire.hear().unwrap();
        assert!(reply["failed"].is_string(), "{request}: {reply}");
    }
    wire.say(&json!("status"));
    assert!(wire.hear().unwrap()["status"].is_object(), "the connection is still good");

    let mut wire = Wire::greeted(&stage);
    wire.say_raw(&vec![b'x'; MAX_FRAME + 1000]);
    assert!(wire.hear().is_none_or(|reply| reply["failed"].is_string()));

    let mut wire = Wire::greeted(&stage);
    wire.say(&json!({ "fact": { "origin": origin(&stage, "s"), "fact": { "started": { "source": "startup", "window": "none" } } } }));
    assert_eq!(wire.hear().unwrap(), "done");
    assert_eq!(stage.ended(daemon).unwrap(), None);
}

#[test]
fn another_protocol_is_turned_away_with_a_reason() {
    let stage = stage(&[]);
    start_daemon(&stage);
    let mut wire = Wire::open(&stage).unwrap();
    wire.say(&json!({ "protocol": 99, "version": "99.0.0" }));
    assert_eq!(wire.hear().unwrap()["protocol"], 1, "the hello says what is spoken here");
    assert!(wire.hear().unwrap()["failed"].as_str().unwrap().contains("99"));
    assert!(wire.hear().is_none());
}

#[test]
fn the_shutdown_frame_sends_it_away_and_parked_hooks_find_the_next() {
    let stage = stage(&[("journal", "1h")]);
    let daemon = start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let _hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    let mut wire = Wire::open(&stage).unwrap();
    wire.say_raw(format!("{SHUTDOWN}\n").as_bytes());
    assert!(wire.hear().is_none());
    assert!(stage.wait(daemon, Duration::from_secs(1)).unwrap().expect("it leaves within a second").success());
    wait_for("the next daemon", || daemon_pid(&stage).is_some());
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
}

/// Plays a daemon of another version: answers every hello with `hello`, until it is told to leave. Returns whether it
/// was.
fn impostor(stage: &autofork::sim::Stage, hello: serde_json::Value) -> std::thread::JoinHandle<bool> {
    let path = stage.home().join("daemon.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(3) {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            if BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).is_err() {
                continue;
            }
            if is_shutdown(line.as_bytes()) {
                std::fs::remove_file(&path).unwrap();
                return true;
            }
            if line.contains("last word") {
                break;
            }
            let _ = writeln!(stream, "{hello}\n\"done\"");
        }
        let _ = std::fs::remove_file(&path);
        false
    })
}

#[test]
fn an_older_daemon_is_replaced() {
    let stage = stage(&[]);
    let old = impostor(&stage, json!({ "protocol": 1, "version": "0.0.1", "pid": 1 }));
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    assert!(old.join().unwrap(), "it was told to leave");
    assert_eq!(status(&stage)["sessions"][0]["session"], "s");
}

#[test]
fn a_newer_daemon_of_another_protocol_is_left_alone() {
    let stage = stage(&[]);
    let new = impostor(&stage, json!({ "protocol": 99, "version": "99.0.0", "pid": 1 }));
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    let output = run(&stage, &["status"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another version: 99.0.0"), "{output:?}");
    Wire::open(&stage).unwrap().say_raw(b"last word\n");
    assert!(!new.join().unwrap(), "it was not told to leave");
}

#[test]
fn a_thousand_connections_are_no_trouble() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let stage = stage(&[("journal", "1h")]);
    start_daemon(&stage);
    let mut idle: Vec<Wire> = (0..500).map(|_| Wire::open(&stage).unwrap()).collect();
    let mut parked: Vec<Wire> = (0..500)
        .map(|number| {
            let mut wire = Wire::greeted(&stage);
            wire.say(&park(&stage, &format!("s{number}"), 1));
            wire
        })
        .collect();
    wait_for("all of them", || {
        let sessions = status(&stage)["sessions"].as_array().unwrap().clone();
        sessions.iter().filter(|session| session["standing"]["parked"].is_object()).count() == 500
    });
    idle.clear();
    parked.clear();
    wait_for("their end", || {
        let sessions = status(&stage)["sessions"].as_array().unwrap().clone();
        sessions.iter().all(|session| session["standing"]["unparked"].is_object())
    });
}

/// Plays a daemon that never leaves: says `greeting` to everybody who speaks, and then nothing more.
fn stubborn(stage: &autofork::sim::Stage, greeting: String) {
    let listener = UnixListener::bind(stage.home().join("daemon.sock")).unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.write_all(greeting.as_bytes());
            held.push(stream);
        }
    });
}

#[test]
fn a_session_start_never_waits_for_a_daemon_that_will_not_leave_or_answer() {
    let old = format!("{}\n", json!({ "protocol": 1, "version": "0.0.1", "pid": 1 }));
    for greeting in [old, String::new()] {
        let stage = stage(&[]);
        stubborn(&stage, greeting.clone());
        let mut client = FakeClient::new(&stage, "s");
        let began = std::time::Instant::now();
        assert_eq!(client.start().unwrap(), silent(), "{greeting:?}");
        // The client's own limit for this hook is 10 s; a busy machine is slow.
        assert!(began.elapsed() < Duration::from_secs(6), "{greeting:?} took {:?}", began.elapsed());
        let hooks = run(&stage, &["doctor", "--json"]);
        let told: serde_json::Value = serde_json::from_slice(&hooks.stdout).unwrap();
        let daemon = told["checks"].as_array().unwrap().iter().find(|found| found["check"] == "daemon").unwrap();
        assert_ne!(daemon["level"], "ok", "{daemon}");
    }
}

#[test]
fn a_transcript_that_is_written_late_is_looked_at_again() {
    let stage = stage(&[]);
    let fork = "---\nfork: true\nrun_on:\n  - context_tokens: 50000\n---\nGo deep.\n";
    fs::write(stage.project().join(".autofork/forks/deep.md"), fork).unwrap();
    let transcript = stage.root().join("s.jsonl");
    let record = |tokens: u64| {
        let message = json!({ "id": "m", "model": "a-model", "usage": { "input_tokens": tokens } });
        format!("{}\n", json!({ "type": "assistant", "message": message }))
    };
    fs::write(&transcript, record(10)).unwrap();
    let _daemon = start_daemon(&stage);
    let parked = |turn| {
        let mut request = park(&stage, "s", turn);
        request["park"]["origin"]["transcript"] = json!(transcript);
        request
    };
    let mut wire = Wire::greeted(&stage);
    wire.say(&parked(1));
    wait_for("the session", || status(&stage)["sessions"][0]["forks"][0]["fork"] == "deep");
    // What is known of a session before its first turn's end is not the gauge: that is read for a session.
    let mut wire = Wire::greeted(&stage);
    wire.say(&parked(2));
    let reading = || status(&stage)["sessions"][0]["forks"][0]["reasons"][0]["below_threshold"]["tokens"].clone();
    wait_for("the turn's reading", || reading() == 10);
    fs::write(&transcript, record(10) + &record(60_000)).unwrap();
    let wake = wire.hear().unwrap();
    assert_eq!(wake["wake"]["forks"][0]["fork"], "deep", "{wake}");
}
