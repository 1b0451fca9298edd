//! `autofork status`: how things stand. Never starts a daemon.

pub(super) mod render;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::last_words::last_words;
use crate::cli::{CliError, output};
use crate::host::client::{Absence, Client, ClientError, Patience};
use crate::host::dirs::Home;
use crate::host::protocol::{DaemonStatus, Reply, Request, SessionStatus};
use crate::journal;

/// How long the daemon may take to answer a person.
pub(super) const PATIENCE: Patience = Patience { connection: Duration::from_secs(3), reply: Duration::from_secs(3) };

/// The version of the JSON printed.
const VERSION: u32 = 1;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print JSON for programs: times in milliseconds since 1970, lengths in seconds
    #[arg(long)]
    json: bool,
}

/// What `--json` prints. `daemon` is null where none is running.
#[derive(Debug, Serialize)]
struct Json<'a> {
    version: u32,
    daemon: Option<&'a DaemonStatus>,
    sessions: &'a [SessionStatus],
}

/// Why there is no daemon, as far as that shows.
#[derive(Debug, Default)]
struct Silence {
    /// The format of a journal that a newer version wrote.
    newer_format: Option<u32>,
    /// What keeps any from starting.
    obstacle: Option<String>,
    /// The error that the last one ended with.
    last_words: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let home = Home::from_env().map_err(|error| CliError::new(error.to_string()).help(error.help()))?;
    let status = match Client::new(&home).ask(&Request::Status, Absence::Accept, PATIENCE) {
        Ok(Reply::Status(status)) => Some(*status),
        Ok(_) => return Err(trouble(&ClientError::Garbled)),
        Err(ClientError::Absent) => None,
        Err(error) => return Err(trouble(&error)),
    };
    if arguments.json {
        output::print_json(&Json {
            version: VERSION,
            daemon: status.as_ref().map(|status| &status.daemon),
            sessions: status.as_ref().map(|status| status.sessions.as_slice()).unwrap_or_default(),
        })?;
    } else {
        output::say(&match &status {
            Some(status) => render::status(status),
            None => render::no_daemon(&Silence {
                newer_format: journal::newer_format(&home.journal()),
                obstacle: home.obstacle(),
                last_words: last_words(&home),
            }),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the daemon could not be asked, for a person.
pub(super) fn trouble(error: &ClientError) -> CliError {
    let help = match error {
        ClientError::Outdated(_) => "the next hook of a session replaces it; or run `autofork stop-daemon`",
        ClientError::OtherProtocol(_) => "use the autofork that is as new as the daemon, or `autofork stop-daemon`",
        ClientError::Hidden(_) => "see daemon.log in the base folder; end that process to make room for a new daemon",
        ClientError::Stranger => "see who made that socket, and remove it",
        _ => "see daemon.log in the base folder; `autofork stop-daemon` makes room for a new daemon",
    };
    CliError::new(error.to_string()).help(help)
}
