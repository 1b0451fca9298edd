//! A fork fires when its moment came, as often as it should, with the words it should have.

use crate::scene::{self, Counts, Scene, body_of, tickets};
use crate::support::client::Permissions;
use crate::support::mock_api::request::as_read;
use crate::support::mock_api::{Conduct, Kind};

#[test]
fn an_idle_fork_fires_once_in_each_pause() {
    let Some(mut scene) = Scene::start(&["journal"], Conduct::Obedient) else {
        return;
    };
    scene.prompt("hello there");

    // After 5 s of quiet the session is woken with a ticket, and the fork has the file's words in its place.
    let wake = scene.wait_for_wake(1);
    let wake_text = wake.newest_text();
    assert_eq!(tickets(&wake_text).len(), 1, "{wake_text}");
    assert_eq!(wake.asked_calls()[0]["description"], "autofork: journal");
    let directive = scene.wait_for_forks(1)[0].fork_directive().unwrap();
    assert!(directive.contains(&body_of("journal")), "{directive}");
    assert!(directive.contains("only task"), "{directive}");

    // Its report comes back, and then the pause is spent.
    let reports = scene.wait_for_reports(1);
    assert!(reports[0].contains("report of"), "{reports:?}");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });

    // A typed prompt begins another one.
    scene.prompt("and once more");
    let second = scene.wait_for_wake(2);
    let second_text = second.newest_text();
    assert_ne!(tickets(&second_text), tickets(&wake_text), "a ticket is used once");
    scene.wait_for_reports(2);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 2, forks: 2, reports: 2 });

    // The parent read the ticket, and never the words behind it.
    for request in scene.api.requests() {
        let text = request.all_text();
        if request.kind == Kind::Parent {
            assert!(!text.contains(&body_of("journal")), "the parent read the body in {request}");
        }
    }
    scene.assert_clean_screen();
    assert!(scene.client.quit(), "the client did not leave by itself");
}

#[test]
fn forks_share_one_wake_and_all_of_their_parents_cached_prefix() {
    let Some(mut scene) = Scene::start(&["diary", "journal"], Conduct::Obedient) else {
        return;
    };
    scene.prompt("hello there");
    let wake = scene.wait_for_wake(1);
    let forks = scene.wait_for_forks(2);
    let mut reports = scene.wait_for_reports(2);
    reports.sort();
    for (report, name) in reports.iter().zip(["diary", "journal"]) {
        assert!(forks.iter().any(|fork| fork.fork_directive().unwrap().contains(&body_of(name))), "{name}");
        assert!(report.contains("report of"), "{report}");
    }
    for fork in forks {
        assert_eq!(fork.body["model"], wake.body["model"]);
        assert_eq!(fork.body["tools"], wake.body["tools"]);
        assert_eq!(fork.system(), wake.system());
        let (earlier, own) = fork.messages().split_at(wake.messages().len());
        for (of_fork, of_parent) in earlier.iter().zip(wake.messages()) {
            assert_eq!(as_read(of_fork), as_read(of_parent));
        }
        // What is its own: the call that started it, and its instructions.
        assert_eq!(own.len(), 2, "{fork}");
    }
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 2, reports: 2 });
}

#[test]
fn an_agent_call_without_a_ticket_is_left_alone() {
    let permissions = Permissions::AgentsAndReading;
    let Some(mut scene) = Scene::start_in(scene::sandbox(&[]), Conduct::Obedient, permissions) else {
        return;
    };
    // The scripted model makes every call that stands on a line of its own, whoever wrote it.
    let call = r#"{"subagent_type":"fork","description":"mine","prompt":"Count the ducks."}"#;
    scene.client.prompt(call);
    let forks = scene.wait_for_forks(1);
    assert_eq!(forks[0].fork_directive().unwrap(), "Count the ducks.");
    let reports = scene.wait_for_reports(1);
    assert!(reports[0].contains("report of Count the ducks."), "{reports:?}");
    scene.assert_clean_screen();
}
