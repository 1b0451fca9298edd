//! Older clients: where forks can run they run as with the newest one, and where they cannot, the session is not the
//! worse for it. With the newest one every other scenario is tried.

use serde_json::Value;

use crate::scene::{self, Counts, Scene, body_of, refusals};

/// By this variable the older clients are told to have forks.
const SWITCH: &str = "CLAUDE_CODE_FORK_SUBAGENT";

/// Whether forks are switched on in the session's environment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Unset,
}

/// A session of that client with one fork.
fn session(version: &str, switch: Switch) -> Option<Scene> {
    let mut sandbox = scene::sandbox(&["journal"]);
    if switch == Switch::On {
        sandbox.set_variable(SWITCH, "1");
    }
    Scene::start_version(version, sandbox)
}

/// What `autofork status` says of whether the only session's client can spawn forks.
fn fork_type(scene: &Scene) -> Value {
    let output = scene.sandbox.autofork(&["status", "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["sessions"][0]["fork_type"].clone()
}

/// An idle fork fires with its file's words, its report returns, and the pause is spent.
fn an_idle_fork_runs_once(version: &str, switch: Switch) -> Option<Scene> {
    let mut scene = session(version, switch)?;
    scene.prompt("hello there");
    scene.wait_for_wake(1);
    let directive = scene.wait_for_forks(1)[0].fork_directive().unwrap();
    assert!(directive.contains(&body_of("journal")), "{directive}");
    let reports = scene.wait_for_reports(1);
    assert!(reports[0].contains("report of"), "{reports:?}");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });
    Some(scene)
}

/// There are no forks: the call is tried twice, the user is told the remedy, and no later pause asks again.
fn the_user_is_told_once(version: &str) {
    let Some(mut scene) = session(version, Switch::Unset) else {
        return;
    };
    scene.prompt("hello there");
    scene.wait_for_wake(1);
    scene.client.wait_for_screen("For you: autofork needs Claude Code 2.1.232 or newer");
    scene.assert_quiet();
    scene.prompt("and once more");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 0, reports: 0 });
    assert_eq!(refusals(&scene.api.requests()), 2);
    assert_eq!(fork_type(&scene), "missing");
    let status = scene.sandbox.autofork(&["status"]);
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("needs Claude Code 2.1.232"), "{status}");
}

#[test]
fn version_232_runs_forks() {
    if let Some(scene) = an_idle_fork_runs_once("2.1.232", Switch::Unset) {
        scene.assert_clean_screen();
    }
}

#[test]
fn version_190_runs_forks_when_they_are_switched_on() {
    if let Some(scene) = an_idle_fork_runs_once("2.1.190", Switch::On) {
        scene.assert_clean_screen();
        assert_eq!(fork_type(&scene), "unquestioned");
    }
}

/// It knows forks only as calls without a type: the first try fails, the second is put that way, and so is every
/// later one.
#[test]
fn version_161_runs_forks_when_they_are_switched_on() {
    let Some(mut scene) = an_idle_fork_runs_once("2.1.161", Switch::On) else {
        return;
    };
    assert_eq!(refusals(&scene.api.requests()), 1);
    assert_eq!(fork_type(&scene), "doubted");
    scene.prompt("and once more");
    scene.wait_for_reports(2);
    assert_eq!(refusals(&scene.api.requests()), 1);
}

#[test]
fn version_117_runs_forks_when_they_are_switched_on() {
    an_idle_fork_runs_once("2.1.117", Switch::On);
}

#[test]
fn version_190_without_forks_is_left_alone() {
    the_user_is_told_once("2.1.190");
}

#[test]
fn version_117_without_forks_is_left_alone() {
    the_user_is_told_once("2.1.117");
}
