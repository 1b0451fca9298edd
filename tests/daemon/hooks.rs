//! Hooks: never noticed, whatever goes wrong.

use std::fs;
use std::time::{Duration, Instant};

use autofork::host::dirs::HOME_VARIABLE;
use autofork::sim::{FakeClient, HookAsked};
use serde_json::json;

use crate::support::*;

const EVENTS: [&str; 10] = [
    "session-start",
    "user-prompt-submit",
    "stop",
    "pre-tool-use",
    "post-tool-use",
    "post-tool-use-failure",
    "subagent-start",
    "subagent-stop",
    "session-end",
    "no-such-event",
];

#[test]
fn bad_input_goes_unnoticed() {
    let stage = stage(&[]);
    let client = FakeClient::new(&stage, "s");
    let huge = vec![b'x'; 10 * 1024 * 1024];
    let deep = "[".repeat(100_000);
    let whole = json!({ "session_id": "s", "cwd": stage.project(), "prompt_id": "p" }).to_string();
    let payloads: [&[u8]; 7] = [
        b"",
        b"{\"session_id\":\"s\",",
        b"not json \xff\xfe",
        &huge,
        deep.as_bytes(),
        b"[1,2]",
        b"{\"session_id\":7}",
    ];
    for event in EVENTS {
        for payload in payloads {
            let began = Instant::now();
            assert_eq!(client.hook_with(event, payload).unwrap(), silent(), "{event}");
            assert!(began.elapsed() < Duration::from_secs(1), "{event} took {:?}", began.elapsed());
        }
    }
    assert_eq!(client.hook_with("no-such-event", whole.as_bytes()).unwrap(), silent());
    assert!(!stage.home().join("daemon.sock").exists(), "nonsense starts no daemon");
}

#[test]
fn outside_of_an_interactive_session_nothing_happens() {
    let stage = stage(&[("journal", "0s")]);
    let payload = stage.root().join("payload.json");
    fs::write(&payload, json!({ "session_id": "s", "cwd": stage.project() }).to_string()).unwrap();
    for entrypoint in [None, Some("sdk-cli"), Some("")] {
        for event in EVENTS {
            let mut command = stage.command(&["hook", event]);
            command.stdin(fs::File::open(&payload).unwrap());
            if let Some(entrypoint) = entrypoint {
                command.env("CLAUDE_CODE_ENTRYPOINT", entrypoint);
            }
            let output = command.output().unwrap();
            assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{event}");
        }
    }
    assert!(!stage.home().join("daemon.sock").exists());
}

#[test]
fn a_call_without_a_ticket_and_the_end_of_a_session_start_no_daemon() {
    let stage = stage(&[]);
    let client = FakeClient::new(&stage, "s");
    let call = json!({
        "tool_name": "Agent",
        "tool_use_id": "toolu_1",
        "tool_input": { "subagent_type": "Explore", "description": "look", "prompt": "Look around." },
    });
    assert_eq!(client.hook("pre-tool-use", call).unwrap(), silent());
    assert_eq!(client.end().unwrap(), silent());
    assert!(!stage.home().join("daemon.lock").exists());
}

#[test]
fn where_no_daemon_can_start_the_session_goes_on_undisturbed() {
    let stage = stage(&[]);
    let payload = stage.root().join("payload.json");
    fs::write(&payload, json!({ "session_id": "s", "cwd": stage.project(), "prompt_id": "p" }).to_string()).unwrap();
    let file = stage.root().join("file");
    fs::write(&file, "").unwrap();
    let client = FakeClient::new(&stage, "s");
    for home in [file.join("below"), "/proc/nowhere".into(), file] {
        for event in ["session-start", "user-prompt-submit", "stop"] {
            let mut command = stage.command(&["hook", event]);
            client.environment(&mut command);
            command.env(HOME_VARIABLE, &home).stdin(fs::File::open(&payload).unwrap());
            let began = Instant::now();
            let output = command.output().unwrap();
            assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
            assert!(began.elapsed() < Duration::from_secs(2), "{event} took {:?}", began.elapsed());
        }
    }
}

#[test]
fn a_home_too_deep_for_a_socket_makes_no_hook_slow() {
    let stage = stage(&[]);
    let deep = stage.root().join("d".repeat(120));
    let payload = stage.root().join("payload.json");
    fs::write(&payload, json!({ "session_id": "s", "cwd": stage.project() }).to_string()).unwrap();
    let client = FakeClient::new(&stage, "s");
    for _ in 0..3 {
        let mut command = stage.command(&["hook", "session-start"]);
        client.environment(&mut command);
        command.env(HOME_VARIABLE, &deep).stdin(fs::File::open(&payload).unwrap());
        let began = Instant::now();
        assert!(command.output().unwrap().status.success());
        assert!(began.elapsed() < Duration::from_secs(1), "took {:?}", began.elapsed());
    }
    let output =
        stage.command(&["status", "--json"]).env(HOME_VARIABLE, &deep).stdout(std::process::Stdio::piped()).output();
    let status: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(status["sessions"][0]["session"], "s");
    assert!(stage.command(&["stop-daemon"]).env(HOME_VARIABLE, &deep).status().unwrap().success());
}

#[test]
fn a_fork_fires_its_ticket_is_redeemed_once_and_its_report_is_kept() {
    let stage = stage(&[("journal", "0s")]);
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    assert_eq!(client.prompt_with_wake(&wake).unwrap(), silent());
    let calls = client.calls_asked_for(&wake);
    assert_eq!(calls.len(), 1, "{wake}");

    let allowed = client.ask_about(&calls[0]).unwrap();
    assert!(allowed.stdout.contains("The body of journal."), "{allowed:?}");
    let again = autofork::sim::AgentCall { tool_use: "toolu_other".to_owned(), ..calls[0].clone() };
    let denied = client.ask_about(&again).unwrap();
    assert!(denied.stdout.contains("\"deny\""), "{denied:?}");
    client.launch(&calls[0], "agent-1").unwrap();
    let parked = client.stop(HookAsked::Yes).unwrap();
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    assert!(status(&stage)["sessions"][0]["wakes"][0]["runs"][0]["state"]["live"].is_object());

    client.finish(&calls[0], "agent-1", "All is written.").unwrap();
    assert_eq!(client.await_stop(parked, PATIENCE).unwrap().unwrap(), silent(), "a prompt lets the hook go");
    let parked = client.stop(HookAsked::No).unwrap();
    let parked = client.await_stop(parked, Duration::from_millis(500)).unwrap().expect_err("no second wake");
    let run = &status(&stage)["sessions"][0]["wakes"][0]["runs"][0]["state"]["ended"];
    assert_eq!(run["report"], "All is written.");
    assert_eq!(run["usage"]["tokens"], 1312);

    assert_eq!(client.end().unwrap(), silent());
    assert_eq!(client.await_stop(parked, PATIENCE).unwrap().unwrap(), silent());
    assert_eq!(status(&stage)["sessions"], json!([]));
}
