//! The daemon under load: 500 parked sessions, 100 000 hooks from 50 clients at once, and a daemon that is killed now and
//! then. Run with `cargo bench --bench load`; it takes some fifteen minutes.
//!
//! It is played twice. First each client rests for some seconds between its turns, which is still much less than people
//! do, so that the machine is busy for about a quarter of the time. Then none rests, and since every hook is a process of
//! its own, most of what is measured is what processes cost: with 50 of them at once on two cores each waits for the
//! others. `/bin/true` is run among them for comparison, and what the daemon itself takes to answer as many at once is
//! measured without processes.
//!
//! `AUTOFORK_BIN` names another binary to measure, `AUTOFORK_LOAD` another number of hooks. What must hold is checked as
//! in `tests/daemon/load.rs`; a fault is printed, and fails the run.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use autofork::sim::Stage;

#[path = "../tests/support/load/mod.rs"]
mod play;

const HOOKS: usize = 100_000;
const CLIENTS: usize = 50;

/// From a prompt to the report of the fork that it caused.
const HOOKS_PER_ROUND: usize = 11;

/// A client's rest between rounds, if it rests.
const REST: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let faults = played(REST) + played(Duration::ZERO);
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays it, prints what was measured, and returns how much was not as it must be.
fn played(rest: Duration) -> usize {
    let program = std::env::var_os("AUTOFORK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_autofork").into());
    let stage = Stage::new(Path::new(&program)).expect("a folder for it");
    let hooks = std::env::var("AUTOFORK_LOAD").ok().and_then(|number| number.parse().ok()).unwrap_or(HOOKS);
    let rounds = hooks.div_ceil(CLIENTS * HOOKS_PER_ROUND);
    let plan =
        play::Plan { parked: 500, clients: CLIENTS, rounds, rest, rounds_per_session: 20, kills: rounds.div_ceil(6) };
    let mut outcome = play::play(&stage, plan);
    let seconds = outcome.took.as_secs_f64();

    println!("{} parked sessions, {} clients at once, each with {rest:?} of rest", plan.parked, plan.clients);
    println!("hooks                                {} in {seconds:.0} s", outcome.events);
    println!("forks that fired                     {}", outcome.fired);
    println!("daemons killed                       {}", outcome.kills);
    println!("told again to the next daemon        {}", outcome.told_again);
    println!("spawn calls left without an answer   {}", outcome.unanswered);
    println!("prompt, daemon killed now and then   {}", shown(&mut outcome.prompts_with_kills));
    let target = if rest.is_zero() { "" } else { "  target p99 25 ms" };
    println!("prompt, all clients at once          {}{target}", shown(&mut outcome.prompts));
    println!("/bin/true, as one of them            {}", shown(&mut outcome.nothing));
    println!("prompt of one who types meanwhile    {}", shown(&mut outcome.typed));
    println!("answers to {CLIENTS} at once, no processes   {}  target p99 25 ms", shown(&mut outcome.answers));
    let memory = &outcome.memory;
    let part = |at: usize| memory.get(memory.len() * at / 4).copied().unwrap_or(0);
    println!(
        "daemon's memory over the last third  {} {} {} {} kB resident",
        part(0),
        part(1),
        part(2),
        memory.last().unwrap_or(&0)
    );
    println!("largest parked hook                  {} kB resident  target 3 000 kB", outcome.parked_hook);
    for fault in &outcome.faults {
        println!("fault: {fault}");
    }
    println!("faults                               {}\n", outcome.faults.len());
    outcome.faults.len()
}

fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let index = (times.len() as f64 * share) as usize;
        times.get(index.min(times.len().saturating_sub(1))).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    format!("p50 {:6.1} ms  p99 {:6.1} ms  longest {:6.1} ms", at(0.5), at(0.99), at(1.0))
}
