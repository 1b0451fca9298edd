//! Faults that a product of this kind has been seen to have, each with the test that keeps it from coming back.
//!
//! | fault | test |
//! |---|---|
//! | a spent threshold hides `idle` | `engine::tests::threshold::a_spent_threshold_does_not_hide_idle_nor_the_other_way_round` |
//! | a second threshold never fires | [`a_second_threshold_fires_too`] |
//! | throttles are forgotten when a session ends | `engine::tests::guards::throttles_outlive_the_session` |
//! | `x.md` becomes `x/FORK.md` and fires anew | [`a_fork_moved_into_a_folder_keeps_its_stamps_and_latches`] |
//! | background work holds for ever while the session is parked | `engine::tests::background::background_work_holds_the_clock_for_so_long_at_the_most` |
//! | the end of a throttle goes unnoticed within a pause | `engine::tests::guards::a_throttle_holds_within_the_conversation_and_its_end_is_noticed_mid_pause` |
//! | only the first of several notifications is read | [`every_one_of_several_notifications_is_read`] |
//! | a prompt that quotes our words is taken for ours | `host::claude_code::tests::a_typed_prompt_is_the_user_s_even_if_it_quotes_a_notification` |
//! | quoted `agentId:` is taken for a spawn | [`quoted_agent_id_text_is_no_spawn`] |
//! | usage of sidechains is counted | `host::claude_code::transcript::tests::what_is_no_answer_of_the_conversation_does_not_count` |
//! | the user's home is taken for the project's root | [`the_home_folder_is_no_project_root_because_of_the_user_s_own_forks`] |
//! | `cd` changes the project | [`a_cd_does_not_change_the_project`] |
//! | huge durations wrap | [`huge_durations_do_not_wrap`] |
//! | a predecessor that never spawned blocks its dependents | `engine::tests::after::a_predecessor_that_was_never_spawned_does_not_block` |
//! | a fork's name with `'` or `,` | [`a_name_with_quote_and_comma_works_all_the_way`] |

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::scenario::{Played, Scenario, Texts, play};
use crate::engine::{
    ClientProcess, Event, Fact, Mark, Origin, Prompt, StartSource, State, TagOverride, TaskId, TurnKind,
};
use crate::host::claude_code::{Call, HookEnv, translate};
use crate::ir::{LaunchDir, Programs, ProjectRoot, Seconds, Time};
use crate::project::{Memory, UserDirs, project_root};

/// Plays these steps with these forks, without debounce; everything expected must happen.
fn played(forks: &[(&str, &str)], steps: &str) -> Played {
    let mut text = format!("steps = [{steps}]\n[config]\nwake_debounce = \"0s\"\n[forks]\n");
    for (name, keys) in forks {
        let _ = write!(text, "\"{name}\" = \"\"\"\n---\nfork: true\n{keys}\n---\nWork.\n\"\"\"\n");
    }
    let scenario = Scenario::parse(&text).unwrap();
    let played = play(&scenario, &Texts::new());
    assert!(played.unmet.is_empty(), "{:#?}\n{:#?}", played.unmet, played.timeline);
    played
}

#[test]
fn a_second_threshold_fires_too() {
    played(
        &[("full", "run_on: [context_tokens: 1000, context_tokens: 2000]")],
        r#"
        { at = "0s", do = "prompt" },
        { at = "0s", do = "gauge", tokens = 1500 },
        { at = "0s", do = "stop" },
        { at = "0s", expect = "fires", fork = "full", times = 1 },
        { at = "1h", do = "prompt" },
        { at = "1h", do = "gauge", tokens = 2500 },
        { at = "1h", do = "stop" },
        { at = "1h", expect = "fires", fork = "full", times = 2 },
        { at = "2h", do = "turn" },
        { at = "2h", expect = "waits", fork = "full", because = "threshold_spent" },
        "#,
    );
}

#[test]
fn a_fork_moved_into_a_folder_keeps_its_stamps_and_latches() {
    let keys = "run_on: [idle: 5m]\nthrottle: 1h";
    let text = "---\\nfork: true\\nrun_on: [idle: 5m]\\nthrottle: 1h\\n---\\nWork.\\n";
    played(
        &[("x", keys)],
        &format!(
            r#"
        {{ at = "0s", do = "turn" }},
        {{ at = "5m", expect = "fires", fork = "x" }},
        {{ at = "6m", do = "write", fork = "x/FORK", text = "{text}" }},
        {{ at = "6m", do = "remove", fork = "x" }},
        {{ at = "7m", expect = "waits", fork = "x", because = "latched" }},
        {{ at = "8m", do = "turn" }},
        {{ at = "20m", expect = "waits", fork = "x", because = "throttled", until = "1h5m" }},
        {{ at = "1h5m", expect = "fires", fork = "x", times = 2 }},
        "#
        ),
    );
}

#[test]
fn a_name_with_quote_and_comma_works_all_the_way() {
    let played = played(
        &[
            ("it's", "run_on: [idle: 5m]"),
            ("one, two", "run_on: [idle: 5m]"),
            ("after it", "run_on: [idle: 5m]\nafter: [it's]"),
        ],
        r#"
        { at = "0s", do = "turn" },
        { at = "5m", expect = "fires", fork = ["it's", "one, two"] },
        { at = "6m", expect = "fires", fork = "after it", times = 1 },
        { at = "7m", expect = "silent", fork = ["it's", "one, two", "after it"], since = "6m1s" },
        "#,
    );
    assert!(played.broken.is_empty());
}

fn env() -> HookEnv {
    let variable = |name: &str| (name == "CLAUDE_CODE_ENTRYPOINT").then(|| "cli".into());
    HookEnv::read(variable, |_| None, Time::from_millis(0)).expect("somebody sits in front of it")
}

fn translated(event: &str, more: &serde_json::Value) -> Option<Fact<crate::host::protocol::Token>> {
    let mut payload = json!({ "session_id": "s", "cwd": "/p", "transcript_path": "/t/c.jsonl" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    match translate(event, &serde_json::to_vec(&payload).unwrap(), &env())? {
        Call::Fact { fact, .. } => Some(fact),
        Call::Park { stopped, .. } => Some(stopped),
    }
}

#[test]
fn every_one_of_several_notifications_is_read() {
    let notice = |id: &str| {
        format!("<task-notification>\n<task-id>{id}</task-id>\n<status>completed</status>\n</task-notification>")
    };
    let prompt = [notice("a1"), notice("a2"), notice("a3")].join("\n");
    let Some(Fact::Prompt { prompt: Prompt::Tasks(notices), .. }) =
        translated("user-prompt-submit", &json!({ "prompt": prompt }))
    else {
        panic!("no notices");
    };
    let told: Vec<_> = notices.iter().filter_map(|notice| notice.task.as_ref().map(TaskId::as_str)).collect();
    assert_eq!(told, ["a1", "a2", "a3"]);
}

#[test]
fn quoted_agent_id_text_is_no_spawn() {
    let said = "Async agent launched successfully.\nagentId: a0123456789abcdef (internal ID)";
    let call = json!({ "tool_name": "Agent", "tool_use_id": "t", "tool_input": { "prompt": "Look around." } });
    let with = |response: serde_json::Value| {
        let mut call = call.clone();
        call["tool_response"] = response;
        translated("post-tool-use", &call)
    };
    assert_eq!(with(json!({ "content": [{ "type": "text", "text": said }] })), None);
    assert_eq!(with(json!(said)), None);
    let other =
        json!({ "tool_name": "Bash", "tool_use_id": "t", "tool_response": { "agentId": "a1", "stdout": said } });
    assert_eq!(translated("post-tool-use", &other), None);
    assert!(matches!(with(json!({ "agentId": "a1" })), Some(Fact::SpawnStarted { ticket: None, .. })));
}

#[test]
fn the_home_folder_is_no_project_root_because_of_the_user_s_own_forks() {
    let mut files = Memory::default();
    files.write("/home/dev/.autofork/forks/mine.md", "---\nfork: true\n---\nWork.\n");
    files.write("/home/dev/code/app/src/main.rs", "");
    let user = UserDirs { base: Some("/home/dev/.autofork".into()), user: None };
    let root = |launch: &str| project_root(&files, &LaunchDir::new(launch), &user);
    assert_eq!(root("/home/dev/code/app").as_path(), Path::new("/home/dev/code/app"));
    files.write("/home/dev/code/app/.git/HEAD", "");
    let root = |launch: &str| project_root(&files, &LaunchDir::new(launch), &user);
    assert_eq!(root("/home/dev/code/app/src").as_path(), Path::new("/home/dev/code/app"));
}

#[test]
fn a_cd_does_not_change_the_project() {
    let mut state = State::default();
    let mut tell = |seconds: i64, folder: &str, fact: Fact| {
        let origin = Origin {
            session: "s".into(),
            conversation: "c".into(),
            launch: LaunchDir::new(folder),
            client: Some(ClientProcess { pid: 1, start: 1 }),
            transcript: None,
            tags: TagOverride::default(),
        };
        let event = Event::Host { origin, root: ProjectRoot::new(folder), fact };
        state.apply(Time::from_millis(seconds * 1000), &Programs::default(), event);
        let session = state.session(&"s".into()).unwrap();
        (session.launch.to_string(), session.root.to_string())
    };
    let here = ("/srv/app".to_owned(), "/srv/app".to_owned());
    let mark = || Mark { prompt: Some("p".into()), at: Time::from_millis(0) };
    assert_eq!(tell(0, "/srv/app", Fact::Started(StartSource::Startup.into())), here);
    assert_eq!(tell(1, "/tmp", Fact::Prompt { mark: mark(), prompt: Prompt::Human, mode: None }), here);
    let stopped = Fact::Stopped { mark: mark(), kind: TurnKind::Plain, background: None, mode: None };
    assert_eq!(tell(2, "/srv/app/deep", stopped), here);
}

#[test]
fn huge_durations_do_not_wrap() {
    // In a file they are refused; in the engine the longest there is reaches no further than the end of time.
    let huge = "18446744073709551615";
    for text in [format!("{huge}d"), huge.to_owned(), "99999999999h".to_owned(), "3651d".to_owned()] {
        assert!(crate::syntax::duration::parse(&text).is_err(), "{text}");
    }
    let end = Time::from_millis(i64::MAX);
    assert_eq!(end.after(Seconds::MAX), end);
    played(
        &[("late", "run_on: [idle: 3650d]\nthrottle: 3650d"), ("broken", "run_on: [idle: 99999999999999999999d]")],
        r#"
        { at = "0s", do = "turn" },
        { at = "1h", expect = "due", fork = "late", until = "3650d" },
        { at = "1h", expect = "fires", fork = "broken", within = "50m" },
        "#,
    );
}
