//! Forks that come due together: one after the other where `after` says so, side by side where nothing does.

use std::time::Duration;

use autofork::engine::{Outcome, Reason};

use crate::scene::{self, Counts, Scene, body_of};
use crate::standing::{Ran, names, reasons};
use crate::support::client::Permissions;
use crate::support::mock_api::{Conduct, Request};

/// Two deadlines of the forks here, and some more.
const TWO_DEADLINES: Duration = Duration::from_secs(7);

fn directive(fork: &Request) -> String {
    fork.fork_directive().unwrap()
}

#[test]
fn a_chain_runs_in_order_and_hands_its_reports_on() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n");
    // In byte order of their names they would start the other way round.
    scene::add_fork(&sandbox, "third", "run_on:\n  - idle: 2s\nafter: [second, zero]\n", "");
    scene::add_fork(&sandbox, "second", "run_on:\n  - idle: 2s\nafter: zero\n", "Think for 2 seconds.");
    scene::add_fork(&sandbox, "zero", "run_on:\n  - idle: 2s\n", "Think for 6 seconds.");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");

    // All three are due at once; one is asked for, and the others wait.
    let wake = scene.wait_for_wake(1);
    assert_eq!(wake.asked_calls().len(), 1, "{wake}");
    assert_eq!(wake.asked_calls()[0]["description"], "autofork: zero");
    assert!(wake.newest_text().contains("not now: second, third."), "{wake}");
    let session = scene.wait_for_session("the first run", |session| !session.wakes.is_empty());
    let waits_for = |fork, names: &[&str]| {
        let after = names.iter().map(|name| (*name).into()).collect();
        assert!(reasons(&session, fork).contains(&Reason::HeldBack { after }), "{session:#?}");
    };
    waits_for("second", &["zero"]);
    waits_for("third", &["second", "zero"]);

    let forks = scene.wait_for_forks(3);
    let started: Vec<String> = forks.iter().map(directive).collect();
    for (fork, name) in started.iter().zip(["zero", "second", "third"]) {
        assert!(fork.contains(&body_of(name)), "{name} was to be next: {fork}");
    }
    let told = |fork: &str, name: &str| {
        fork.contains(&format!("===== report of {name}, which ran before you: completed ====="))
            && fork.contains(&format!("report of You are the fork {name}"))
    };
    assert!(!started[0].contains("ran before you"), "{}", started[0]);
    assert!(told(&started[1], "zero") && !told(&started[1], "third"), "{}", started[1]);
    assert!(told(&started[2], "zero") && told(&started[2], "second"), "{}", started[2]);

    scene.wait_for_reports(3);
    let runs = scene.wait_for_ended_runs(3);
    assert_eq!(names(&runs), ["zero", "second", "third"]);
    assert!(runs.iter().all(|run| run.outcome == Some(Outcome::Completed)), "{runs:#?}");
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 3, forks: 3, reports: 3 });
    scene.assert_clean_screen();
}

#[test]
fn a_stopped_fork_has_failed_and_the_pause_goes_on() {
    let mut sandbox = scene::configured("wake_debounce = \"0s\"\n");
    sandbox.record_hooks();
    scene::add_fork(&sandbox, "doomed", "run_on:\n  - idle: 2s\n", "Think for 50 seconds.");
    scene::add_fork(&sandbox, "heir", "run_on:\n  - idle: 2s\nafter: doomed\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::StopsFirstForks, Permissions::AllThatIsDirected) else {
        return;
    };
    scene.prompt("hello there");

    let forks = scene.wait_for_forks(2);
    assert!(directive(&forks[0]).contains(&body_of("doomed")), "{}", forks[0]);
    let heir = directive(&forks[1]);
    assert!(heir.contains(&body_of("heir")), "{heir}");
    // How it ended is known if the client has told of it by then; that it did not complete is known in any case.
    let ended = ["it was stopped", "its end was lost"];
    let told = ended.map(|how| heir.contains(&format!("report of doomed, which ran before you: FAILED: {how}")));
    assert!(told.contains(&true), "{heir}");

    let runs = scene.wait_for_ended_runs(2);
    assert_eq!(names(&runs), ["doomed", "heir"]);
    assert_eq!((runs[0].outcome, runs[1].outcome), (Some(Outcome::Killed), Some(Outcome::Completed)), "{runs:#?}");
    scene.wait_for_reports(1);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 2, forks: 2, reports: 1 });
    let session = scene.session();
    for fork in ["doomed", "heir"] {
        assert_eq!(reasons(&session, fork), [Reason::Latched], "the pause goes on");
    }
    assert_eq!(told_ends(&scene, "killed"), 1, "the client told of it in the words that it used before");
}

/// How many prompts the hooks saw that tell of an end of this kind.
fn told_ends(scene: &Scene, status: &str) -> usize {
    let mark = format!("<status>{status}</status>");
    let hooks = scene.sandbox.recorded_hooks();
    let prompts = hooks.iter().filter(|(event, _)| event == "user-prompt-submit");
    prompts.filter(|(_, payload)| payload["prompt"].as_str().is_some_and(|prompt| prompt.contains(&mark))).count()
}

#[test]
fn forks_that_end_together_are_all_noted() {
    let mut sandbox = scene::configured("wake_debounce = \"0s\"\n");
    sandbox.record_hooks();
    for fork in ["diary", "journal", "ledger"] {
        scene::add_fork(&sandbox, fork, "run_on:\n  - idle: 2s\n", "Think for 4 seconds.");
    }
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");
    scene.wait_for_forks(3);
    let runs = scene.wait_for_ended_runs(3);
    assert_eq!(names(&runs), ["diary", "journal", "ledger"]);
    for Ran { fork, outcome, report, trigger } in &runs {
        assert_eq!(*outcome, Some(Outcome::Completed), "{fork}");
        assert!(report.contains(&format!("You are the fork {fork}")), "{fork}: {report}");
        assert_eq!(trigger, "quiet for 2s");
    }
    scene.wait_for_reports(3);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 1, forks: 3, reports: 3 });
    let session = scene.session();
    for fork in ["diary", "journal", "ledger"] {
        assert_eq!(reasons(&session, fork), [Reason::Latched], "the pause goes on");
    }
    assert_eq!(told_ends(&scene, "completed"), 3, "one prompt for each end");
    scene.assert_clean_screen();
}
