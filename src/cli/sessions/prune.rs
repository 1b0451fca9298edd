//! `autofork prune`: ends the sessions whose client is gone. Starts no daemon.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::status::{PATIENCE, trouble};
use super::words::{path, plain};
use crate::cli::{CliError, output};
use crate::host::client::{Absence, Client, ClientError};
use crate::host::dirs::Home;
use crate::host::protocol::{LookedAfter, Reply, Request, Verdict};

/// The version of the JSON printed.
const VERSION: u32 = 1;

/// End the sessions whose client is gone
///
/// The daemon notices the end of a client by itself where the system tells it. A session whose client is not known is
/// left alone: it ends after `session_timeout`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Json<'a> {
    version: u32,
    sessions: &'a [LookedAfter],
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let sessions = match Client::new(&home).ask(&Request::Prune, Absence::Accept, PATIENCE) {
        Ok(Reply::Pruned(sessions)) => Some(sessions),
        Err(ClientError::Absent) => None,
        // One that does not know the question.
        Ok(_) => {
            return Err(CliError::new("the daemon does not know how to")
                .help("it is of another version: run `autofork stop-daemon`, and the next hook starts one anew"));
        }
        Err(error) => return Err(trouble(&error)),
    };
    if arguments.json {
        output::print_json(&Json { version: VERSION, sessions: sessions.as_deref().unwrap_or_default() })?;
    } else {
        output::say(&text(sessions.as_deref()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(sessions: Option<&[LookedAfter]>) -> String {
    let Some(sessions) = sessions else {
        return "No daemon is running. The next one looks after the sessions that it finds in its journal.\n"
            .to_owned();
    };
    let of = |verdict: Verdict| sessions.iter().filter(move |session| session.verdict == verdict);
    let mut text = String::new();
    for session in of(Verdict::Ended) {
        let _ = writeln!(text, "Ended {}: its client is gone.", named(session));
    }
    for session in of(Verdict::Unknown) {
        let _ = writeln!(
            text,
            "Left {} alone: its client is not known, so it ends after session_timeout.",
            named(session)
        );
    }
    text + &match (of(Verdict::Ended).count(), sessions.len()) {
        (_, 0) => "There is no session.\n".to_owned(),
        (0, 1) => "Nothing to end: 1 session is there.\n".to_owned(),
        (0, all) => format!("Nothing to end: {all} sessions are there.\n"),
        (1, all) => format!("1 of {all} ended.\n"),
        (ended, all) => format!("{ended} of {all} ended.\n"),
    }
}

fn named(session: &LookedAfter) -> String {
    format!("{} in {}", plain(session.session.as_str()), path(session.launch.as_path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SessionId;
    use crate::ir::LaunchDir;

    #[test]
    fn it_says_what_it_did() {
        let session = |name: &str, verdict| LookedAfter {
            session: SessionId::from(name),
            launch: LaunchDir::new("/pro\u{1b}ject"),
            verdict,
        };
        assert_eq!(text(Some(&[])), "There is no session.\n");
        assert_eq!(text(Some(&[session("a", Verdict::Alive)])), "Nothing to end: 1 session is there.\n");
        let all = [session("a", Verdict::Alive), session("b", Verdict::Ended), session("c", Verdict::Unknown)];
        assert_eq!(
            text(Some(&all)),
            "Ended b in /pro\\u{1b}ject: its client is gone.\n\
             Left c in /pro\\u{1b}ject alone: its client is not known, so it ends after session_timeout.\n\
             1 of 3 ended.\n"
        );
    }
}
