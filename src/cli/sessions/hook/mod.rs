//! `autofork hook EVENT`: what the client's hooks run. Never noticed: it exits 0 in silence whatever goes wrong,
//! except that a Stop hook with a wake says it on standard error and exits 2.
//!
//! It is dispatched before the command line is parsed, and uses neither the parser nor the asynchronous runtime: every
//! prompt of every session waits for it.

mod park;
#[cfg(target_os = "linux")]
mod slim;
mod stdin;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::engine::Fact;
use crate::host::claude_code::{self, Call, HookEnv};
use crate::host::client::{Absence, Client, Patience};
use crate::host::dirs::Home;
use crate::host::process;
use crate::host::protocol::{Reply, Request};
use crate::ir::Time;

/// The name of the command, as the plugin calls it.
pub(crate) const COMMAND: &str = "hook";

/// How long a hook waits for a daemon and its answer, starting it included, before it lets its session go on without. A
/// start takes some hundredths of a second, and seconds where the disk is busy; then what the hook had to tell would be
/// lost. The client's own time limits for these hooks are longer.
const PATIENCE: Duration = Duration::from_millis(4500);

/// How long it waits to hear that a fact was taken in. A daemon that lives reads what was sent even after the hook has
/// gone; one that is killed first never does, so a daemon that is merely busy is waited for.
const RECEIPT: Duration = Duration::from_secs(1);

/// How long it waits for the answer to a ticket.
const ANSWER: Duration = Duration::from_secs(2);

/// The exit code by which a Stop hook of the client's wakes a session with what stands on its standard error.
const WAKE: u8 = 2;

/// Runs the hook; `arguments` are those after the command's name.
pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // A panic would show as a stray message in somebody's session.
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        let event = arguments.next()?.into_string().ok()?;
        run(&event)
    }));
    match outcome {
        Ok(Some(Wake)) => ExitCode::from(WAKE),
        Ok(None) | Err(_) => ExitCode::SUCCESS,
    }
}

/// The session is to be woken; the text for it was printed.
struct Wake;

fn run(event: &str) -> Option<Wake> {
    let begun = Instant::now();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let started = Time::from_millis(i64::try_from(started.as_millis()).ok()?);
    let env = HookEnv::read(|name| std::env::var_os(name), process::identify, started)?;
    let payload = stdin::read()?;
    let call = claude_code::translate(event, &payload, &env)?;
    drop(payload);
    let home = Home::from_env().ok()?;
    match call {
        Call::Fact { origin, fact } => {
            // What is over needs no daemon to hear of it, unless the last one was killed: the session is on record, and
            // its parked hook will bring the next one.
            let absence = if matches!(fact, Fact::Ended) { Absence::StartIfKilled } else { Absence::Start };
            let reply = if matches!(fact, Fact::SpawnRequested { .. }) { ANSWER } else { RECEIPT };
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let patience = Patience { connection: left.saturating_sub(reply), reply };
            let reply = Client::new(&home).ask(&Request::Fact { origin, fact }, absence, patience).ok()?;
            answer(&reply, &env);
            None
        }
        Call::Park { origin, mark, stopped } => {
            let session = origin.session.clone();
            let arrival = park::wait(&home, &Request::Park { origin, mark, stopped })?;
            // Unheard, it is not confirmed, and will be offered again.
            std::io::stderr().write_all(claude_code::wake_text(&arrival.order).as_bytes()).ok()?;
            arrival.confirm(session);
            Some(Wake)
        }
    }
}

/// Tells the client what was decided about a spawn.
fn answer(reply: &Reply, env: &HookEnv) {
    let text = match reply {
        Reply::Allow(instructions) => claude_code::allow(instructions, env.forks),
        Reply::Deny(denial) => claude_code::deny(*denial),
        _ => return,
    };
    // Nobody is left to tell if this fails.
    let _ = std::io::stdout().write_all(text.as_bytes());
}
