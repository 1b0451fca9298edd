//! Faults that must never come back, each with the test that keeps it away.
//!
//! | fault | test |
//! |---|---|
//! | `hook <unknown>` exits 2 | [`an_unknown_hook_does_not_exit_2`] |
//! | a socket path over the limit makes every hook slow | `hooks::a_home_too_deep_for_a_socket_makes_no_hook_slow` |
//! | an older CLI fights a newer daemon | `upgrade::an_older_program_does_not_fight_a_newer_daemon` |
//! | SessionStart waits on an old daemon past its own timeout | `wire::a_session_start_never_waits_for_a_daemon_that_will_not_leave_or_answer` |
//! | a late Stop parks over a newer turn | [`a_late_stop_does_not_park_over_a_newer_turn`] |
//! | a wake is lost because the socket write failed | `crash::a_wake_that_nobody_took_in_is_offered_again_with_the_same_ticket` |
//! | warnings are shown only in the daemon's log | [`no_warning_is_shown_only_in_the_daemons_log`] |
//! | a poisoned lock leaves the daemon up but deaf | [`no_poisoned_lock_leaves_the_daemon_up_but_deaf`], and in the daemon `log::tests` |
//! | state is readable by others | `strangers::no_state_is_readable_by_others`, `life::what_it_makes_is_for_nobody_else` |

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use autofork::sim::{FakeClient, Stage};
use serde_json::json;

use crate::support::*;

#[test]
fn an_unknown_hook_does_not_exit_2() {
    let stage = stage(&[]);
    let payload = stage.root().join("payload.json");
    fs::write(&payload, json!({ "session_id": "s", "cwd": stage.project() }).to_string()).unwrap();
    let unknown: [&[&OsStr]; 7] = [
        &[],
        &["".as_ref()],
        &["notification".as_ref()],
        &["Stop".as_ref()],
        &["--help".as_ref()],
        &["no-such-event".as_ref(), "stop".as_ref()],
        &[OsStr::from_bytes(b"\xff\xfe")],
    ];
    for arguments in unknown {
        let mut hook = stage.command(&["hook"]);
        FakeClient::new(&stage, "s").environment(&mut hook);
        let output = hook.args(arguments).stdin(fs::File::open(&payload).unwrap()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_late_stop_does_not_park_over_a_newer_turn() {
    let stage = stage(&[("journal", "0s")]);
    start_daemon(&stage);
    let mut late = Wire::greeted(&stage);
    let mut prompts = Wire::greeted(&stage);
    for turn in 1..=2 {
        let mark = json!({ "prompt": format!("turn-{turn}"), "at": turn * 10 });
        let prompt = json!({ "prompt": { "mark": mark, "prompt": "human", "mode": "other" } });
        prompts.say(&json!({ "fact": { "origin": origin(&stage, "s"), "fact": prompt } }));
        assert_eq!(prompts.hear().unwrap(), "done");
    }
    late.say(&park(&stage, "s", 1));
    assert_eq!(late.hear().unwrap(), "released");
    assert!(status(&stage)["sessions"][0]["standing"]["mid_turn"].is_object());
}

/// What `status` and `doctor` say to a person.
fn told(stage: &Stage) -> [String; 2] {
    ["status", "doctor"].map(|command| {
        let output = run(stage, &[command]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    })
}

#[test]
fn no_warning_is_shown_only_in_the_daemons_log() {
    // Each trouble, and a word by which it is known.
    type Trouble = fn(&Stage);
    let troubles: [(Trouble, &str); 4] = [
        (
            |stage| fs::write(stage.home().join("journal.db"), "no database, and never was one").unwrap(),
            "was damaged",
        ),
        (|stage| fs::create_dir(stage.home().join("daemon.log")).unwrap(), "There is no log"),
        (
            |stage| {
                start_daemon(stage);
                fs::remove_file(stage.home().join("daemon.sock")).unwrap();
            },
            "was gone, and was made anew",
        ),
        (
            |stage| {
                start_daemon(stage);
                fs::remove_file(stage.home().join("journal.db")).unwrap();
            },
            "journal was removed",
        ),
    ];
    for (make_trouble, word) in troubles {
        let stage = stage(&[]);
        make_trouble(&stage);
        assert_eq!(FakeClient::new(&stage, "s").start().unwrap(), silent());
        for text in told(&stage) {
            assert!(text.contains(word), "{word}: {text}");
        }
        let log = fs::read_to_string(stage.home().join("daemon.log")).unwrap_or_default();
        let warnings = log.lines().filter(|line| line.contains(" WARN ") || line.contains(" ERROR "));
        for warning in warnings {
            let warning = warning.split_once(" WARN ").or_else(|| warning.split_once(" ERROR ")).unwrap().1;
            let told = told(&stage)[0].replace('\n', " ");
            assert!(told.contains(warning.trim()), "only in the log: {warning}\n{told}");
        }
    }

    // A daemon that cannot even start has nobody to tell but its log.
    let stage = stage(&[]);
    fs::create_dir(stage.home().join("journal.db-wal")).unwrap();
    assert_eq!(FakeClient::new(&stage, "s").start().unwrap(), silent());
    for text in told(&stage) {
        assert!(text.contains("the last one ended with an error") || text.contains("The last one ended"), "{text}");
    }
}

#[test]
fn no_poisoned_lock_leaves_the_daemon_up_but_deaf() {
    // State belongs to one task, which is asked; whoever panics in it takes the whole daemon along, and hooks start
    // another. So there is one lock only: that of the log, which does not mind.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/daemon");
    let mut with_lock = Vec::new();
    let mut folders = vec![sources];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if !entry.ends_with("tests.rs") {
                let text = fs::read_to_string(&entry).unwrap();
                if text.contains("Mutex") || text.contains("RwLock") || text.contains("OnceLock") {
                    with_lock.push(entry.file_name().unwrap().to_string_lossy().into_owned());
                }
            }
        }
    }
    assert_eq!(with_lock, ["log.rs"]);
}
