//! What is taken away from under a daemon, or put in its way: its socket, its lock, its journal, links and pipes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use autofork::sim::{FakeClient, HookAsked, Stage, StopHook};
use serde_json::Value;

use crate::support::*;

/// A session with a hook that is parked.
fn parked<'a>(stage: &'a Stage, session: &str) -> (FakeClient<'a>, StopHook) {
    let mut client = FakeClient::new(stage, session);
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || is_parked(stage));
    (client, hook)
}

/// The wake that comes, and that no other one does in the same pause.
fn await_the_only_wake(client: &mut FakeClient<'_>, hook: StopHook) {
    let wake = await_wake(client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1);
    client.prompt_with_wake(&wake).unwrap();
    let hook = client.stop(HookAsked::Yes).unwrap();
    assert!(client.await_stop(hook, std::time::Duration::from_secs(2)).unwrap().is_err(), "exactly one wake");
}

fn notes(status: &Value) -> String {
    status["daemon"]["notes"].to_string()
}

#[test]
fn a_daemon_whose_socket_is_gone_makes_another_when_somebody_looks_for_it() {
    let stage = stage(&[("journal", "8s")]);
    let socket = stage.home().join("daemon.sock");
    let (mut client, hook) = parked(&stage, "s");
    let first = daemon_pid(&stage).unwrap();

    fs::remove_file(&socket).unwrap();
    let seen = status(&stage);
    assert_eq!(seen["daemon"]["pid"], first.as_raw_nonzero().get(), "whoever asks for it finds it");

    fs::remove_file(&socket).unwrap();
    assert!(run(&stage, &["daemon"]).status.success(), "a newcomer has the first one show itself, and gives way");
    assert_eq!(daemon_pid(&stage), Some(first));

    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "in the way").unwrap();
    let seen = run(&stage, &["status"]);
    assert!(text(&seen).contains("a daemon is running (process"), "{seen:?}");
    let stopped = run(&stage, &["stop-daemon"]);
    assert!(!stopped.status.success() && text(&stopped).contains("does not answer"), "{stopped:?}");
    fs::remove_file(&socket).unwrap();

    let mut other = FakeClient::new(&stage, "other").with_pid(7);
    assert_eq!(other.start().unwrap(), silent());
    assert_eq!(daemon_pid(&stage), Some(first));
    await_the_only_wake(&mut client, hook);
    fs::remove_file(&socket).unwrap();
    assert!(text(&run(&stage, &["stop-daemon"])).contains("has left"));
    // Its seat is free a moment before its process is gone.
    wait_for("its end", || !is_alive(first));
}

#[test]
fn a_daemon_whose_lock_and_socket_were_removed_leaves_to_the_next_and_nothing_fires_twice() {
    let stage = stage(&[("journal", "4s")]);
    let (mut client, hook) = parked(&stage, "s");
    let first = daemon_pid(&stage).unwrap();
    fs::remove_file(stage.home().join("daemon.lock")).unwrap();
    fs::remove_file(stage.home().join("daemon.sock")).unwrap();
    let second = start_daemon(&stage);
    wait_for("the end of the first", || !is_alive(first));
    assert!(stage.home().join("daemon.sock").exists(), "it left the other one's socket alone");
    wait_for("the hook, parked at the second", || is_parked(&stage));
    await_the_only_wake(&mut client, hook);
    assert_eq!(daemon_pid(&stage).unwrap().as_raw_nonzero().get().cast_unsigned(), second.pid());
}

#[test]
fn a_daemon_whose_lock_and_journal_were_removed_leaves_as_soon_as_there_is_another() {
    let stage = stage(&[("journal", "1h")]);
    let (_client, hook) = parked(&stage, "s");
    let first = daemon_pid(&stage).unwrap();
    for name in ["daemon.lock", "journal.db", "journal.db-wal", "journal.db-shm"] {
        fs::remove_file(stage.home().join(name)).unwrap();
    }
    let second = start_daemon(&stage);
    wait_for("the end of the first, to which nothing happens", || !is_alive(first));
    wait_for("the hook, parked at the second", || is_parked(&stage));
    assert_eq!(stage.ended(hook.player()).unwrap(), None);
    assert_eq!(daemon_pid(&stage).unwrap().as_raw_nonzero().get().cast_unsigned(), second.pid());
}

#[test]
fn a_daemon_whose_lock_was_removed_sends_no_wake_and_the_next_one_does() {
    let stage = stage(&[("journal", "1s")]);
    let (mut client, hook) = parked(&stage, "s");
    let first = daemon_pid(&stage).unwrap();
    fs::remove_file(stage.home().join("daemon.lock")).unwrap();
    await_the_only_wake(&mut client, hook);
    assert_ne!(daemon_pid(&stage), Some(first));
    assert!(!is_alive(first));
}

#[test]
fn a_journal_that_is_removed_under_a_daemon_is_begun_anew_and_nothing_is_forgotten() {
    let stage = stage(&[("journal", "1s")]);
    let (mut client, hook) = parked(&stage, "s");
    let before = status(&stage);
    fs::remove_file(stage.home().join("journal.db")).unwrap();
    await_the_only_wake(&mut client, hook);
    assert!(notes(&status(&stage)).contains("journal was removed"), "{}", status(&stage));
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches("journal was removed").count(), 1, "{log}");
    let first = daemon_pid(&stage).unwrap();
    kill(first);
    wait_for("its end", || !is_alive(first));
    start_daemon(&stage);
    let after = status(&stage);
    assert_eq!(after["sessions"][0]["began"], before["sessions"][0]["began"], "{after}");
    assert_eq!(after["sessions"][0]["wakes"].as_array().unwrap().len(), 1, "{after}");
}

#[test]
fn a_folder_for_the_socket_that_is_a_link_is_not_used_and_clients_find_the_socket_elsewhere() {
    let stage = stage(&[]);
    let (runtime, elsewhere) = (stage.root().join("run"), stage.root().join("elsewhere"));
    fs::create_dir(&runtime).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, runtime.join("autofork")).unwrap();
    let led_there = |arguments: &[&str]| {
        let mut command = stage.command(arguments);
        command.env("XDG_RUNTIME_DIR", &runtime).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    stage.start(&mut led_there(&["daemon"]), |_| ()).unwrap();
    wait_for("the daemon, in the base folder", || Wire::open(&stage).is_some());
    let output = led_there(&["status", "--json"]).output().unwrap();
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(notes(&seen).contains("it is in the base folder"), "{seen}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(led_there(&["stop-daemon"]).status().unwrap().success());
}

#[test]
fn links_and_pipes_at_the_names_of_its_files_are_not_followed_and_said() {
    let stage = stage(&[]);
    let target = stage.root().join("target");
    fs::write(&target, "of somebody").unwrap();
    for name in ["daemon.lock", "journal.db"] {
        let path = stage.home().join(name);
        for is_link in [true, false] {
            if is_link {
                symlink(&target, &path).unwrap();
            } else {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            }
            let output = run(&stage, &["daemon"]);
            assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
            let seen = text(&run(&stage, &["status"]));
            assert!(seen.contains("It cannot start") && seen.contains(name), "{seen}");
            fs::remove_file(&path).unwrap();
        }
    }
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches("ERROR").count(), 4, "{log}");

    let log = stage.home().join("daemon.log");
    fs::remove_file(&log).unwrap();
    symlink(&target, &log).unwrap();
    start_daemon(&stage);
    assert!(notes(&status(&stage)).contains("There is no log"), "{}", status(&stage));
    assert_eq!(fs::read(&target).unwrap(), b"of somebody");
}
