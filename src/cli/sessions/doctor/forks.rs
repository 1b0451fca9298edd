//! The forks that are visible here and their configuration, in counts; `autofork check` tells the rest.

use std::fmt::Write as _;

use super::finding::{Check, Finding};
use crate::compile::State;
use crate::db::Loaded;
use crate::diagnostic::Level;

const FORKS: Check = Check { name: "forks", why: "a fork that is broken, or has no moment left, never fires" };

/// Checks what was loaded for the current folder.
pub(super) fn check(loaded: &Loaded) -> Finding {
    let level = |level: Level| loaded.diagnostics.iter().filter(|found| found.level == level).count();
    let (errors, warnings, hints) = (level(Level::Error), level(Level::Warn), level(Level::Hint));
    let active = loaded.in_state(State::Active).count();
    let broken = loaded.in_state(State::Broken).count();
    let mut found = match active {
        0 => "no fork is active here".to_owned(),
        active => format!("{} here", counted(active, "active fork")),
    };
    if broken > 0 {
        let _ = write!(found, ", {broken} broken");
    }
    let counts: Vec<String> = [(errors, "error"), (warnings, "warning"), (hints, "hint")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    if !counts.is_empty() {
        let _ = write!(found, "; forks and configuration have {}", counts.join(", "));
    }
    match (errors, warnings, hints, active) {
        (1.., ..) => FORKS.problem(found, "run `autofork check`"),
        (0, 1.., ..) => FORKS.warn(found, "run `autofork check`"),
        (.., 1.., _) => FORKS.ok(found).remedy("`autofork check` tells the hints"),
        (.., 0) => FORKS.note(found).remedy("`autofork init` writes a first one"),
        _ => FORKS.ok(found),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
