//! `autofork stop-daemon`: sends the daemon away.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use super::status::{PATIENCE, trouble};
use crate::cli::{CliError, output};
use crate::host::client::{Absence, Client, ClientError};
use crate::host::dirs::Home;
use crate::host::holder::Holder;
use crate::host::protocol::{Reply, Request};

/// How long it may take to leave: it writes a snapshot on its way out.
const LEAVING: Duration = Duration::from_secs(5);

pub(super) fn run() -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let mut client = Client::new(&home);
    match client.ask(&Request::Leave, Absence::Accept, PATIENCE) {
        Ok(Reply::Done) => {}
        Err(ClientError::Absent) => {
            output::say("No daemon is running.\n")?;
            return Ok(ExitCode::SUCCESS);
        }
        // One of another version understands only the frame that never changes.
        Ok(_) | Err(ClientError::Outdated(_) | ClientError::OtherProtocol(_) | ClientError::Garbled) => {
            client.retire(Instant::now() + PATIENCE.connection);
        }
        Err(error) => return Err(trouble(&error)),
    }
    let until = Instant::now() + LEAVING;
    while Instant::now() < until {
        // By the lock, which goes with its process.
        if Holder::of(&home).is_none() {
            output::say("The daemon has left. The next hook of a session starts a new one.\n")?;
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(CliError::new("the daemon did not leave").help("see daemon.log in the base folder"))
}
