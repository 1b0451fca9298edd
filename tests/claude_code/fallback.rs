//! The client does not run all of our hooks: an older one, or one whose user switched some off.

use crate::scene::{self, Counts, Scene, body_of};
use crate::support::client::Permissions;
use crate::support::mock_api::Conduct;

#[test]
fn without_the_pre_tool_use_hook_the_fork_reads_its_file_and_still_counts_as_the_run() {
    let mut sandbox = scene::sandbox(&["journal"]);
    sandbox.remove_hook("PreToolUse");
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::AgentsAndReading) else {
        return;
    };
    scene.prompt("hello there");
    let fork = &scene.wait_for_forks(1)[0];
    let directive = fork.fork_directive().unwrap();
    assert!(!directive.contains(&body_of("journal")), "{directive}");
    let reports = scene.wait_for_reports(1);
    assert!(reports[0].contains(&body_of("journal")), "{reports:?}");
    // Were it not known as the fork's run, its end would count as work of the user's, and begin another pause.
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });
    scene.assert_clean_screen();
}
