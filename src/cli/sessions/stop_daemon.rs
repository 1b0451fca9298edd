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

/// How long it may take to leave: it writes a snapshot on its way out. One that takes longer is ended.
const LEAVING: Duration = Duration::from_secs(5);

pub(super) fn run() -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let mut client = Client::new(&home);
    match client.ask(&Request::Leave, Absence::Accept, PATIENCE) {
        // One that is slow may yet hear what it was told.
        Ok(Reply::Done) | Err(ClientError::Slow | ClientError::Broken(_)) => {}
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
    if has_left(&home, LEAVING) {
        output::say("The daemon has left. The next hook of a session starts a new one.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let holder = Holder::of(&home);
    if holder.is_some_and(Holder::end) && has_left(&home, LEAVING) {
        output::say("The daemon did not answer, and was ended. The next hook of a session starts a new one.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let who = holder.and_then(|holder| holder.pid).map_or_else(String::new, |pid| format!(" (process {pid})"));
    Err(CliError::new(format!("the daemon{who} did not leave"))
        .help("see daemon.log in the base folder, and end that process"))
}

/// Whether the daemon leaves in time. By the lock, which goes with its process.
fn has_left(home: &Home, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        if Holder::of(home).is_none() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
