//! Deaths at any instant: no session notices, no fork fires twice, none is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use autofork::sim::FakeClient;
use rustix::process::Signal;

use crate::support::*;

#[test]
fn a_daemon_killed_while_a_hook_is_parked_costs_nothing() {
    let stage = stage(&[("journal", "2s")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    let first = daemon_pid(&stage).unwrap();
    kill(first);
    wait_for("another daemon", || daemon_pid(&stage).is_some_and(|pid| pid != first));
    wait_for("the hook, parked again", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    let wake = await_wake(&client, hook);
    assert_eq!(client.calls_asked_for(&wake).len(), 1);
    client.prompt_with_wake(&wake).unwrap();
    let hook = client.stop(autofork::sim::HookAsked::Yes).unwrap();
    assert!(client.await_stop(hook, Duration::from_secs(3)).unwrap().is_err(), "exactly one wake");
}

#[test]
fn a_daemon_killed_at_any_instant_around_a_wake_sends_the_same_wake_or_none() {
    let stage = stage(&[("journal", "1s")]);
    for round in 0..12_u64 {
        let daemon = start_daemon(&stage);
        let session = format!("s{round}");
        let mut tickets = BTreeSet::new();
        let mut first = Wire::greeted(&stage);
        first.say(&park(&stage, &session, 1));
        // The wake is due a second after the park; the instants lie close around it.
        std::thread::sleep(Duration::from_micros(1_000_000 - 2_000 + round * 800));
        stage.signal(daemon, Signal::KILL);
        stage.wait(daemon, PATIENCE).unwrap();
        if let Some(reply) = first.hear() {
            tickets.insert(reply["wake"]["forks"][0]["ticket"].as_str().unwrap().to_owned());
        }
        drop(first);

        let daemon = start_daemon(&stage);
        let mut second = Wire::greeted(&stage);
        second.say(&park(&stage, &session, 1));
        let reply = second.hear().expect("a wake");
        tickets.insert(reply["wake"]["forks"][0]["ticket"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned());
        assert_eq!(tickets.len(), 1, "round {round}: two wakes for one pause");
        stage.signal(daemon, Signal::KILL);
        stage.wait(daemon, PATIENCE).unwrap();
    }
}

#[test]
fn a_wake_that_nobody_took_in_is_offered_again_with_the_same_ticket() {
    let stage = stage(&[("journal", "0s")]);
    start_daemon(&stage);
    let mut first = Wire::greeted(&stage);
    first.say(&park(&stage, "s", 1));
    let wake = first.hear().unwrap();
    assert!(wake["wake"].is_object(), "{wake}");
    drop(first);
    let mut second = Wire::greeted(&stage);
    second.say(&park(&stage, "s", 1));
    assert_eq!(second.hear().unwrap(), wake);
    second.say(&serde_json::json!({ "wake_arrived": { "session": "s" } }));
    drop(second);
    wait_for("the word that it arrived", || {
        let mut third = Wire::greeted(&stage);
        third.say(&serde_json::json!("status"));
        third.hear().is_some()
    });
    let mut third = Wire::greeted(&stage);
    third.say(&park(&stage, "s", 1));
    wait_for("the third hook, parked", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
}

#[test]
fn a_hook_that_dies_while_parked_leaves_its_session_unparked() {
    let stage = stage(&[("journal", "1h")]);
    let mut client = FakeClient::new(&stage, "s");
    client.start().unwrap();
    let hook = turn(&mut client);
    wait_for("the parked hook", || status(&stage)["sessions"][0]["standing"]["parked"].is_object());
    stage.signal(hook.player(), Signal::TERM);
    wait_for("the loss", || status(&stage)["sessions"][0]["standing"]["unparked"].is_object());
}
