//! History: what became of every ticket, kept when its session and the journal's entries are long gone.
//!
//! One row a ticket, written in the same transaction as the entry that changed it. Reading opens the database for
//! itself and leaves no trace: no file is made, whether a daemon runs or not.

use std::fmt::Write;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::entry::{self, number, ticket_id};
use super::{JournalError, file};
use crate::engine::{Outcome, RUN_AGES_OUT, Record, TicketId, TicketState, Trigger, Usage, WakeId};
use crate::ir::{LaunchDir, Program, Programs, Time};

pub(super) const SCHEMA: &str = "
    CREATE TABLE run (
        ticket INTEGER PRIMARY KEY,
        wake INTEGER NOT NULL,
        session TEXT NOT NULL,
        conversation TEXT NOT NULL,
        root TEXT NOT NULL,
        fork TEXT NOT NULL,
        due TEXT NOT NULL,
        issued INTEGER NOT NULL,
        state TEXT NOT NULL,
        failures INTEGER NOT NULL,
        started INTEGER,
        last_sign INTEGER,
        ended INTEGER,
        outcome TEXT,
        report TEXT,
        tokens INTEGER,
        tool_uses INTEGER,
        duration INTEGER,
        session_over INTEGER
    ) STRICT;
    CREATE INDEX run_issued ON run (issued);
";

/// What was issued longer ago than this is let go: 400 days, in milliseconds.
pub(super) const KEPT_MILLIS: i64 = 400 * 24 * 60 * 60 * 1000;

const OPEN: &str = "open";
const VOID: &str = "void";
const WITHDRAWN: &str = "withdrawn";
const RUN: &str = "run";

/// One ticket of the past, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRun {
    /// The ticket.
    pub ticket: TicketId,
    /// The wake it was issued with.
    pub wake: WakeId,
    /// The session.
    pub session: String,
    /// That session's conversation.
    pub conversation: String,
    /// The project's root.
    pub root: String,
    /// The fork.
    pub fork: String,
    /// What made it due.
    pub trigger: Trigger,
    /// When it was issued.
    pub issued: Time,
    /// How many spawns with it failed.
    pub failures: u32,
    /// What became of it.
    pub end: PastEnd,
}

/// What became of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastEnd {
    /// It waits to be redeemed.
    Waiting,
    /// Nobody redeemed it.
    NeverStarted,
    /// Its wake did not get through and was taken back, with its stamps.
    Withdrawn,
    /// It is running.
    Running {
        /// Since when.
        started: Time,
    },
    /// It has ended.
    Ended {
        /// When it was spawned.
        started: Time,
        /// When it ended, where that is known.
        at: Option<Time>,
        /// How.
        outcome: Outcome,
        /// Its final message.
        report: Option<String>,
        /// What it cost.
        usage: Option<Usage>,
    },
}

/// When a hook was last heard of, as far as the journal tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Never.
    Never,
    /// Not within what is kept; what was before is let go.
    Forgotten,
    /// Then.
    At(Time),
}

/// Which runs to read. Everything if nothing is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Of this fork only.
    pub fork: Option<&'a str>,
    /// Of sessions whose id begins so.
    pub session: Option<&'a str>,
    /// Issued not before the first of these instants, and before the second.
    pub between: Option<(Time, Time)>,
    /// So many at the most, the latest.
    pub most: Option<u32>,
}

pub(super) fn insert(db: &Connection, record: &Record) -> rusqlite::Result<()> {
    let ticket = &record.ticket;
    let state = match &ticket.state {
        TicketState::Open => OPEN,
        TicketState::Void if record.withdrawn => WITHDRAWN,
        TicketState::Void => VOID,
        TicketState::Redeemed(_) => RUN,
    };
    let run = ticket.run();
    let end = run.and_then(|run| run.end.as_ref());
    let usage = end.and_then(|end| end.usage);
    db.prepare_cached(
        "INSERT OR REPLACE INTO run (ticket, wake, session, conversation, root, fork, due, issued, state, failures,
             started, last_sign, ended, outcome, report, tokens, tool_uses, duration, session_over)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?
    .execute(params![
        number(ticket.id.get()),
        number(ticket.wake.get()),
        record.session.as_str(),
        record.conversation.as_str(),
        record.root.as_path().to_string_lossy(),
        ticket.fork.as_str(),
        entry::text(&ticket.trigger)?,
        ticket.issued.as_millis(),
        state,
        ticket.failures,
        run.map(|run| run.started.as_millis()),
        run.map(|run| run.last_sign.as_millis()),
        end.map(|end| end.at.as_millis()),
        end.map(|end| entry::text(&end.outcome)).transpose()?,
        end.and_then(|end| end.report.as_deref()),
        usage.map(|usage| number(usage.tokens)),
        usage.map(|usage| number(usage.tool_uses)),
        usage.map(|usage| number(usage.duration_ms)),
        record.session_over.map(Time::as_millis),
    ])?;
    Ok(())
}

/// A journal opened to be read, by whoever is not its daemon.
#[derive(Debug)]
pub struct Reader {
    db: Connection,
}

impl Reader {
    /// Opens the journal at `path`, if there is one. Makes no file and changes none.
    pub fn open(path: &Path) -> Result<Option<Self>, JournalError> {
        let database = |error| JournalError::Database(path.to_owned(), error);
        if !path.is_file() {
            return Ok(None);
        }
        // Where no daemon has it open, and none has died over it, the file is all there is. SQLite would make
        // companions for it even so, unless it is told that nobody writes.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let is_alone = !std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let mode = if is_alone { "immutable=1" } else { "mode=ro&readonly_shm=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let db = Connection::open_with_flags(format!("file:{}?{mode}", encoded(path)), flags).map_err(database)?;
        db.busy_timeout(std::time::Duration::from_millis(500)).map_err(database)?;
        let format: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(database)?;
        if format > file::FORMAT {
            return Err(JournalError::Newer { path: path.to_owned(), format });
        }
        Ok(Some(Self { db }))
    }

    /// Past runs, oldest first, as things stand at `now`.
    pub fn runs(&self, wanted: &Wanted<'_>, now: Time) -> rusqlite::Result<Vec<PastRun>> {
        if !self.has_history()? {
            return Ok(Vec::new());
        }
        let between = wanted.between.map(|(from, to)| (from.as_millis(), to.as_millis()));
        let mut statement = self.db.prepare(
            "SELECT ticket, wake, session, conversation, root, fork, due, issued, state, failures, started, last_sign,
                    ended, outcome, report, tokens, tool_uses, duration, session_over
             FROM run
             WHERE (?1 IS NULL OR fork = ?1) AND (?2 IS NULL OR substr(session, 1, length(?2)) = ?2)
                 AND (?3 IS NULL OR issued >= ?3) AND (?4 IS NULL OR issued < ?4)
             ORDER BY issued DESC, ticket DESC LIMIT ?5",
        )?;
        let most = wanted.most.map_or(-1, i64::from);
        let (from, to) = (between.map(|it| it.0), between.map(|it| it.1));
        let rows =
            statement.query_map(params![wanted.fork, wanted.session, from, to, most], |row| past_run(row, now))?;
        let mut runs: Vec<PastRun> = rows.collect::<rusqlite::Result<_>>()?;
        runs.reverse();
        Ok(runs)
    }

    /// A journal of an earlier format has none until a daemon of today opens it.
    fn has_history(&self) -> rusqlite::Result<bool> {
        self.has_table("run")
    }

    fn has_table(&self, name: &str) -> rusqlite::Result<bool> {
        let found =
            self.db.query_row("SELECT 1 FROM sqlite_schema WHERE name = ?1", [name], |_| Ok(())).optional()?;
        Ok(found.is_some())
    }

    /// When a hook last reported something.
    pub fn last_heard(&self) -> rusqlite::Result<Heard> {
        // The file is there before anything is in it.
        if !self.has_table("entry")? {
            return Ok(Heard::Never);
        }
        // An event is written as an object whose only key is its kind.
        let told: (Option<i64>, Option<i64>) = self.db.query_row(
            "SELECT max(at) FILTER (WHERE kind = 'event' AND body LIKE '{\"host\":%'), min(seq) FROM entry",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        // Entries are let go when a snapshot holds what came of them.
        let kept = entry::read_snapshot(&self.db).ok().flatten();
        let kept = kept.and_then(|(state, ..)| state.sessions().map(|session| session.last_event).max());
        match (told.0.map(Time::from_millis).max(kept), told.1) {
            (Some(at), _) => Ok(Heard::At(at)),
            (None, Some(first)) if first > 1 => Ok(Heard::Forgotten),
            (None, _) => Ok(Heard::Never),
        }
    }

    /// Hands out every entry that is kept, oldest first. What cannot be read is passed over.
    pub fn entries(&self, mut take: impl FnMut(super::Entry<'static>)) -> rusqlite::Result<()> {
        let mut statement = self.db.prepare("SELECT at, kind, body FROM entry ORDER BY seq")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(entry) = super::Entry::read(row.get(0)?, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?)
            {
                take(entry);
            }
        }
        Ok(())
    }

    /// The programs of the last snapshot: what was in force where before the first entry, as far as is known.
    pub fn last_programs(&self) -> rusqlite::Result<Programs> {
        let programs = self.db.query_row("SELECT programs FROM snapshot", [], |row| {
            entry::json::<Vec<(LaunchDir, std::sync::Arc<Program>)>>(row, 0)
        });
        Ok(programs.optional()?.unwrap_or_default().into_iter().collect())
    }
}

/// A path as a part of a URI.
fn encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut encoded = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn past_run(row: &Row<'_>, now: Time) -> rusqlite::Result<PastRun> {
    let time = |column: &str| -> rusqlite::Result<Option<Time>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Time::from_millis))
    };
    let count = |column: &str| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(|count| u64::try_from(count).unwrap_or(0)))
    };
    let state: String = row.get("state")?;
    let over = time("session_over")?;
    let end = match (state.as_str(), time("started")?) {
        (RUN, Some(started)) => {
            let usage = match (count("tokens")?, count("tool_uses")?, count("duration")?) {
                (Some(tokens), Some(tool_uses), Some(duration_ms)) => Some(Usage { tokens, tool_uses, duration_ms }),
                _ => None,
            };
            let outcome: Option<Outcome> =
                if row.get_ref("outcome")?.as_str().is_ok() { Some(entry::json_of(row, "outcome")?) } else { None };
            let aged_out = time("last_sign")?.is_some_and(|sign| sign.after(RUN_AGES_OUT) <= now);
            match outcome {
                None if over.is_none() && !aged_out => PastEnd::Running { started },
                outcome => PastEnd::Ended {
                    started,
                    at: time("ended")?.or(over),
                    outcome: outcome.unwrap_or(Outcome::Lost),
                    report: row.get("report")?,
                    usage,
                },
            }
        }
        (WITHDRAWN, _) => PastEnd::Withdrawn,
        (OPEN, _) if over.is_none() => PastEnd::Waiting,
        _ => PastEnd::NeverStarted,
    };
    Ok(PastRun {
        ticket: ticket_id(row.get("ticket")?),
        wake: WakeId::new(u64::try_from(row.get::<_, i64>("wake")?).unwrap_or(0)),
        session: row.get("session")?,
        conversation: row.get("conversation")?,
        root: row.get("root")?,
        fork: row.get("fork")?,
        trigger: entry::json_of(row, "due")?,
        issued: Time::from_millis(row.get("issued")?),
        failures: row.get("failures")?,
        end,
    })
}
