//! What keeps a fork from firing: background work, the plan mode, tags.

use std::time::Duration;

use autofork::engine::{Reason, TaskId};
use autofork::host::protocol::SessionStatus;
use autofork::ir::Tag;

use crate::scene::{self, Counts, Scene};
use crate::standing::{names, reasons, runs};
use crate::support::client::Permissions;
use crate::support::mock_api::Conduct;

/// Two deadlines of the forks here, and some more.
const TWO_DEADLINES: Duration = Duration::from_secs(8);

/// The keys that switch permission modes.
const SHIFT_TAB: &str = "\u{1b}[Z";

#[test]
fn a_background_command_holds_the_clock_and_its_end_begins_another_pause() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n");
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\n", "");
    scene::add_fork(&sandbox, "once", "run_on:\n  - idle: 2s\nthrottle: 1h\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::AllThatIsDirected) else {
        return;
    };

    // As long as it runs the session is quiet, and no fork fires.
    scene.client.prompt(&wait_in_background_for("first"));
    let holding = |session: &SessionStatus| held_by(session, "journal").is_some();
    let session = scene.wait_for_session("the hold", holding);
    assert_eq!(held_by(&session, "once"), held_by(&session, "journal"));
    scene.assert_quiet_for(TWO_DEADLINES);
    assert_eq!(held_by(&scene.session(), "journal"), held_by(&session, "journal"), "one and the same task");
    scene.assert_counts(Counts { wakes: 0, forks: 0, reports: 0 });

    // Its end is told to the model, whose answer is followed by a pause as any other.
    scene.sandbox.write("first", "");
    let told = scene.wait("the command's end", |requests| {
        requests.iter().find(|request| request.newest_text().contains("<status>completed</status>")).cloned()
    });
    let wake = scene.wait_for_wake(1);
    assert!(told.number < wake.number, "{wake}");
    assert_eq!(names(&scene.wait_for_ended_runs(2)), ["journal", "once"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 1, forks: 2, reports: 2 });

    // A command holds for so long and no longer. One that ends after the fork has fired begins a pause in which it fires
    // again; the throttle is kept.
    scene.sandbox.write(".autofork/config.toml", "wake_debounce = \"0s\"\nbackground_hold_timeout = \"3s\"\n");
    scene.client.prompt(&wait_in_background_for("second"));
    scene.wait_for_wake(2);
    assert_eq!(names(&scene.wait_for_ended_runs(3)), ["journal", "once", "journal"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 2, forks: 3, reports: 3 });
    scene.sandbox.write("second", "");
    scene.wait_for_wake(3);
    assert_eq!(names(&scene.wait_for_ended_runs(4)), ["journal", "once", "journal", "journal"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 3, forks: 4, reports: 4 });
}

#[test]
fn a_command_that_a_fork_leaves_running_does_not_have_it_fire_again() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\nbackground_hold_timeout = \"1s\"\n");
    let input = serde_json::json!({"command": "sleep 4", "description": "nap", "run_in_background": true});
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\n", &format!("call Bash {input}"));
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::AllThatIsDirected) else {
        return;
    };
    scene.prompt("hello there");
    scene.wait_for_wake(1);
    assert_eq!(names(&scene.wait_for_ended_runs(1)), ["journal"]);
    scene.wait("the command's end", |requests| {
        requests.iter().find(|request| request.newest_text().contains("Background command \"nap\"")).cloned()
    });
    scene.assert_quiet_for(TWO_DEADLINES);
    assert_eq!(scene.wakes(), 1);
}

/// A direction to run a command in the background that ends when the project has a file of this name.
fn wait_in_background_for(file: &str) -> String {
    let command = format!("until [ -e {file} ]; do sleep 0.2; done");
    let input = serde_json::json!({"command": command, "description": "wait", "run_in_background": true});
    format!("call Bash {input}")
}

/// The background work that keeps a fork from firing.
fn held_by<'a>(session: &'a SessionStatus, fork: &str) -> Option<&'a TaskId> {
    reasons(session, fork).iter().find_map(|reason| match reason {
        Reason::HeldByTask { task, .. } => Some(task),
        _ => None,
    })
}

#[test]
fn in_plan_mode_nothing_fires_and_a_tag_of_the_environment_is_out_in_every_mode() {
    let mut sandbox = scene::configured("wake_debounce = \"0s\"\ndisable_tags = [\"other\"]\n");
    sandbox.set_variable("AUTOFORK_DISABLE_TAGS", "loud, noisy");
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\ntags: [other]\n", "");
    scene::add_fork(&sandbox, "parrot", "run_on:\n  - idle: 2s\ntags: [noisy]\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::Plan) else {
        return;
    };
    scene.prompt("hello there");
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 0, forks: 0, reports: 0 });
    let session = scene.session();
    let disabled = Reason::TagDisabled(Tag::from("noisy"));
    assert_eq!(reasons(&session, "journal"), [Reason::PlanMode], "the environment replaces the configured set");
    assert_eq!(reasons(&session, "parrot"), [disabled.clone(), Reason::PlanMode]);
    let shown = scene.sandbox.autofork(&["status"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("the session is in plan mode"), "{shown}");
    assert!(shown.contains("its tag noisy is switched off"), "{shown}");

    // The mode is known from the next prompt on.
    scene.client.press(SHIFT_TAB);
    scene.prompt("and now for real");
    scene.wait_for_wake(1);
    let fired = scene.wait_for_ended_runs(1);
    assert_eq!(names(&fired), ["journal"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });
    assert_eq!(reasons(&scene.session(), "parrot"), [disabled]);
}

#[test]
fn two_sessions_of_a_project_share_a_tag_throttle() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n[tag_throttles]\nnotes = \"1h\"\n");
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\n", "");
    scene::add_fork(&sandbox, "notes", "run_on:\n  - idle: 2s\ntags: notes\n", "");
    let Some(mut first) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    let Some(mut second) = first.neighbour(Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    first.prompt("hello there");
    second.prompt("hello here");
    first.wait_for_reports(1);
    second.wait_for_reports(1);
    first.assert_quiet_for(TWO_DEADLINES);
    second.assert_quiet_for(Duration::ZERO);

    let sessions = first.sessions();
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let fired: Vec<String> = sessions.iter().flat_map(runs).map(|run| run.fork).collect();
    let count = |name| fired.iter().filter(|fork| **fork == name).count();
    assert_eq!((count("journal"), count("notes")), (2, 1), "{fired:?}");
    let throttled = |session: &&SessionStatus| {
        let is_throttle =
            |reason: &Reason| matches!(reason, Reason::TagThrottled { tag, .. } if *tag == Tag::from("notes"));
        reasons(session, "notes").iter().any(is_throttle)
    };
    let missed = sessions.iter().filter(|session| names(&runs(session)) == ["journal"]);
    let missed: Vec<&SessionStatus> = missed.collect();
    assert_eq!(missed.len(), 1, "{sessions:#?}");
    assert!(missed.iter().all(throttled), "{missed:#?}");
}
