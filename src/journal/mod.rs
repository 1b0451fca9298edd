//! The journal: what happened, on disk, so that no death of the daemon loses a stamp or fires a fork twice.
//!
//! SQLite in the base folder. Entries are only ever added: an event with its time, or another program coming into
//! force at a launch folder. The state is their fold; a snapshot now and then keeps the fold short and lets old
//! entries go. Tickets lie beside: what each token stands for. So does history: what became of each ticket. Nothing here
//! decides anything, and nothing here reads a clock.
//!
//! One [`Journal::commit`] is one transaction: an entry together with the tickets of the wake it caused. So a wake
//! that was sent is always one that the next life of the daemon knows of.

mod checkpoints;
mod entry;
mod file;
mod history;
mod holder;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use crate::engine::{Record, State, TicketId};
use crate::host::protocol::{Instructions, Token};
use crate::ir::Programs;

use self::checkpoints::Checkpoints;
use self::file::Numbers;
use self::holder::Hold;

pub use entry::Entry;
pub use file::newer_format;
pub use history::{Heard, PastEnd, PastRun, Reader, Wanted};

/// After so many entries it is time for a snapshot: reading them all back takes a few milliseconds.
const ENTRIES_PER_SNAPSHOT: u32 = 2000;

/// What is older than an instant goes. Rows are numbered in the order of time, so the search begins at the oldest and ends
/// at the first that stays; a look at every row would take as long as a month of them is.
const FORGET_ENTRIES: &str = "DELETE FROM entry WHERE seq <
    coalesce((SELECT seq FROM entry WHERE at >= ?1 ORDER BY seq LIMIT 1), 9223372036854775807)";
const FORGET_TICKETS: &str = "DELETE FROM ticket WHERE id <
    coalesce((SELECT id FROM ticket WHERE issued >= ?1 ORDER BY id LIMIT 1), 9223372036854775807)";

/// Entries and tickets older than this are let go at a snapshot: 30 days, in milliseconds.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Why there is no journal.
#[derive(Debug)]
pub enum JournalError {
    /// It was written by a newer version of this program, which is left alone.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
    /// The file cannot be made, opened or set aside.
    File(PathBuf, io::Error),
    /// Another daemon has taken it over.
    Overtaken(PathBuf),
    /// The database does not work.
    Database(PathBuf, rusqlite::Error),
}

impl JournalError {
    /// What a person can do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Newer { path, .. } => {
                format!("update autofork, or move {} away and lose what it knows", path.display())
            }
            Self::Overtaken(_) => "the other daemon goes on with it".to_owned(),
            Self::File(path, _) | Self::Database(path, _) => {
                format!("see whether {} and its folder can be written and the disk has room", path.display())
            }
        }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { path, format } => write!(
                f,
                "{} was written by a newer version of autofork (format {format}, known up to {})",
                path.display(),
                file::FORMAT
            ),
            Self::Overtaken(path) => write!(f, "{} belongs to another daemon now", path.display()),
            Self::File(path, error) => write!(f, "cannot use {}: {error}", path.display()),
            Self::Database(path, error) => write!(f, "cannot use the database {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for JournalError {}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    db: Connection,
    checkpoints: Checkpoints,
    path: PathBuf,
    /// The files that are open, by which they are known at their paths.
    numbers: Numbers,
    hold: Hold,
    overtaken: bool,
    notes: Vec<String>,
    since_snapshot: u32,
    /// An entry could not be written: from then on only a snapshot says the truth.
    behind: bool,
    /// What could not be written.
    unsaved: Issued,
}

/// What is written beside an entry: what its event has issued or changed.
#[derive(Debug, Default)]
pub struct Issued {
    /// New tickets, and what each stands for.
    pub tickets: Vec<(TicketId, Instructions)>,
    /// What is to be kept of tickets.
    pub records: Vec<Record>,
}

impl Issued {
    fn insert(&self, db: &Connection) -> rusqlite::Result<()> {
        for (id, instructions) in &self.tickets {
            entry::insert_ticket(db, *id, instructions)?;
        }
        self.records.iter().try_for_each(|record| history::insert(db, record))
    }

    fn append(&mut self, mut other: Self) {
        self.tickets.append(&mut other.tickets);
        self.records.append(&mut other.records);
    }
}

/// What a journal was opened to.
#[derive(Debug)]
pub struct Opened {
    /// The journal.
    pub journal: Journal,
    /// The state as it was when the last entry was written.
    pub state: State,
    /// The programs in force then, without bodies.
    pub programs: Programs,
    /// What a person should know, in whole sentences.
    pub notes: Vec<String>,
}

impl Journal {
    /// Opens the journal at `path`, makes it if it is not there, and folds it to the state it stands for. A file that
    /// is no sound journal is set aside under another name, and a new one is begun.
    pub fn open(path: &Path) -> Result<Opened, JournalError> {
        match Self::open_as_it_is(path) {
            Err(JournalError::Database(_, error)) if file::is_unsound(&error) => {
                let aside = file::set_aside(path)?;
                let mut opened = Self::open_as_it_is(path)?;
                opened.notes.push(format!(
                    "The journal was damaged ({error}). It was moved to {}, and a new one begun: what was throttled \
                     or had fired is forgotten.",
                    aside.display()
                ));
                Ok(opened)
            }
            outcome => outcome,
        }
    }

    fn open_as_it_is(path: &Path) -> Result<Opened, JournalError> {
        let database = |error| JournalError::Database(path.to_owned(), error);
        let mut db = file::open(path)?;
        let numbers = Numbers::at(path);
        // First of all: from here on nobody adds anything that would not be read.
        let hold = holder::take(&mut db).map_err(database)?;
        let (mut state, mut programs, seq) = entry::read_snapshot(&db).map_err(database)?.unwrap_or_default();
        let folded = entry::fold(&db, seq, &mut state, &mut programs).map_err(database)?;
        let notes = if folded.unreadable == 0 {
            Vec::new()
        } else {
            vec![format!(
                "Entries of the journal that could not be read and were passed over: {}.",
                folded.unreadable
            )]
        };
        let checkpoints = Checkpoints::begin(&mut db, path);
        let journal = Self {
            db,
            checkpoints,
            path: path.to_owned(),
            numbers,
            hold,
            overtaken: false,
            notes: Vec::new(),
            since_snapshot: folded.entries,
            behind: false,
            unsaved: Issued::default(),
        };
        Ok(Opened { journal, state, programs, notes })
    }

    /// Writes what happened, and what was issued or changed by it, all or nothing, and lasting. `state` and `programs` are
    /// what they have become by it.
    ///
    /// After an error the next commit writes all that was missed. If the file was removed or replaced meanwhile, it is
    /// begun anew with all that is known.
    pub fn commit(
        &mut self,
        entry: &Entry<'_>,
        issued: Issued,
        state: &State,
        programs: &Programs,
    ) -> Result<(), JournalError> {
        let outcome = if self.behind || !self.is_in_place() {
            self.unsaved.append(issued);
            self.write_snapshot(state, programs)
        } else {
            let outcome = self.append(entry, &issued);
            if outcome.is_err() {
                self.unsaved.append(issued);
            }
            outcome
        };
        self.behind = outcome.is_err();
        if outcome.is_ok() && self.since_snapshot >= ENTRIES_PER_SNAPSHOT {
            // The entry is safe. A snapshot that fails is tried again at the next entry.
            let _ = self.write_snapshot(state, programs);
        }
        outcome
    }

    /// Writes a snapshot, so that the next life of the daemon begins quickly.
    pub fn snapshot(&mut self, state: &State, programs: &Programs) -> Result<(), JournalError> {
        if self.since_snapshot == 0 && !self.behind && self.is_in_place() {
            return Ok(());
        }
        self.write_snapshot(state, programs)?;
        self.behind = false;
        Ok(())
    }

    /// What the ticket stands for that this token stands for, and its number.
    pub fn by_token(&self, token: &Token) -> rusqlite::Result<Option<(TicketId, Instructions)>> {
        if let Some((id, instructions)) = self.unsaved.tickets.iter().find(|(_, unsaved)| unsaved.ticket == *token) {
            return Ok(Some((*id, instructions.clone())));
        }
        self.db
            .prepare_cached("SELECT id, instructions FROM ticket WHERE token = ?1")?
            .query_row([token.to_string()], |row| Ok((entry::ticket_id(row.get(0)?), entry::json(row, 1)?)))
            .optional()
    }

    /// What a ticket stands for.
    pub fn by_ticket(&self, ticket: TicketId) -> rusqlite::Result<Option<Instructions>> {
        if let Some((_, instructions)) = self.unsaved.tickets.iter().find(|(id, _)| *id == ticket) {
            return Ok(Some(instructions.clone()));
        }
        self.db
            .prepare_cached("SELECT instructions FROM ticket WHERE id = ?1")?
            .query_row([entry::number(ticket.get())], |row| entry::json(row, 0))
            .optional()
    }

    /// Whether another daemon has taken it over: nothing more can be written.
    pub const fn is_overtaken(&self) -> bool {
        self.overtaken
    }

    /// The process of the daemon that had it before, if another one had.
    pub const fn former_holder(&self) -> Option<u32> {
        self.hold.former
    }

    /// What a person should know of what happened since it was opened, in whole sentences. Told once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Whether the open files are those at their paths. Costs one look at each.
    fn is_in_place(&self) -> bool {
        Numbers::at(&self.path) == self.numbers
    }

    /// Puts everything into a file at its path again, after that was removed or replaced.
    fn put_back(&mut self) -> Result<(), JournalError> {
        let aside = file::put_back(&self.db, self.numbers, &self.path)?;
        let mut db = file::open(&self.path)?;
        let numbers = Numbers::at(&self.path);
        self.hold = holder::take(&mut db).map_err(|error| self.database(error))?;
        let checkpoints = Checkpoints::begin(&mut db, &self.path);
        // Closing the old connections leaves the companions of the new ones alone, since their own file is not at its path.
        (self.db, self.checkpoints, self.numbers) = (db, checkpoints, numbers);
        let found = aside.map_or_else(
            || "removed".to_owned(),
            |aside| format!("replaced by a file that is at {} now", aside.display()),
        );
        self.notes.push(format!("The journal was {found}, and begun anew with all that was known."));
        Ok(())
    }

    fn append(&mut self, entry: &Entry<'_>, issued: &Issued) -> Result<(), JournalError> {
        self.write(|transaction| {
            entry.insert(transaction)?;
            issued.insert(transaction)
        })?;
        self.since_snapshot += 1;
        Ok(())
    }

    fn write_snapshot(&mut self, state: &State, programs: &Programs) -> Result<(), JournalError> {
        if !self.is_in_place() {
            self.put_back()?;
        }
        let unsaved = std::mem::take(&mut self.unsaved);
        let now = state.now().as_millis();
        let outcome = self.write(|transaction| {
            unsaved.insert(transaction)?;
            entry::insert_snapshot(transaction, state, programs)?;
            let bound = now.saturating_sub(KEPT_MILLIS);
            transaction.execute(FORGET_ENTRIES, params![bound])?;
            transaction.execute(FORGET_TICKETS, params![bound])?;
            let bound = now.saturating_sub(history::KEPT_MILLIS);
            transaction.execute("DELETE FROM run WHERE issued < ?1", params![bound])?;
            Ok(())
        });
        if outcome.is_err() {
            self.unsaved = unsaved;
        } else {
            self.since_snapshot = 0;
        }
        outcome
    }

    /// One transaction, if the journal is still ours.
    fn write(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), JournalError> {
        let outcome = holder::begin(&mut self.db, &self.hold).and_then(|ours| match ours {
            Some(transaction) => {
                work(&transaction)?;
                transaction.commit()?;
                Ok(true)
            }
            None => Ok(false),
        });
        match outcome {
            Ok(true) => {
                self.hold.committed();
                Ok(())
            }
            Ok(false) => {
                self.overtaken = true;
                Err(JournalError::Overtaken(self.path.clone()))
            }
            Err(error) => Err(self.database(error)),
        }
    }

    fn database(&self, error: rusqlite::Error) -> JournalError {
        JournalError::Database(self.path.clone(), error)
    }
}
