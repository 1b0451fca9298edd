//! A million steps of the deterministic simulation. A failure prints its seed and the shortest schedule found; to play
//! a seed again:
//!
//! ```console
//! $ SIMULATION_SEED=123 cargo test -p autofork-simulation
//! ```
//!
//! `SIMULATION_STEPS` asks for another number of steps than a million.

use std::thread;

use autofork_simulation::engine::simulation::{play, quietly};

/// How long one schedule is.
const LENGTH: usize = 250;

/// How many steps are taken all in all.
const STEPS: usize = 1_000_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn the_invariants_hold_for_a_million_steps() {
    if let Some(seed) = number("SIMULATION_SEED") {
        if let Err(failure) = play([seed], LENGTH) {
            panic!("{failure}");
        }
        return;
    }
    let steps = number("SIMULATION_STEPS").and_then(|steps| usize::try_from(steps).ok()).unwrap_or(STEPS);
    let schedules = u64::try_from(steps.div_ceil(LENGTH)).unwrap_or(u64::MAX);
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let failures: Vec<String> = quietly(|| {
        thread::scope(|scope| {
            let work =
                |worker| move || play((worker..schedules).step_by(usize::try_from(workers).unwrap_or(1)), LENGTH);
            let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
            let outcomes = handles.into_iter().map(|handle| handle.join().expect("failures are caught"));
            outcomes.filter_map(Result::err).map(|failure| failure.to_string()).collect()
        })
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
