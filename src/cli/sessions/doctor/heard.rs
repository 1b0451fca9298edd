//! The daemon and its journal: whether hooks have ever reported, whether versions agree, whether the journal is sound.

use std::path::Path;
use std::time::SystemTime;

use super::finding::{Check, Finding};
use crate::cli::sessions::last_words::last_words;
use crate::cli::sessions::status::PATIENCE;
use crate::cli::sessions::words;
use crate::engine::ForkType;
use crate::host::client::{Absence, Client, ClientError};
use crate::host::dirs::Home;
use crate::host::protocol::{Reply, Request, Status};
use crate::ir::Time;
use crate::journal::{self, JournalError, Reader};
use crate::project::{Disk, FileSystem};

const DAEMON: Check =
    Check { name: "daemon", why: "the daemon waits with the sessions and decides when a fork fires" };
const HOOKS: Check =
    Check { name: "hooks", why: "autofork knows of a session only what the plugin's hooks report of it" };
const JOURNAL: Check = Check {
    name: "journal",
    why: "the journal keeps what has fired, so that no fork fires twice or too often when the daemon restarts",
};

const FORK_TYPE: Check =
    Check { name: "fork-type", why: "a session whose Claude Code does not know forks is not woken any more" };

/// When a hook was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Never.
    Never,
    /// Not within what the journal still holds.
    Forgotten,
    /// Then.
    At(Time),
    /// That cannot be told.
    Unknown,
}

/// What the daemon and the journal say.
#[derive(Debug)]
pub(super) struct Evidence {
    daemon: Result<Status, ClientError>,
    journal: Result<Heard, String>,
    newer_journal: Option<u32>,
    set_aside: Vec<std::path::PathBuf>,
    journal_path: std::path::PathBuf,
    /// The error that the last daemon ended with.
    last_words: Option<String>,
    now: Time,
}

impl Evidence {
    /// Asks the daemon if one is there, and reads the journal. Starts nothing, and changes nothing.
    pub(super) fn gather(home: &Home) -> Self {
        let daemon = match Client::new(home).ask(&Request::Status, Absence::Accept, PATIENCE) {
            Ok(Reply::Status(status)) => Ok(*status),
            Ok(_) => Err(ClientError::Garbled),
            Err(error) => Err(error),
        };
        let path = home.journal();
        let newer_journal = journal::newer_format(&path);
        let journal = match Reader::open(&path) {
            Ok(None) | Err(JournalError::Newer { .. }) => Ok(Heard::Never),
            Ok(Some(reader)) => reader.last_heard().map_err(|error| error.to_string()).map(|heard| match heard {
                journal::Heard::Never => Heard::Never,
                journal::Heard::Forgotten => Heard::Forgotten,
                journal::Heard::At(at) => Heard::At(at),
            }),
            Err(error) => Err(error.to_string()),
        };
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let clock = Time::from_millis(i64::try_from(clock.as_millis()).unwrap_or(i64::MAX));
        let now = daemon.as_ref().map_or(clock, |status| status.daemon.now.max(clock));
        let (set_aside, last_words) = (set_aside(home.base()), last_words(home));
        Self { daemon, journal, newer_journal, set_aside, journal_path: path, last_words, now }
    }

    /// The last event of a hook, from whoever knows of the later one.
    pub(super) fn heard(&self) -> Heard {
        let sessions = self.daemon.as_ref().map(|status| status.sessions.as_slice()).unwrap_or_default();
        let live = sessions.iter().map(|session| session.last_event).max();
        match (&self.journal, live) {
            (Ok(Heard::At(at)), live) => Heard::At(live.map_or(*at, |live| live.max(*at))),
            (_, Some(live)) => Heard::At(live),
            (Ok(_), None) if self.newer_journal.is_some() => Heard::Unknown,
            (Ok(heard), None) => *heard,
            (Err(_), None) => Heard::Unknown,
        }
    }

    pub(super) fn check(&self) -> Vec<Finding> {
        let mut findings = vec![self.hooks()];
        findings.extend(self.fork_type());
        findings.extend(self.daemon_itself());
        findings.extend(self.journal());
        findings
    }

    fn hooks(&self) -> Finding {
        match self.heard() {
            Heard::At(at) => HOOKS.ok(format!("last event {} ago", self.now.since(at))),
            Heard::Forgotten => HOOKS
                .note("no hook event within the last 30 days")
                .remedy("start a session with the plugin and send it a prompt, then look again"),
            Heard::Never => HOOKS.note("no hook event has ever arrived").remedy(
                "start a session with the plugin and send it a prompt, then look again; if it stays so, see \
                 `/plugin` and `/hooks` there, and whether the hooks find a binary: AUTOFORK_BIN, the plugin's own, \
                 or `autofork` in an absolute entry of PATH",
            ),
            Heard::Unknown => HOOKS.note("whether a hook event has ever arrived cannot be told: see the journal"),
        }
    }

    /// Sessions that were woken, and could not spawn a fork in any way that is known.
    fn fork_type(&self) -> Option<Finding> {
        let sessions = self.daemon.as_ref().map(|status| status.sessions.as_slice()).unwrap_or_default();
        let missing: Vec<&str> = sessions
            .iter()
            .filter(|session| session.fork_type == ForkType::Missing)
            .map(|session| session.session.as_str())
            .collect();
        let remedy = "use Claude Code 2.1.232 or newer (`claude update`), or set CLAUDE_CODE_FORK_SUBAGENT to \"1\", and \
                      begin the session anew";
        (!missing.is_empty())
            .then(|| FORK_TYPE.problem(format!("no fork could be spawned in session {}", missing.join(", ")), remedy))
    }

    fn daemon_itself(&self) -> Vec<Finding> {
        let ours = env!("CARGO_PKG_VERSION");
        let finding = match &self.daemon {
            Ok(Status { daemon, sessions }) => {
                let up = self.now.since(daemon.since);
                let count = sessions.len();
                let sessions = if count == 1 { "session" } else { "sessions" };
                let found =
                    format!("{} runs as process {}, for {up}, with {count} {sessions}", daemon.version, daemon.pid);
                if daemon.version == ours {
                    DAEMON.ok(found)
                } else {
                    DAEMON.warn(
                        format!("{found}; this command is {ours}"),
                        "update this command to the daemon's version, or run `autofork stop-daemon`: the next hook \
                         starts the plugin's own",
                    )
                }
            }
            Err(ClientError::Absent) => match &self.last_words {
                None => DAEMON.ok("none is running; the next hook of a session starts one"),
                Some(said) => DAEMON.warn(
                    format!("none is running, and the last one ended with an error: {said}"),
                    "see to that; the next hook of a session starts one again. `autofork logs` tells more",
                ),
            },
            Err(ClientError::Outdated(hello)) => DAEMON.warn(
                format!("the daemon is {}, older than this command, which is {ours}", hello.version),
                "the next hook of this version replaces it; or run `autofork stop-daemon`",
            ),
            Err(ClientError::OtherProtocol(hello)) => DAEMON.problem(
                format!("the daemon is {}, newer than this command, which is {ours}", hello.version),
                "update this command, or run `autofork stop-daemon`",
            ),
            Err(error @ ClientError::Stranger) => {
                DAEMON.problem(error.to_string(), "see who made that socket, and remove it")
            }
            Err(error @ ClientError::Hidden(_)) => DAEMON
                .problem(error.to_string(), "see `autofork logs`; end that process to make room for a new daemon"),
            Err(error) => DAEMON.problem(
                error.to_string(),
                "see `autofork logs`; `autofork stop-daemon` makes room for a new daemon",
            ),
        };
        let daemon = self.daemon.as_ref().ok().map(|status| &status.daemon);
        let trouble = daemon.and_then(|daemon| daemon.trouble.as_ref());
        let notes = daemon.into_iter().flat_map(|daemon| &daemon.notes).map(|note| {
            if Some(note) == trouble {
                DAEMON.problem(note.clone(), "see to that; forks fire again as soon as it has gone")
            } else {
                DAEMON.note(note.clone())
            }
        });
        std::iter::once(finding).chain(notes).collect()
    }

    fn journal(&self) -> Vec<Finding> {
        let path = &self.journal_path;
        let mut findings = Vec::new();
        if let Some(format) = self.newer_journal {
            findings.push(
                JOURNAL
                    .problem(
                        format!("it was written by a newer autofork (format {format}), so no daemon of this version starts"),
                        "update autofork, or move the journal away and lose what it knows",
                    )
                    .at(path),
            );
        } else if let Err(reason) = &self.journal {
            findings.push(
                JOURNAL
                    .problem(
                        format!("it cannot be read: {reason}"),
                        "see whether it is yours and the disk has room; a daemon that finds it damaged sets it aside \
                         and begins a new one",
                    )
                    .at(path),
            );
        } else if Disk.metadata(path).is_ok() {
            findings.push(JOURNAL.ok("it can be read").at(path));
        } else {
            findings.push(JOURNAL.ok("there is none yet; the first daemon makes it"));
        }
        findings.extend(self.set_aside.iter().map(|aside| {
            JOURNAL
                .note(format!("a damaged journal was set aside as {}", words::path(aside)))
                .remedy("remove it once nobody wants to look into it")
                .at(aside)
        }));
        findings
    }
}

/// Journals that were set aside. The database's own companions are not counted.
fn set_aside(base: &Path) -> Vec<std::path::PathBuf> {
    let is_one =
        |name: &str| name.starts_with("journal.db.damaged") && !name.ends_with("-wal") && !name.ends_with("-shm");
    let entries = Disk.list(base).unwrap_or_default();
    let mut found: Vec<_> = entries
        .into_iter()
        .filter(|entry| entry.name.to_str().is_some_and(is_one))
        .map(|entry| base.join(entry.name))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;
    use crate::host::protocol::DaemonStatus;

    fn evidence(version: &str, journal: Result<Heard, String>) -> Evidence {
        let daemon = DaemonStatus {
            version: version.to_owned(),
            pid: 1,
            since: Time::from_millis(0),
            now: Time::from_millis(5_000),
            notes: vec!["The journal was damaged.".to_owned()],
            trouble: None,
        };
        Evidence {
            daemon: Ok(Status { daemon, sessions: Vec::new() }),
            journal,
            newer_journal: None,
            set_aside: Vec::new(),
            journal_path: "/nowhere/journal.db".into(),
            last_words: None,
            now: Time::from_millis(5_000),
        }
    }

    fn told(evidence: &Evidence) -> Vec<(Level, &'static str)> {
        evidence.check().into_iter().map(|finding| (finding.level, finding.check)).collect()
    }

    #[test]
    fn what_the_daemon_noted_at_its_start_is_not_in_its_log_alone() {
        let sound = evidence(env!("CARGO_PKG_VERSION"), Ok(Heard::At(Time::from_millis(2_000))));
        assert_eq!(
            told(&sound),
            [(Level::Ok, "hooks"), (Level::Ok, "daemon"), (Level::Note, "daemon"), (Level::Ok, "journal")]
        );
        assert_eq!(sound.hooks().found, "last event 3s ago");
    }

    #[test]
    fn what_the_last_daemon_said_when_it_ended_is_told() {
        let silent =
            Evidence { daemon: Err(ClientError::Absent), ..evidence("", Ok(Heard::At(Time::from_millis(2_000)))) };
        let daemon = |evidence: &Evidence| evidence.daemon_itself().remove(0);
        assert_eq!(daemon(&silent).level, Level::Ok, "that none is running is nothing wrong");
        let last_words = Some("cannot use the socket: no room".to_owned());
        let failed = daemon(&Evidence { last_words, ..silent });
        assert_eq!(failed.level, Level::Warn);
        insta::assert_snapshot!(
            failed.found,
            @"none is running, and the last one ended with an error: cannot use the socket: no room"
        );
    }

    #[test]
    fn another_version_and_an_unreadable_journal_are_told() {
        let other = evidence("99.0.0", Err("it is locked".to_owned()));
        assert_eq!(other.heard(), Heard::Unknown);
        let told = told(&other);
        assert!(told.contains(&(Level::Warn, "daemon")) && told.contains(&(Level::Problem, "journal")), "{told:?}");
    }
}
