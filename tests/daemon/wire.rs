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

#[test]
fn what_a_hook_had_to_tell_is_heard_even_if_it_has_gone_before_it_was_greeted() {
    let stage = stage(&[]);
    let daemon = start_daemon(&stage);
    stage.signal(daemon, rustix::process::Signal::STOP);
    for number in 0..20 {
        let mut wire = Wire::open(&stage).unwrap();
        wire.say(&json!({ "protocol": 1, "version": env!("CARGO_PKG_VERSION") }));
        let started = json!({ "started": { "source": "startup", "window": "none" } });
        wire.say(&json!({ "fact": { "origin": origin(&stage, &format!("s{number}")), "fact": started } }));
    }
    stage.signal(daemon, rustix::process::Signal::CONT);
    wait_for("all sessions", || status(&stage)["sessions"].as_array().unwrap().len() == 20);
    assert_eq!(stage.ended(daemon).unwrap(), None);
}

#[test]
fn the_longest_body_there_can_be_comes_through_and_a_long_description_comes_short() {
    let stage = stage(&[]);
    // JSON writes each of these with six bytes.
    let body = "\u{1}".repeat(1_000_000);
    let description = "wordy ".repeat(1000);
    let text = format!("---\nfork: true\ndescription: {description}\nrun_on:\n  - idle: 0s\n---\n{body}");
    fs::write(stage.project().join(".autofork/forks/long.md"), text).unwrap();
    let mut client = FakeClient::new(&stage, "s");
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    assert!(wake.len() < 2000, "{} bytes", wake.len());
    let allowed = client.ask_about(&client.calls_asked_for(&wake)[0]).unwrap();
    assert!(allowed.stdout.len() > 6_000_000);
    let answer: serde_json::Value = serde_json::from_str(&allowed.stdout).unwrap();
    let prompt = answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap();
    assert!(prompt.contains(&body), "verbatim");
}

#[test]
fn many_notifications_in_one_prompt_end_many_runs() {
    let names: Vec<String> = (0..8).map(|number| format!("fork-{number}")).collect();
    let forks: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "0s")).collect();
    let stage = stage(&forks);
    let mut client = FakeClient::new(&stage, "s");
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    client.prompt_with_wake(&wake).unwrap();
    let mut notices = Vec::new();
    for (number, call) in client.calls_asked_for(&wake).iter().enumerate() {
        assert!(client.ask_about(call).unwrap().stdout.contains("The body of"));
        client.launch(call, &format!("agent-{number}")).unwrap();
        notices.push(format!(
            "<task-notification>\n<task-id>agent-{number}</task-id>\n<status>completed</status>\n\
             <summary>Agent finished</summary>\n<result>Report {number}.</result>\n</task-notification>"
        ));
    }
    client.prompt(&notices.join("\n")).unwrap();
    let told = status(&stage);
    let runs = told["sessions"][0]["wakes"][0]["runs"].as_array().unwrap();
    let mut reports: Vec<&str> = runs.iter().map(|run| run["state"]["ended"]["report"].as_str().unwrap()).collect();
    reports.sort_unstable();
    assert_eq!(reports, (0..8).map(|number| format!("Report {number}.")).collect::<Vec<_>>());
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
