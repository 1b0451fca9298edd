//! The rows of the journal: how entries, tickets and snapshots are written and read back.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::{Effect, Event, SessionId, State, TicketId};
use crate::host::protocol::Instructions;
use crate::ir::{LaunchDir, Program, Programs, Time};

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Something happened.
    Event {
        /// When.
        at: Time,
        /// What.
        event: Box<Event>,
    },
    /// Another program came into force.
    Program {
        /// When.
        at: Time,
        /// Where.
        launch: Cow<'a, LaunchDir>,
        /// The program, without bodies.
        program: Arc<Program>,
    },
}

/// What a reading of entries came to.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) entries: u32,
    pub(super) unreadable: u32,
}

const EVENT: &str = "event";
const PROGRAM: &str = "program";

/// A program entry's body.
#[derive(Serialize, Deserialize)]
struct ProgramBody<'a> {
    launch: Cow<'a, LaunchDir>,
    program: Arc<Program>,
}

impl Entry<'_> {
    /// Takes the entry into a state.
    pub fn apply(self, state: &mut State, programs: &mut Programs) -> Vec<Effect> {
        match self {
            Self::Event { at, event } => state.apply(at, programs, *event),
            Self::Program { at, launch, program } => {
                programs.set(launch.clone().into_owned(), program);
                state.apply(at, programs, Event::ProgramChanged(launch.into_owned()))
            }
        }
    }

    /// The session that the entry tells of, if it tells of one.
    pub fn session(&self) -> Option<&SessionId> {
        let Self::Event { event, .. } = self else { return None };
        match &**event {
            Event::Host { origin, .. } => Some(&origin.session),
            _ => None,
        }
    }

    pub(super) fn insert(&self, db: &Connection) -> rusqlite::Result<()> {
        let (at, kind, body) = match self {
            Self::Event { at, event } => (at, EVENT, text(event)?),
            Self::Program { at, launch, program } => {
                let body = ProgramBody { launch: Cow::Borrowed(launch), program: Arc::clone(program) };
                (at, PROGRAM, text(&body)?)
            }
        };
        db.prepare_cached("INSERT INTO entry (at, kind, body) VALUES (?1, ?2, ?3)")?.execute(params![
            at.as_millis(),
            kind,
            body
        ])?;
        Ok(())
    }

    pub(super) fn read(at: i64, kind: &str, body: &str) -> Option<Self> {
        let at = Time::from_millis(at);
        match kind {
            EVENT => serde_json::from_str(body).ok().map(|event| Self::Event { at, event: Box::new(event) }),
            PROGRAM => {
                let ProgramBody { launch, program } = serde_json::from_str(body).ok()?;
                Some(Self::Program { at, launch: Cow::Owned(launch.into_owned()), program })
            }
            _ => None,
        }
    }
}

/// Takes all entries after `seq` into a state. One that cannot be read is passed over: an event too few costs less
/// than all of them.
pub(super) fn fold(
    db: &Connection,
    seq: i64,
    state: &mut State,
    programs: &mut Programs,
) -> rusqlite::Result<Folded> {
    let mut folded = Folded::default();
    let mut statement = db.prepare("SELECT at, kind, body FROM entry WHERE seq > ?1 ORDER BY seq")?;
    let mut rows = statement.query([seq])?;
    while let Some(row) = rows.next()? {
        folded.entries += 1;
        match Entry::read(row.get(0)?, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?) {
            Some(entry) => drop(entry.apply(state, programs)),
            None => folded.unreadable += 1,
        }
    }
    Ok(folded)
}

/// The last snapshot, and the number of the last entry that is in it.
pub(super) fn read_snapshot(db: &Connection) -> rusqlite::Result<Option<(State, Programs, i64)>> {
    db.query_row("SELECT state, programs, seq FROM snapshot", [], |row| {
        let programs: Vec<(LaunchDir, Arc<Program>)> = json(row, 1)?;
        Ok((json(row, 0)?, programs.into_iter().collect(), row.get(2)?))
    })
    .optional()
}

pub(super) fn insert_snapshot(db: &Connection, state: &State, programs: &Programs) -> rusqlite::Result<()> {
    let programs: Vec<(&LaunchDir, Program)> =
        programs.iter().map(|(launch, program)| (launch, program.without_bodies())).collect();
    db.execute(
        "INSERT OR REPLACE INTO snapshot (id, seq, state, programs)
         VALUES (1, (SELECT coalesce(max(seq), 0) FROM entry), ?1, ?2)",
        params![text(state)?, text(&programs)?],
    )?;
    Ok(())
}

pub(super) fn insert_ticket(db: &Connection, id: TicketId, instructions: &Instructions) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO ticket (id, token, issued, instructions) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            number(id.get()),
            instructions.ticket.to_string(),
            instructions.issued.as_millis(),
            text(instructions)?
        ])?;
    Ok(())
}

/// A number as SQLite keeps it. Ours count up from one, so none ever reaches the end.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn ticket_id(number: i64) -> TicketId {
    TicketId::new(u64::try_from(number).unwrap_or(0))
}

/// The value in a column of that name.
pub(super) fn json_of<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    json(row, row.as_ref().column_index(column)?)
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

pub(super) fn text(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
