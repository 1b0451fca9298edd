//! Troubles that pass: a full disk, a journal that somebody locks, a machine that sleeps, a folder that is swept away.
//! Sessions notice nothing of them, `status` and `doctor` tell the truth meanwhile, and what was due comes afterwards.

use std::fs;
use std::time::Duration;

use autofork::sim::{FakeClient, HookAsked, Stage};
use rustix::process::Signal;

use crate::support::*;

/// What `status` and `doctor` say to a person.
fn told(stage: &Stage) -> [String; 2] {
    ["status", "doctor"].map(|command| String::from_utf8(run(stage, &[command]).stdout).unwrap())
}

#[test]
fn on_a_full_disk_sessions_stay_clean_nothing_fires_and_it_is_said_until_there_is_room() {
    let stage = stage(&[("journal", "1s")]);
    // A limit on the size of files that it may write is as good as a full disk, for those that grow.
    let limited = format!("trap '' XFSZ; ulimit -S -f 160; exec {} daemon", env!("CARGO_BIN_EXE_autofork"));
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &limited]).env_clear();
    for (name, value) in stage.command(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    let (daemon, ()) = stage.start(&mut command, |_| ()).unwrap();
    wait_for("the daemon", || Wire::open(&stage).is_some());
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let is_full = || told(&stage)[0].contains("The journal cannot be written");
    while !is_full() {
        assert_eq!(client.prompt("Go on.").unwrap(), silent());
    }
    let hook = turn(&mut client);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(stage.ended(hook.player()).unwrap(), None, "no wake goes out that is not on disk");
    for text in told(&stage) {
        assert!(
            text.contains("The journal cannot be written") && text.contains("no fork fires until it can"),
            "{text}"
        );
    }
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    let (came, went) = (log.matches("cannot be written").count(), log.matches("can be written again").count());
    assert_eq!(came, went + 1, "when it comes and when it goes, not with every event: {log}");

    // Room again.
    let pid = daemon.pid().to_string();
    let raised = std::process::Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status();
    assert!(raised.unwrap().success());
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1);
    assert!(!is_full());
    assert_eq!(stage.ended(daemon).unwrap(), None, "the same daemon all the time");
}

#[test]
fn while_somebody_locks_the_journal_nothing_fires_and_the_wake_comes_when_it_is_free() {
    let stage = stage(&[("journal", "1s")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || is_parked(&stage));
    let other = rusqlite::Connection::open(stage.home().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    wait_for("the trouble", || told(&stage).iter().all(|text| text.contains("The journal cannot be written")));
    assert_eq!(client.hook("subagent-stop", serde_json::json!({ "agent_id": "x" })).unwrap(), silent());
    assert_eq!(stage.ended(hook.player()).unwrap(), None);
    other.execute_batch("ROLLBACK").unwrap();
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1);
    client.prompt_with_wake(&wake).unwrap();
    let hook = client.stop(HookAsked::Yes).unwrap();
    assert!(client.await_stop(hook, Duration::from_secs(2)).unwrap().is_err(), "exactly one wake");
}

#[test]
fn no_ticket_is_redeemed_that_cannot_be_written_down() {
    let stage = stage(&[("journal", "0s")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    let call = client.calls_asked_for(&wake).remove(0);
    let other = rusqlite::Connection::open(stage.home().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = client.ask_about(&call).unwrap();
    assert!(answer.stdout.contains("deny") && answer.stdout.contains("journal cannot be written"), "{answer:?}");
    let doctor = run(&stage, &["doctor"]);
    let said = text(&doctor);
    assert!(doctor.status.code() == Some(1) && said.contains("forks fire again as soon as it has gone"), "{said}");
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_daemon_that_finds_its_journal_locked_starts_all_the_same_or_is_started_again() {
    let stage = stage(&[("journal", "0s")]);
    start_daemon(&stage);
    assert!(run(&stage, &["stop-daemon"]).status.success());
    let other = rusqlite::Connection::open(stage.home().join("journal.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    let hook = turn(&mut client);
    assert_eq!(stage.ended(hook.player()).unwrap(), None, "it tries on");
    other.execute_batch("ROLLBACK").unwrap();
    await_wake(&client, hook);
}

#[test]
fn a_machine_that_sleeps_over_a_deadline_fires_once_when_it_wakes_up() {
    let stage = stage(&[("journal", "2s")]);
    let daemon = start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || is_parked(&stage));
    stage.signal(daemon, Signal::STOP);
    // Hooks that are run meanwhile neither hang nor complain.
    let mut other = FakeClient::new(&stage, "other").with_pid(u32::MAX);
    assert_eq!(other.start().unwrap(), silent());
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(stage.ended(hook.player()).unwrap(), None);
    stage.signal(daemon, Signal::CONT);
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1);
    client.prompt_with_wake(&wake).unwrap();
    let hook = client.stop(HookAsked::Yes).unwrap();
    assert!(client.await_stop(hook, Duration::from_secs(2)).unwrap().is_err(), "exactly one wake");
    assert_eq!(daemon_pid(&stage).unwrap().as_raw_nonzero().get().cast_unsigned(), daemon.pid());
    assert_eq!(status(&stage)["sessions"].as_array().unwrap().len(), 2, "what was told meanwhile was heard");
}

#[test]
fn a_socket_whose_folder_is_swept_away_is_made_again_for_the_next_who_comes() {
    let stage = stage(&[("journal", "1h")]);
    let login = stage.root().join("run");
    fs::create_dir(&login).unwrap();
    let in_login = |arguments: &[&str]| {
        let mut command = stage.command(arguments);
        command.env("XDG_RUNTIME_DIR", &login).stdout(std::process::Stdio::piped());
        command
    };
    let (daemon, ()) = stage.start(&mut in_login(&["daemon"]), |_| ()).unwrap();
    let status = || {
        let output = in_login(&["status", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_default()
    };
    wait_for("the daemon", || status()["daemon"]["pid"] == daemon.pid());
    for swept in [login.join("autofork"), login.clone()] {
        fs::remove_dir_all(swept).unwrap();
        let payload = stage.root().join("payload.json");
        fs::write(&payload, serde_json::json!({ "session_id": "s", "cwd": stage.project() }).to_string()).unwrap();
        let mut hook = in_login(&["hook", "session-start"]);
        FakeClient::new(&stage, "s").environment(&mut hook);
        let output =
            hook.stdin(fs::File::open(&payload).unwrap()).stderr(std::process::Stdio::piped()).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
        let seen = status();
        assert_eq!(seen["daemon"]["pid"], daemon.pid(), "{seen}");
        assert_eq!(seen["sessions"][0]["session"], "s", "{seen}");
    }
}
