//! Parts of autofork are gone, cannot start, or have nothing to do here: the session is never the worse for it.

use std::time::{Duration, Instant};

use crate::scene::{self, Counts, Scene, body_of};
use crate::support::client::{Client, Permissions, SOON};
use crate::support::install;
use crate::support::mock_api::{Conduct, Kind, MockApi, Scripted};
use crate::support::processes::Process;

#[test]
fn a_daemon_killed_while_the_hook_is_parked_costs_nothing() {
    let Some(mut scene) = Scene::start(&["journal"], Conduct::Obedient) else {
        return;
    };
    scene.prompt("hello there");
    let daemon = wait_until_parked(&scene);
    daemon.kill();
    assert!(daemon.wait_until_gone(SOON), "SIGKILL did not end the daemon");

    let directive = scene.wait_for_forks(1)[0].fork_directive().unwrap();
    assert!(directive.contains(&body_of("journal")), "{directive}");
    scene.wait_for_reports(1);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });
    let successor = scene.sandbox.daemon().expect("the hook started another daemon");
    assert_ne!(successor.pid, daemon.pid);
    scene.assert_clean_screen();
}

/// The daemon, once a Stop hook waits at it.
fn wait_until_parked(scene: &Scene) -> Process {
    let end = Instant::now() + SOON;
    loop {
        let processes = scene.sandbox.processes();
        let daemon = processes.iter().find(|process| process.is_daemon());
        if let Some(daemon) = daemon
            && processes.iter().any(Process::is_stop_hook)
        {
            // From the start of its process to its poll at the daemon the hook takes milliseconds.
            std::thread::sleep(Duration::from_secs(1));
            return daemon.clone();
        }
        assert!(Instant::now() < end, "no hook ever parked");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn where_no_daemon_can_start_the_session_is_a_plain_one() {
    let mut sandbox = scene::sandbox(&["journal"]);
    sandbox.make_home_unusable();
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");
    scene.assert_quiet();
    scene.prompt("and once more");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 0, forks: 0, reports: 0 });
    scene.assert_clean_screen();
    assert!(!scene.client.screen().to_lowercase().contains("hook"));
    assert!(scene.sandbox.daemon().is_none());
}

#[test]
fn a_binary_that_cannot_run_leaves_a_plain_session() {
    let mut sandbox = scene::sandbox(&["journal"]);
    sandbox.break_binary();
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    scene.prompt("hello there");
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 0, forks: 0, reports: 0 });
    scene.assert_clean_screen();
    assert!(!scene.client.screen().to_lowercase().contains("hook"));
}

#[test]
fn a_run_without_a_person_leaves_no_trace() {
    let Some(program) = install::client_or_skip() else {
        return;
    };
    let sandbox = scene::sandbox(&["journal"]);
    let api = MockApi::start(Scripted::new(Conduct::Obedient));
    let mut client = Client::spawn(&program, &sandbox, &api, &["-p", "hello there"]);
    let ended = client.wait_for_end(SOON);
    let (screen, transcript) = (client.screen(), api.transcript());
    assert!(ended, "{screen}\n{transcript}");
    assert!(screen.contains("Reply #"), "{screen}\n{transcript}");
    let requests = api.requests();
    let of_parent = requests.iter().filter(|request| request.kind == Kind::Parent).count();
    assert_eq!(of_parent, 1, "{transcript}");
    assert!(!sandbox.autofork_home().exists(), "something was written");
    assert!(sandbox.daemon().is_none());
}
