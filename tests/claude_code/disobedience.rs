//! The model does something else than it was asked: no work is done twice, and nothing loops.

use crate::scene::{self, Counts, Scene, body_of};
use crate::support::client::Permissions;
use crate::support::mock_api::{Conduct, Kind};

/// How the client tells the model that an agent runs.
const LAUNCHED: &str = "launched successfully";
/// How the client tells the model that a hook of ours refused a call. Inside a fork the client refuses too, but only
/// calls of the type `fork`, and only after the hook: what stands in the way must be ours.
const REFUSED_BY_HOOK: &str = "PreToolUse:Agent hook";

#[test]
fn the_second_call_with_one_ticket_is_refused() {
    let Some(mut scene) = Scene::start(&["diary", "journal"], Conduct::SpawnsTwice) else {
        return;
    };
    scene.prompt("hello there");
    let results = scene.wait_for_tool_results(Kind::Parent);
    let launched = results.iter().filter(|result| result.contains(LAUNCHED)).count();
    let refused = results.iter().filter(|result| result.contains(REFUSED_BY_HOOK)).count();
    assert_eq!((launched, refused), (2, 2), "{results:#?}");
    scene.wait_for_reports(2);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 2, reports: 2 });
    for name in ["diary", "journal"] {
        let forks = scene.wait_for_forks(2);
        let of_name = forks.iter().filter(|fork| fork.fork_directive().unwrap().contains(&body_of(name)));
        assert_eq!(of_name.count(), 1, "{name}");
    }
}

#[test]
fn a_name_and_a_model_are_taken_off_the_call() {
    let mut sandbox = scene::sandbox(&["journal"]);
    sandbox.record_hooks();
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::AddsNameAndModel, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");
    let wake = scene.wait_for_wake(1);
    let fork = &scene.wait_for_forks(1)[0];
    assert!(fork.fork_directive().unwrap().contains(&body_of("journal")), "{fork}");
    assert_eq!(fork.body["model"], wake.body["model"]);
    scene.wait_for_reports(1);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });

    // What the tool was called with in the end, as the client itself reports it.
    let hooks = scene.sandbox.recorded_hooks();
    let (_, called) = hooks.iter().find(|(event, _)| event == "post-tool-use").unwrap();
    let input = called["tool_input"].as_object().unwrap();
    assert!(!input.contains_key("name") && !input.contains_key("model"), "{input:?}");
    assert_eq!(input["subagent_type"], "fork");
}

#[test]
fn a_fork_cannot_use_its_sisters_ticket() {
    let Some(mut scene) = Scene::start(&["diary", "journal"], Conduct::ForkSpawnsSister) else {
        return;
    };
    scene.prompt("hello there");
    let results = scene.wait_for_tool_results(Kind::Fork);
    assert!(results.iter().all(|result| result.contains(REFUSED_BY_HOOK)), "{results:#?}");
    let reports = scene.wait_for_reports(2);
    assert!(reports.iter().all(|report| report.contains("report after a refusal")), "{reports:#?}");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 2, reports: 2 });
}

#[test]
fn a_model_that_never_spawns_is_asked_once_in_a_pause() {
    let Some(mut scene) = Scene::start(&["journal"], Conduct::NeverSpawns) else {
        return;
    };
    scene.prompt("hello there");
    scene.wait_for_wake(1);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 0, reports: 0 });
    scene.prompt("and once more");
    scene.wait_for_wake(2);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 2, forks: 0, reports: 0 });
    scene.assert_clean_screen();
}
