//! Thresholds of the context: the client's own transcript says how full it is.

use std::time::Duration;

use autofork::engine::Reason;

use crate::scene::{self, Counts, Scene};
use crate::standing::{names, reasons, runs};
use crate::support::client::Permissions;
use crate::support::mock_api::Conduct;

/// Two deadlines of the fork that has one here, and some more.
const TWO_DEADLINES: Duration = Duration::from_secs(11);

#[test]
fn a_threshold_fires_once_and_hides_no_idle_moment() {
    let sandbox = scene::configured("wake_debounce = \"0s\"\n");
    scene::add_fork(&sandbox, "deep", "run_on:\n  - context_used: 30%\n", "");
    scene::add_fork(&sandbox, "both", "run_on:\n  - context_tokens: 60000\n  - idle: 5s\n", "");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };

    // Below the threshold only the idle moment counts.
    scene.prompt("The context holds 59999 tokens.");
    scene.wait_for_wake(1);
    scene.wait_for_ended_runs(1);
    scene.assert_quiet_for(TWO_DEADLINES);
    let session = scene.session();
    assert_eq!(names(&runs(&session)), ["both"]);
    assert_eq!(reasons(&session, "deep"), [Reason::BelowThreshold { tokens: 59_999, threshold: 60_000 }]);

    // Once it is reached both fire at the turn's end, and the idle moment fires in the pause as ever.
    scene.prompt("The context holds 60000 tokens.");
    scene.wait_for_wake(3);
    let fired: Vec<(String, String)> =
        scene.wait_for_ended_runs(4).into_iter().map(|run| (run.fork, run.trigger)).collect();
    let fired: Vec<(&str, &str)> = fired.iter().map(|(fork, trigger)| (fork.as_str(), trigger.as_str())).collect();
    assert_eq!(
        fired,
        [
            ("both", "quiet for 5s"),
            ("both", "context_tokens: 60000, context at 60000"),
            ("deep", "context_used: 30%, context at 60000"),
            ("both", "quiet for 5s"),
        ]
    );
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 3, forks: 4, reports: 4 });

    // It stays reached, and fires no more.
    scene.prompt("The context holds 90000 tokens.");
    scene.wait_for_wake(4);
    scene.wait_for_ended_runs(5);
    scene.assert_quiet_for(TWO_DEADLINES);
    scene.assert_counts(Counts { wakes: 4, forks: 5, reports: 5 });
    let session = scene.session();
    assert!(matches!(reasons(&session, "deep"), [Reason::ThresholdSpent(_)]), "{session:#?}");
    assert_eq!(runs(&session).last().unwrap().trigger, "quiet for 5s");
    scene.assert_clean_screen();
}
