//! A session's way: left and resumed, compacted, cleared.

use std::time::Duration;

use autofork::engine::Reason;
use autofork::host::protocol::SessionStatus;

use crate::scene::{self, Counts, Scene};
use crate::standing::{names, reasons, runs};
use crate::support::client::Permissions;
use crate::support::mock_api::Conduct;

/// Two deadlines of the forks here, and some more.
const TWO_DEADLINES: Duration = Duration::from_secs(8);

fn is_throttled(session: &SessionStatus, fork: &str) -> bool {
    reasons(session, fork).iter().any(|reason| matches!(reason, Reason::Throttled { .. }))
}

#[test]
fn a_resumed_session_has_fresh_thresholds_and_its_throttles() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n");
    scene::add_fork(&sandbox, "deep", "run_on:\n  - context_tokens: 60000\n", "");
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\n", "");
    scene::add_fork(&sandbox, "rare", "run_on:\n  - idle: 2s\nthrottle: 1h\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("The context holds 70000 tokens.");
    // Which comes first, and whether one wake is for all, depends on how soon the client has written down how large the
    // context is.
    assert_eq!(sorted(names(&scene.wait_for_ended_runs(3))), ["deep", "journal", "rare"]);
    scene.wait_for_reports(3);
    let before = scene.session();

    let Some(mut scene) = scene.resume(&before.session, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    let resumed = scene.wait_for_session("the resumed session", |_| true);
    assert_eq!(resumed.session, before.session);
    // Nothing fires before the user has said anything.
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 0, forks: 0, reports: 0 });
    let resumed = scene.session();
    assert!(reasons(&resumed, "journal").contains(&Reason::NoTurnYet), "{resumed:#?}");
    assert!(!reasons(&resumed, "deep").iter().any(|reason| matches!(reason, Reason::ThresholdSpent(_))));

    scene.prompt("and on we go");
    scene.wait_for_reports(2);
    scene.assert_quiet_for(TWO_DEADLINES);
    let wakes = scene.wakes();
    assert!((1..=2).contains(&wakes), "{wakes} wakes for two forks");
    scene.assert_counts(Counts { wakes, forks: 2, reports: 2 });
    let session = scene.session();
    let fired = runs(&session);
    assert_eq!(sorted(names(&fired[fired.len() - 2..])), ["deep", "journal"], "{fired:#?}");
    assert!(is_throttled(&session, "rare"), "{session:#?}");
    scene.assert_clean_screen();
}

#[test]
fn compacting_changes_nothing_and_clearing_begins_anew() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n");
    scene::add_fork(&sandbox, "journal", "run_on:\n  - idle: 2s\n", "");
    scene::add_fork(&sandbox, "late", "run_on:\n  - idle: 35s\n", "");
    scene::add_fork(&sandbox, "rare", "run_on:\n  - idle: 2s\nthrottle: 1h\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");
    scene.wait_for_wake(1);
    assert_eq!(names(&scene.wait_for_ended_runs(2)), ["journal", "rare"]);
    scene.wait_for_reports(2);
    let before = scene.session();
    let due = |session: &SessionStatus, fork: &str| {
        session.forks.iter().find(|status| status.fork.as_str() == fork).unwrap().due
    };

    // The pause goes on: what has fired in it has, and what is to fire in it does, when it would have.
    scene.client.prompt("/compact");
    scene.client.wait_for_screen("Compacted");
    let after = scene.session();
    assert_eq!(after.session, before.session);
    assert_eq!(due(&after, "late"), due(&before, "late"));
    assert!(due(&after, "late").is_some(), "{after:#?}");
    scene.wait_for_wake(2);
    assert_eq!(names(&scene.wait_for_ended_runs(3)), ["journal", "rare", "late"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 2, forks: 3, reports: 3 });

    // Another session in the same client: the earlier one has ended, and its throttles are not the new one's.
    scene.client.prompt("/clear");
    let cleared = scene.wait_for_session("the new session", |session| session.session != after.session);
    assert!(reasons(&cleared, "journal").contains(&Reason::NoTurnYet), "{cleared:#?}");
    assert!(!is_throttled(&cleared, "rare"), "{cleared:#?}");
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.prompt("hello again");
    scene.wait_for_wake(3);
    assert_eq!(names(&scene.wait_for_ended_runs(2)), ["journal", "rare"]);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 3, forks: 5, reports: 5 });
    scene.assert_clean_screen();
    assert!(scene.client.quit(), "the client did not leave by itself");
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}
