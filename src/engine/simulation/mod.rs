//! Deterministic simulation: random schedules of everything that can happen, with every invariant checked after every
//! step.
//!
//! A seed is a schedule: several sessions, conversations and projects; forks and configuration edited meanwhile; hooks
//! that come late, twice or never; a clock that is set; a daemon that dies between any two steps and is rebuilt from
//! its snapshot and journal. What must hold is reckoned anew beside the engine (`ledger`), and asked of the state
//! itself (`checks`).
//!
//! Runs in the tests of this crate for some thousand steps, and optimised, as a crate of its own that is nothing but
//! `ir` and `engine`, for a million: `tests/simulation`.

mod checks;
mod forks;
mod journal;
mod ledger;
mod random;
mod shrink;
mod step;
mod world;

use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use random::Random;
use step::Step;
use world::World;

/// A schedule that breaks an invariant, as short as it could be made.
pub struct Failure {
    seed: u64,
    choice: u64,
    steps: Vec<Step>,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} breaks an invariant: {}", self.seed, self.message)?;
        writeln!(f, "the shortest schedule found, with the forks of choice {:#x}:", self.choice)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}

/// The schedule of a seed: which forks there are at first, and what happens.
fn schedule(seed: u64, length: usize) -> (u64, Vec<Step>) {
    let mut random = Random::new(seed);
    // Every other schedule begins with every fork under a plain configuration.
    let choice = if random.below(2) == 0 { 0 } else { random.next() };
    (choice, (0..length).map(|_| Step::random(&mut random)).collect())
}

/// Plays the schedules of these seeds, each so many steps long, and stops at the first that breaks an invariant.
///
/// Panics of the engine count as such. They are caught here, but the process's panic hook would still print them: a
/// caller who plays many seeds silences it, see [`quietly`].
pub fn play(seeds: impl IntoIterator<Item = u64>, length: usize) -> Result<(), Box<Failure>> {
    for seed in seeds {
        let (choice, steps) = schedule(seed, length);
        if let Err(message) = attempt(choice, &steps) {
            let (steps, message) = shrink::shrink(steps, message, |steps| attempt(choice, steps));
            return Err(Box::new(Failure { seed, choice, steps, message }));
        }
    }
    Ok(())
}

/// Does something without printing panics; what they say is in the [`Failure`].
pub fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = work();
    panic::set_hook(hook);
    outcome
}

/// Plays one schedule; what broke, if anything did.
fn attempt(choice: u64, steps: &[Step]) -> Result<(), String> {
    let play = || {
        let mut world = World::new(choice);
        for step in steps {
            world.take(*step);
        }
        world.finish();
    };
    panic::catch_unwind(AssertUnwindSafe(play)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_invariants_hold_whatever_happens() {
        if let Err(failure) = play(0..40, 150) {
            panic!("{failure}");
        }
    }

    #[test]
    fn a_seed_is_always_the_same_schedule() {
        let shown = |seed| format!("{:?}", schedule(seed, 50));
        assert_eq!(shown(7), shown(7));
        assert_ne!(shown(7), shown(8));
    }
}
