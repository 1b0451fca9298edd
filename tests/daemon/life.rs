//! The daemon's life: the only one of its kind, for its user alone, gone when nobody needs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use autofork::sim::{FakeClient, Player};

use crate::support::*;

#[test]
fn thirty_that_start_at_once_become_one() {
    let stage = stage(&[]);
    let started: Vec<Player> =
        (0..30).map(|_| stage.start(&mut stage.command(&["daemon"]), |_| ()).unwrap().0).collect();
    wait_for("a daemon", || daemon_pid(&stage).is_some());
    let pid = daemon_pid(&stage).unwrap();
    for player in started {
        if i32::try_from(player.pid()).unwrap() == pid.as_raw_nonzero().get() {
            continue;
        }
        let status = stage.wait(player, PATIENCE).unwrap().expect("it gives way");
        assert!(status.success(), "{status}");
    }
    assert_eq!(daemon_pid(&stage), Some(pid));
}

#[test]
fn thirty_hooks_that_find_none_start_one() {
    let stage = stage(&[]);
    std::thread::scope(|scope| {
        for number in 0..30 {
            let stage = &stage;
            scope.spawn(move || {
                let mut client = FakeClient::new(stage, &format!("s{number}")).with_pid(number + 1);
                assert_eq!(client.start().unwrap(), silent());
            });
        }
    });
    assert_eq!(status(&stage)["sessions"].as_array().unwrap().len(), 30);
    let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches("started").count(), 1, "{log}");
}

#[test]
fn what_it_makes_is_for_nobody_else() {
    let stage = stage(&[("journal", "0s")]);
    fs::set_permissions(stage.home(), fs::Permissions::from_mode(0o755)).unwrap();
    start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    let hook = turn(&mut client);
    await_wake(&client, hook);
    let mode = |path: &std::path::Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stage.home()), 0o700);
    let mut seen = Vec::new();
    for entry in fs::read_dir(stage.home()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name != "config.toml" {
            assert_eq!(mode(&path), 0o600, "{name}");
            seen.push(name);
        }
    }
    for name in ["daemon.lock", "daemon.log", "daemon.sock", "journal.db", "journal.db-wal"] {
        assert!(seen.iter().any(|seen| seen == name), "{name} is not there: {seen:?}");
    }
}

#[test]
fn it_leaves_when_nobody_needs_it_and_not_before() {
    let stage = stage(&[]);
    configure(&stage, "quiet_period = \"1s\"\n");
    let daemon = start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    assert_eq!(stage.wait(daemon, Duration::from_secs(2)).unwrap(), None, "a session needs it");
    client.end().unwrap();
    assert!(stage.wait(daemon, PATIENCE).unwrap().expect("it leaves").success());
    assert!(!stage.home().join("daemon.sock").exists());
}

#[test]
fn a_signal_ends_it_cleanly_and_the_next_one_goes_on_where_it_left() {
    let stage = stage(&[("journal", "1h")]);
    let daemon = start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let before = status(&stage);
    stage.signal(daemon, rustix::process::Signal::TERM);
    assert!(stage.wait(daemon, PATIENCE).unwrap().expect("it leaves").success());
    assert!(!stage.home().join("daemon.sock").exists());
    assert!(!stage.home().join("journal.db-wal").exists(), "the journal was closed");
    start_daemon(&stage);
    let after = status(&stage);
    assert_eq!(after["sessions"][0]["began"], before["sessions"][0]["began"]);
}

#[test]
fn a_stale_socket_and_a_damaged_journal_do_not_keep_it_from_starting() {
    let stage = stage(&[]);
    drop(std::os::unix::net::UnixListener::bind(stage.home().join("daemon.sock")).unwrap());
    fs::write(stage.home().join("journal.db"), "no database at all, and never was one").unwrap();
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    let status = status(&stage);
    assert_eq!(status["sessions"][0]["session"], "s");
    assert!(status["daemon"]["notes"][0].as_str().unwrap().contains("damaged"), "{status}");
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone_and_said_so() {
    let stage = stage(&[]);
    let path = stage.home().join("journal.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 77).unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    assert_eq!(fs::read(&path).unwrap(), before);
    let output = run(&stage, &["status"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("newer autofork (format 77)"), "{output:?}");
    let output = run(&stage, &["daemon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("newer version"), "{output:?}");
}

#[test]
fn forks_are_read_again_before_they_fire() {
    let stage = stage(&[("journal", "1s"), ("other", "1s")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    fs::remove_file(stage.project().join(".autofork/forks/other.md")).unwrap();
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1, "{wake}");
}

#[test]
fn the_end_of_a_client_ends_its_session_even_in_the_middle_of_a_turn() {
    let stage = stage(&[]);
    let mut command = std::process::Command::new("sleep");
    let (player, ()) = stage.start(command.arg("60"), |_| ()).unwrap();
    let mut client = FakeClient::new(&stage, "s").with_pid(player.pid());
    client.start().unwrap();
    client.prompt("Go on.").unwrap();
    assert!(status(&stage)["sessions"][0]["standing"]["mid_turn"].is_object());
    stage.signal(player, rustix::process::Signal::KILL);
    wait_for("the end of the session", || status(&stage)["sessions"] == serde_json::json!([]));

    // One that ends while no daemon is there to see it.
    let (player, ()) = stage.start(&mut command, |_| ()).unwrap();
    let mut client = FakeClient::new(&stage, "t").with_pid(player.pid());
    client.start().unwrap();
    assert_eq!(status(&stage)["sessions"][0]["session"], "t");
    kill(daemon_pid(&stage).unwrap());
    stage.signal(player, rustix::process::Signal::KILL);
    stage.wait(player, PATIENCE).unwrap();
    start_daemon(&stage);
    wait_for("the end of the session", || status(&stage)["sessions"] == serde_json::json!([]));
}

#[test]
fn a_hook_that_outlives_its_client_is_let_go_and_one_that_dies_before_its_client_ends_nothing() {
    let stage = stage(&[("journal", "1h")]);
    let mut command = std::process::Command::new("sleep");
    let (player, ()) = stage.start(command.arg("60"), |_| ()).unwrap();
    let mut client = FakeClient::new(&stage, "s").with_pid(player.pid());
    client.start().unwrap();
    // The client ends a hook at its time limit.
    let hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    stage.signal(hook.player(), rustix::process::Signal::TERM);
    wait_for("its loss", || status(&stage)["sessions"][0]["standing"]["unparked"].is_object());
    let hook = turn(&mut client);
    wait_for("the next one", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    // And now it is killed itself, and its hook stays behind.
    stage.signal(player, rustix::process::Signal::KILL);
    assert_eq!(client.await_stop(hook, PATIENCE).unwrap().unwrap(), silent());
    assert_eq!(status(&stage)["sessions"], serde_json::json!([]));
}

#[test]
fn a_session_that_a_client_begins_in_place_of_another_ends_that() {
    let stage = stage(&[("journal", "1h")]);
    let mut phantom = FakeClient::new(&stage, "phantom");
    phantom.start().unwrap();
    let mut real = FakeClient::new(&stage, "real");
    real.start().unwrap();
    let told = status(&stage);
    let sessions = told["sessions"].as_array().unwrap();
    assert_eq!(sessions.iter().map(|session| &session["session"]).collect::<Vec<_>>(), ["real"], "{told}");
}

#[test]
fn a_socket_in_the_logins_own_folder_is_found_from_another_login_too() {
    let stage = stage(&[]);
    let login = stage.root().join("run");
    fs::create_dir(&login).unwrap();
    let client = FakeClient::new(&stage, "s");
    let payload = stage.root().join("payload.json");
    let fields = serde_json::json!({ "session_id": "s", "cwd": stage.project() });
    fs::write(&payload, fields.to_string()).unwrap();
    let mut command = stage.command(&["hook", "session-start"]);
    client.environment(&mut command);
    command.env("XDG_RUNTIME_DIR", &login).stdin(fs::File::open(&payload).unwrap());
    assert!(command.status().unwrap().success());
    let folder = login.join("autofork");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let sockets: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(sockets.len(), 1);
    assert_eq!(fs::metadata(&sockets[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!stage.home().join("daemon.sock").exists());
    // Without the variable, as from another login.
    assert_eq!(status(&stage)["sessions"][0]["session"], "s");
    let mut other = FakeClient::new(&stage, "t").with_pid(1);
    assert_eq!(other.start().unwrap(), silent());
    assert_eq!(status(&stage)["sessions"].as_array().unwrap().len(), 2);
    assert!(run(&stage, &["stop-daemon"]).status.success());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_daemon_with_few_files_lets_those_wait_that_it_has_no_room_for() {
    let stage = stage(&[("journal", "1h")]);
    let limited = format!("ulimit -n 96 && exec {} daemon", env!("CARGO_BIN_EXE_autofork"));
    let mut command = std::process::Command::new("sh");
    let plain = stage.command(&[]);
    command.args(["-c", &limited]).env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    let (daemon, ()) = stage.start(&mut command, |_| ()).unwrap();
    wait_for("the daemon", || Wire::open(&stage).is_some());
    let crowd: Vec<Wire> = (0..60).map(|_| Wire::open(&stage).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(stage.ended(daemon).unwrap(), None);
    let cpu = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = cpu(daemon.pid());
    std::thread::sleep(Duration::from_millis(500));
    assert!(cpu(daemon.pid()) - before < 10, "it does not spin");
    drop(crowd);
    wait_for("an answer", || status(&stage)["daemon"].is_object());
}
