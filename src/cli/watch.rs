//! `check --watch`: check again whenever something changes.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::CliError;
use super::check::{Check, print_report};
use super::scope::Scope;
use super::surroundings;
use crate::diagnostic::full::Colours;

/// How often the files are looked at. Looking costs one call for each file and reads none that did not change.
const PAUSE: Duration = Duration::from_millis(300);

/// Checks until the process is stopped, or nobody reads the output any more.
pub(super) fn watch(check: &mut Check<'_>) -> Result<(), CliError> {
    let mut last: Option<Scope> = None;
    loop {
        let start = Instant::now();
        let scope = check.look();
        let took = start.elapsed();
        if last.as_ref().is_none_or(|last| differs(last, &scope)) {
            match show(check, &scope, took) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                outcome => super::written(outcome)?,
            }
            last = Some(scope);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether there is something new to see: other findings, or other texts.
fn differs(last: &Scope, now: &Scope) -> bool {
    let texts = |scope: &Scope| scope.sources.iter().map(|source| source.text().clone()).collect::<Vec<_>>();
    last.diagnostics != now.diagnostics || last.files != now.files || texts(last) != texts(now)
}

fn show(check: &Check<'_>, scope: &Scope, took: Duration) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if surroundings::look().colours == Colours::On {
        // Clears the screen and what was scrolled out of it.
        write!(out, "\u{1b}[2J\u{1b}[3J\u{1b}[H")?;
    }
    print_report(&mut out, check, scope)?;
    writeln!(out, "Looked in {} ms; waiting for changes. Ctrl-C ends this.", took.as_millis())?;
    out.flush()
}
