//! Who is kept out: another user of the machine, another session, and text that would play tricks on a terminal.
//!
//! Only root can play another user. Elsewhere those tests say that they are skipped; one who is not root has the same
//! things tested for the modes of files in `life.rs`.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use autofork::sim::{AgentCall, FakeClient, Stage};
use serde_json::{Value, json};

use crate::support::*;

/// The user and the group that everybody calls `nobody`.
const STRANGER: u32 = 65534;

const NAMES: [&str; 5] = ["daemon.lock", "daemon.log", "daemon.sock", "journal.db", "journal.db-wal"];

fn can_play_another_user() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        let _ = writeln!(std::io::stderr(), "skipped: only root can play another user");
    }
    is_root
}

fn give_to_stranger(path: &Path) {
    chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A stage that others can enter, as they can enter most homes.
fn open_stage(forks: &[(&str, &str)]) -> Stage {
    let stage = stage(forks);
    set_mode(stage.root(), 0o755);
    stage
}

/// This test program as another user, who tries `what` with the base folder.
fn stranger(stage: &Stage, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "strangers::what_another_user_does", "--nocapture"])
        .env("AUTOFORK_TEST_STRANGER", what)
        .env("AUTOFORK_TEST_HOME", stage.home())
        .current_dir("/")
        .uid(STRANGER)
        .gid(STRANGER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the other user got, until told to go.
fn told_to_go(mut stranger: Child) -> Vec<String> {
    drop(stranger.stdin.take());
    let output = stranger.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("I tried"), "{shown}");
    shown.lines().filter_map(|line| line.strip_prefix("got: ")).map(str::to_owned).collect()
}

#[test]
#[ignore = "the part of another user, played for the tests below"]
fn what_another_user_does() {
    let Some(home) = std::env::var_os("AUTOFORK_TEST_HOME") else { return };
    let home = Path::new(&home);
    match std::env::var("AUTOFORK_TEST_STRANGER").as_deref() {
        Ok("intrude") => intrude(home),
        Ok("listen") => listen(&home.join("daemon.sock")),
        _ => {}
    }
    println!("\nI tried");
}

fn got(what: &str) {
    println!("\ngot: {what}");
}

fn intrude(home: &Path) {
    if fs::read_dir(home).is_ok() {
        got("list");
    }
    for name in NAMES {
        let path = home.join(name);
        if fs::read(&path).is_ok() {
            got(&format!("read {name}"));
        }
        if OpenOptions::new().append(true).open(&path).is_ok_and(|mut file| file.write_all(b"x").is_ok()) {
            got(&format!("write {name}"));
        }
        if fs::rename(&path, home.join("stolen")).is_ok() || fs::remove_file(&path).is_ok() {
            got(&format!("take {name}"));
        }
    }
    if symlink("/etc/passwd", home.join("daemon.log.1")).is_ok() || UnixListener::bind(home.join("mine")).is_ok() {
        got("make something");
    }
    if let Ok(mut stream) = UnixStream::connect(home.join("daemon.sock")) {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let hello = json!({ "protocol": 1, "version": env!("CARGO_PKG_VERSION") });
        let _ = stream.write_all(format!("{hello}\n\"status\"\n").as_bytes());
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said);
        got(&format!("connect, and heard {said:?}"));
    }
}

fn listen(socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    set_mode(socket, 0o666);
    got("listen");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut line = String::new();
            let _ = BufReader::new(stream).read_line(&mut line);
            got(&format!("heard {line:?}"));
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

#[test]
fn no_state_is_readable_by_others() {
    if !can_play_another_user() {
        return;
    }
    let stage = open_stage(&[("journal", "0s")]);
    start_daemon(&stage);
    let mut client = FakeClient::new(&stage, "s");
    let hook = turn(&mut client);
    await_wake(&client, hook);
    assert_eq!(told_to_go(stranger(&stage, "intrude")), [""; 0]);

    // The folder opened by mistake, and the socket too: each file is closed for itself, and the daemon looks who comes.
    set_mode(&stage.home(), 0o755);
    set_mode(&stage.home().join("daemon.sock"), 0o666);
    assert_eq!(told_to_go(stranger(&stage, "intrude")), ["list", "connect, and heard \"\""]);
    let told = status(&stage);
    assert_eq!(told["daemon"]["notes"], json!(["Another user came to the socket, and was turned away."]));
    assert_eq!(told["sessions"][0]["session"], "s", "and everything goes on");

    assert!(run(&stage, &["stop-daemon"]).status.success());
    start_daemon(&stage);
    assert_eq!(fs::metadata(stage.home()).unwrap().permissions().mode() & 0o777, 0o700, "closed again");
}

#[test]
fn a_stranger_who_listens_in_the_daemons_place_is_told_nothing() {
    if !can_play_another_user() {
        return;
    }
    let stage = open_stage(&[]);
    set_mode(&stage.home(), 0o777);
    let listening = stranger(&stage, "listen");
    wait_for("the stranger's socket", || UnixStream::connect(stage.home().join("daemon.sock")).is_ok());
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    assert_eq!(client.prompt("A secret.").unwrap(), silent());
    for command in ["status", "prune", "stop-daemon"] {
        let output = run(&stage, &[command]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("another user listens"), "{command}: {output:?}");
    }
    let doctor = String::from_utf8(run(&stage, &["doctor"]).stdout).unwrap();
    assert!(doctor.contains("another user listens") || doctor.contains("belongs to another user"), "{doctor}");
    let got = told_to_go(listening);
    assert!(got.iter().all(|got| got == "listen" || got == "heard \"\""), "{got:?}");
}

#[test]
fn what_a_stranger_has_made_beforehand_is_not_used_and_that_is_said() {
    if !can_play_another_user() {
        return;
    }
    let stage = open_stage(&[]);
    for name in ["daemon.lock", "journal.db"] {
        let path = stage.home().join(name);
        fs::write(&path, "").unwrap();
        give_to_stranger(&path);
        let mut client = FakeClient::new(&stage, "s");
        assert_eq!(client.start().unwrap(), silent());
        let said = String::from_utf8(run(&stage, &["status"]).stdout).unwrap();
        assert!(said.contains("It cannot start") && said.contains("it belongs to another user"), "{name}: {said}");
        assert_eq!(fs::read(&path).unwrap(), b"", "{name}");
        assert!(!run(&stage, &["doctor"]).status.success());
        fs::remove_file(&path).unwrap();
    }
    let log = stage.home().join("daemon.log");
    fs::write(&log, "").unwrap();
    give_to_stranger(&log);
    start_daemon(&stage);
    assert!(status(&stage)["daemon"]["notes"][0].as_str().unwrap().contains("belongs to another user"));
    assert_eq!(fs::read(&log).unwrap(), b"");
    assert!(run(&stage, &["stop-daemon"]).status.success());

    // The folder for sockets of the login.
    let login = stage.root().join("run");
    fs::create_dir_all(login.join("autofork")).unwrap();
    for place in [login.join("autofork"), login.clone()] {
        give_to_stranger(&place);
        let mut daemon = stage.command(&["daemon"]);
        let (daemon, ()) = stage.start(daemon.env("XDG_RUNTIME_DIR", &login), |_| ()).unwrap();
        wait_for("the daemon, at a place of our own", || Wire::open(&stage).is_some());
        assert_eq!(fs::read_dir(login.join("autofork")).unwrap().count(), 0);
        stage.signal(daemon, rustix::process::Signal::TERM);
        stage.wait(daemon, PATIENCE).unwrap().expect("it leaves");
    }

    // The base folder as a whole.
    fs::remove_dir_all(stage.home()).unwrap();
    fs::create_dir(stage.home()).unwrap();
    give_to_stranger(&stage.home());
    let mut client = FakeClient::new(&stage, "s");
    assert_eq!(client.start().unwrap(), silent());
    assert_eq!(fs::read_dir(stage.home()).unwrap().count(), 0);
    let refused = run(&stage, &["daemon"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("belongs to another user"), "{refused:?}");
    let said = String::from_utf8(run(&stage, &["status"]).stdout).unwrap();
    assert!(said.contains("is not a folder of yours"), "{said}");
}

/// Only where modes hold somebody back: they hold nothing back from root.
#[test]
fn in_a_home_that_cannot_be_written_to_sessions_stay_clean_and_status_and_doctor_say_why() {
    if !can_play_another_user() {
        return;
    }
    let stage = open_stage(&[]);
    for place in [stage.root().to_owned(), stage.home()] {
        give_to_stranger(&place);
    }
    let payload = stage.root().join("payload.json");
    fs::write(&payload, json!({ "session_id": "s", "cwd": stage.project(), "prompt_id": "p" }).to_string()).unwrap();
    set_mode(&payload, 0o644);
    let is_theirs = |arguments: &[&str]| {
        let mut command = stage.command(arguments);
        FakeClient::new(&stage, "s").environment(&mut command);
        command.uid(STRANGER).gid(STRANGER).current_dir("/").stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(fs::File::open(&payload).unwrap()).output().unwrap()
    };
    let is_silent = |output: &std::process::Output| {
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty()
    };
    // The base folder; and the home in which it would have to be made.
    for is_made in [true, false] {
        if is_made {
            set_mode(&stage.home(), 0o500);
        } else {
            fs::remove_dir_all(stage.home()).unwrap();
            set_mode(stage.root(), 0o555);
        }
        for event in ["session-start", "user-prompt-submit", "session-end"] {
            let output = is_theirs(&["hook", event]);
            assert!(is_silent(&output), "{event}: {output:?}");
        }
        let said = String::from_utf8(is_theirs(&["status"]).stdout).unwrap();
        assert!(said.contains("It cannot start") && said.contains("cannot be written to"), "{said}");
        let doctor = is_theirs(&["doctor"]);
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(!doctor.status.success() && said.contains("base-folder"), "{said}");
        assert!(said.contains("cannot be written to") || said.contains("cannot be used"), "{said}");
    }
    set_mode(stage.root(), 0o755);
}

#[test]
fn a_ticket_is_of_no_use_in_another_session_nor_inside_a_subagent_and_stays_good() {
    let stage = stage(&[("journal", "0s")]);
    let mut client = FakeClient::new(&stage, "s").with_pid(u32::MAX);
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    let call = client.calls_asked_for(&wake).remove(0);
    let is_denied = |finished: autofork::sim::Finished| {
        finished.code == Some(0) && finished.stdout.contains("\"deny\"") && !finished.stdout.contains("The body")
    };
    let mut thief = FakeClient::new(&stage, "thief").with_pid(u32::MAX - 1);
    assert!(is_denied(thief.ask_about(&call).unwrap()), "a session that was never heard of");
    thief.start().unwrap();
    thief.prompt("Steal.").unwrap();
    assert!(is_denied(thief.ask_about(&call).unwrap()));
    let inside = json!({
        "tool_name": "Agent", "tool_input": call.input, "tool_use_id": "toolu_inside", "agent_id": "agent-1",
    });
    assert!(is_denied(client.hook("pre-tool-use", inside).unwrap()));
    let prompt = call.input["prompt"].as_str().unwrap();
    let token = autofork::host::protocol::Token::find_in(prompt).unwrap().to_string();
    let flip = |digit: char| if digit == '0' { '1' } else { '0' };
    let guess = prompt.replace(&token, &format!("{}{}", &token[..34], flip(token.chars().last().unwrap())));
    let mut guessed = AgentCall { tool_use: "toolu_guess".to_owned(), input: call.input.clone() };
    guessed.input["prompt"] = Value::String(guess);
    assert!(is_denied(client.ask_about(&guessed).unwrap()));
    assert!(client.ask_about(&call).unwrap().stdout.contains("The body of journal."), "still good for its session");
}

#[test]
fn no_command_prints_what_forks_reports_and_folders_say_raw() {
    // A title for the terminal's window, and writing that turns around.
    const TRICKS: [&str; 5] = ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{202e}", "\u{9b}"];
    let stage = stage(&[]);
    let trick = "tri\u{1b}]0;owned\u{7}ck\u{1b}[2J\u{202e}\u{9b}";
    let yaml = r#"description: "tri\e]0;owned\ack\e[2J\u202e\x9b""#;
    let text = format!("---\nfork: true\n{yaml}\nrun_on:\n  - idle: 0s\nthrotle: 1h\n---\nThe body.\n");
    fs::write(stage.project().join(format!(".autofork/forks/{trick}.md")), &text).unwrap();
    start_daemon(&stage);
    let mut client = FakeClient::new(&stage, trick).with_pid(u32::MAX);
    let hook = turn(&mut client);
    let wake = await_wake(&client, hook);
    client.prompt_with_wake(&wake).unwrap();
    let call = client.calls_asked_for(&wake).remove(0);
    assert!(client.ask_about(&call).unwrap().stdout.contains("The body."));
    client.launch(&call, "agent-1").unwrap();
    client.finish(&call, "agent-1", trick).unwrap();
    let token = autofork::host::protocol::Token::find_in(call.input["prompt"].as_str().unwrap()).unwrap().to_string();
    let commands: [&[&str]; 13] = [
        &["status"],
        &["forks"],
        &["check"],
        &["check", "--format", "concise"],
        &["why", trick],
        &["why", "no-such\u{1b}]0;x\u{7}"],
        &["history"],
        &["doctor"],
        &["run", trick],
        &["run", "no-such\u{1b}]0;x\u{7}"],
        &["ticket", &token],
        &["logs"],
        &["prune"],
    ];
    let mut told = 0;
    for arguments in commands {
        // As on a terminal: without colours every escape sequence would be taken out.
        let mut command = stage.command(arguments);
        command.env("CLICOLOR_FORCE", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            for trick in TRICKS {
                assert!(!text.contains(trick), "{arguments:?} prints {trick:?}:\n{text:?}");
            }
            told += text.matches("owned").count();
        }
    }
    assert!(told > 5, "they do tell of it, escaped");
}
