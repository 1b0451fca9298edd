//! Standard output. Every command writes through here, so that each of them fails when it cannot be written, and none
//! complains when nobody reads on.

use std::io::{self, BufWriter, ErrorKind, Write};

use serde::Serialize;

use super::CliError;
use crate::text::visible_json;

/// Writes words for a person; their styles are left out where they would not be shown.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    written(buffered(anstream::stdout().lock(), write))
}

/// Writes bytes as they are, for programs or because they were styled already.
pub(super) fn print_raw(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    written(buffered(io::stdout().lock(), write))
}

/// Writes a text for a person.
pub(super) fn say(text: &str) -> Result<(), CliError> {
    print(|out| out.write_all(text.as_bytes()))
}

/// Writes one JSON document, set so that a person can read it too.
pub(super) fn print_json(document: &impl Serialize) -> Result<(), CliError> {
    print_raw(|out| writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(document)?)))
}

/// Takes the outcome of writing to standard output. A reader that has gone away, such as `head`, is no failure.
pub(super) fn written(outcome: io::Result<()>) -> Result<(), CliError> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::new(format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// What is left in a buffer when a process ends is lost without a word, so it is written out here.
fn buffered(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    out.flush()
}
