//! `autofork daemon`: the daemon itself. Hooks start it; nobody types it but to watch it.

use std::process::ExitCode;

use super::source::Source;
use crate::cli::CliError;
use crate::daemon::{self, DaemonError};
use crate::host::dirs::Home;

pub(super) fn run() -> Result<ExitCode, CliError> {
    let trouble = |error: DaemonError| CliError::new(error.to_string()).help(error.help());
    let home = Home::from_env().map_err(|error| trouble(DaemonError::Home(error)))?;
    daemon::run(&home, Source::new).map_err(trouble)?;
    // Another daemon being there already is no failure: whoever wanted one has one.
    Ok(ExitCode::SUCCESS)
}
