//! `why FORK`: when a fork fired in each session here, or why it did not, and when it next could. Never starts a daemon.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::status::{PATIENCE, render, trouble};
use super::words::{clock, first_line, plain, reason, remedy, run_state, telling, until};
use crate::cli::check::shown;
use crate::cli::style::{BOLD, DIM, GREEN, RED, YELLOW};
use crate::cli::{CliError, forks, output, surroundings};
use crate::compile::{self, Listed, State};
use crate::db::{Loaded, Workspace};
use crate::diagnostic::{Diagnostic, Level};
use crate::engine::Reason;
use crate::host::client::{Absence, Client, ClientError};
use crate::host::dirs::Home;
use crate::host::protocol::{DaemonStatus, ForkStatus, Reply, Request, RunState, SessionStatus, Standing, Status};
use crate::ir::{ForkName, LaunchDir, Time};
use crate::text::visible;

/// Say why a fork fired or did not in each session here, and when it next could.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The fork's name.
    fork: String,
    /// Sessions of all projects, not of this one alone.
    #[arg(long)]
    all: bool,
    /// Print one JSON document: times in milliseconds since 1970, lengths in seconds.
    #[arg(long)]
    json: bool,
}

/// How many characters of a report are shown.
const REPORT_SHOWN: usize = 72;

/// The version of the JSON printed.
const VERSION: u32 = 1;

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let loaded = Workspace::on_disk().load(&LaunchDir::new(&current), &surroundings::user_dirs());
    let name = compile::fork_name(&arguments.fork);
    let home = Home::from_env()?;
    let status = match Client::new(&home).ask(&Request::Why(name.clone()), Absence::Accept, PATIENCE) {
        Ok(Reply::Status(status)) => Some(*status),
        Ok(_) => return Err(trouble(&ClientError::Garbled)),
        Err(ClientError::Absent) => None,
        Err(error) => return Err(trouble(&error)),
    };
    let candidates: Vec<&Listed> = loaded.listing.iter().filter(|listed| listed.name == name).collect();
    // The one that the name stands for here: what is in force, else what took the name, else what was meant.
    let listed = candidates
        .iter()
        .find(|listed| listed.state == State::Active)
        .or_else(|| candidates.iter().find(|listed| !matches!(listed.state, State::Shadowed | State::Note)))
        .or_else(|| candidates.first())
        .copied();
    let sessions: Vec<&SessionStatus> = status
        .iter()
        .flat_map(|status| &status.sessions)
        .filter(|session| arguments.all || is_here(session, &loaded))
        .collect();
    let known = sessions.iter().any(|session| !session.forks.is_empty());
    if listed.is_none() && !known {
        return Err(unknown(&arguments.fork, &loaded));
    }
    let answer =
        Answer { name: &name, listed, loaded: &loaded, status: status.as_ref(), sessions, all: arguments.all };
    if arguments.json {
        output::print_json(&answer.json(&current))?;
    } else {
        output::say(&answer.text(&current))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a session belongs to the project that this is asked in.
fn is_here(session: &SessionStatus, loaded: &Loaded) -> bool {
    session.root == loaded.root || session.launch.as_path().starts_with(loaded.root.as_path())
}

fn unknown(name: &str, loaded: &Loaded) -> CliError {
    let known = loaded.listing.iter().filter(|listed| listed.state != State::Note).map(|listed| listed.name.as_str());
    let error = CliError::new(format!("no fork is named `{}` here", visible(name)));
    match compile::nearest(name, known) {
        Some(near) => error.help(format!("did you mean `{}`?", visible(near))),
        None => error.help("see `autofork forks` for the forks that are visible here"),
    }
}

struct Answer<'a> {
    name: &'a ForkName,
    listed: Option<&'a Listed>,
    loaded: &'a Loaded,
    status: Option<&'a Status>,
    sessions: Vec<&'a SessionStatus>,
    all: bool,
}

impl Answer<'_> {
    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let path = self.listed.map(|listed| listed.path.as_path());
        self.loaded.diagnostics.iter().filter(move |found| Some(&*found.path) == path)
    }

    fn text(&self, current: &Path) -> String {
        let mut text = String::new();
        self.definition(&mut text, current);
        let Some(status) = self.status else {
            let _ = writeln!(
                text,
                "\n{BOLD}No daemon is running{BOLD:#}, so no session is waiting. The next hook of a session starts one."
            );
            return text;
        };
        let now = status.daemon.now;
        if self.sessions.is_empty() {
            let hint = if self.all { "" } else { " (`--all` asks for those of other projects)" };
            let _ = writeln!(text, "\nNo session of this project has been heard of{hint}.");
        }
        for session in &self.sessions {
            text.push('\n');
            render::heading(&mut text, session, now);
            match session.forks.first() {
                Some(fork) => in_session(&mut text, session, fork, now),
                None => {
                    let _ =
                        writeln!(text, "  {DIM}no such fork was in force there when its files were last read{DIM:#}");
                }
            }
        }
        text
    }

    /// What the name stands for here.
    fn definition(&self, text: &mut String, current: &Path) {
        let name = plain(self.name.as_str());
        let Some(listed) = self.listed else {
            let _ = writeln!(text, "{BOLD}{name}{BOLD:#}  {YELLOW}is not defined here{YELLOW:#}");
            return;
        };
        let file = plain(&shown(&listed.path, current));
        let (style, note) = match listed.state {
            State::Active => (GREEN, ""),
            State::Broken => (RED, "  is broken and does not fire"),
            State::Off => (YELLOW, "  is switched off with `fork: false`"),
            State::Shadowed => (YELLOW, "  is hidden by a nearer file of this name"),
            State::Note => (YELLOW, "  is no fork: it has no `fork: true`"),
        };
        let _ = writeln!(text, "{style}●{style:#} {BOLD}{name}{BOLD:#}  {file}{style}{note}{style:#}");
        if let Some(fork) = &listed.fork {
            let _ = writeln!(text, "  {}", forks::summary(fork));
        }
        let worst = self.diagnostics().filter(|found| found.level != Level::Hint).max_by_key(|found| found.level);
        if let Some(found) = worst {
            let place = self.loaded.sources.get(&found.path).map(|source| source.position(found.span.start()));
            let place = place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {YELLOW}{}{YELLOW:#}: {} {DIM}({file}{place}; see `autofork check`){DIM:#}",
                found.rule.name,
                plain(&found.message)
            );
        }
        for hidden in self.loaded.listing.iter().filter(|other| other.name == *self.name && other.path != listed.path)
        {
            if hidden.state == State::Shadowed {
                let _ = writeln!(text, "  {DIM}hides {}{DIM:#}", plain(&shown(&hidden.path, current)));
            }
        }
    }

    fn json<'a>(&'a self, current: &Path) -> Json<'a> {
        Json {
            version: VERSION,
            fork: JsonFork {
                name: self.name.as_str(),
                state: self.listed.map(|listed| listed.state.name()),
                path: self.listed.map(|listed| shown(&listed.path, current)),
                rules: self.diagnostics().map(|found| found.rule.name).collect(),
            },
            daemon: self.status.map(|status| &status.daemon),
            sessions: self
                .sessions
                .iter()
                .map(|session| JsonSession {
                    session: session.session.as_str(),
                    launch: &session.launch,
                    standing: session.standing,
                    fork: session.forks.first(),
                })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    fork: JsonFork<'a>,
    /// Null where none is running.
    daemon: Option<&'a DaemonStatus>,
    sessions: Vec<JsonSession<'a>>,
}

#[derive(Serialize)]
struct JsonFork<'a> {
    name: &'a str,
    /// Null where it is not defined here.
    state: Option<&'static str>,
    path: Option<String>,
    /// The rules whose findings are in its file.
    rules: Vec<&'a str>,
}

#[derive(Serialize)]
struct JsonSession<'a> {
    session: &'a str,
    launch: &'a LaunchDir,
    standing: Standing,
    /// Null where it was not in force.
    fork: Option<&'a ForkStatus>,
}

fn in_session(text: &mut String, session: &SessionStatus, fork: &ForkStatus, now: Time) {
    if let Some(last) = &fork.last {
        let _ = writeln!(
            text,
            "  fired {} {DIM}({}){DIM:#}  {}",
            clock(last.at, now),
            last.trigger,
            run_state(&last.state, now)
        );
        if let RunState::Ended { report: Some(report), .. } = &last.state {
            let _ = writeln!(text, "  {DIM}“{}”{DIM:#}", first_line(report, REPORT_SHOWN));
        }
    } else {
        let _ = writeln!(text, "  {DIM}has not fired in this session{DIM:#}");
    }
    for known in telling(&fork.reasons) {
        let _ = writeln!(text, "  {YELLOW}·{YELLOW:#} {}", reason(known, now));
    }
    let can_wait = matches!(session.standing, Standing::Parked { .. });
    // After the next turn a hook is parked again: that need not be said twice.
    let latched = fork.reasons.contains(&Reason::Latched);
    let last = |reason: &&Reason| !(latched && matches!(reason, Reason::NotParked | Reason::MidTurn));
    let remedies: Vec<&str> = telling(&fork.reasons).filter(last).filter_map(remedy).collect();
    let next = match (fork.due, remedies.as_slice()) {
        (Some(due), []) if can_wait => {
            format!("{GREEN}{}{GREEN:#} {DIM}({}){DIM:#}", until(due, now), clock(due, now))
        }
        (Some(due), remedies) if due > now => {
            format!("not before {}, and {}", clock(due, now), remedies.join(", and "))
        }
        (_, []) => format!("{GREEN}now{GREEN:#}"),
        (_, remedies) => remedies.join(", and "),
    };
    let _ = writeln!(text, "  next  {next}");
}
