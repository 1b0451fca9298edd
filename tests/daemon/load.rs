//! Load: many sessions, many hooks at once, and a daemon that is killed meanwhile. `cargo bench --bench load` plays the
//! same at full size, with numbers.

#[path = "../support/load/mod.rs"]
#[allow(dead_code, reason = "the numbers are the benchmark's")]
mod play;

use std::time::Duration;

use crate::support::*;

#[test]
fn under_load_and_with_kills_nothing_is_lost_and_nothing_fires_twice() {
    let plan =
        play::Plan { parked: 40, clients: 12, rounds: 9, rest: Duration::ZERO, rounds_per_session: 4, kills: 5 };
    let stage = stage(&[]);
    let outcome = play::play(&stage, plan);
    let log = || std::fs::read_to_string(stage.home().join("daemon.log")).unwrap();
    assert!(outcome.faults.is_empty(), "{:#?}\n{}", outcome.faults, log());
    assert_eq!((outcome.kills, outcome.fired), (plan.kills, plan.clients * plan.rounds + plan.parked));
    assert!(outcome.events > plan.clients * plan.rounds * 11, "{}", outcome.events);
}
