//! The journal's file: its mode, its format, and what to do with one that is no journal.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::host::files::{self, Access};

use super::{JournalError, history};

/// The format written, kept in the database's `user_version`. Raised by any change that an older version of this
/// program would misread.
pub(super) const FORMAT: u32 = 2;

/// What a database of SQLite begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

const SCHEMA: &str = "
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE ticket (
        id INTEGER PRIMARY KEY,
        token TEXT NOT NULL UNIQUE,
        issued INTEGER NOT NULL,
        instructions TEXT NOT NULL
    ) STRICT;
    CREATE TABLE snapshot (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        seq INTEGER NOT NULL,
        state TEXT NOT NULL,
        programs TEXT NOT NULL
    ) STRICT;
";

/// Where a database's file holds its `user_version`, in big-endian order (the SQLite file format, section 1.3).
const FORMAT_OFFSET: u64 = 60;

/// The files that SQLite keeps beside a database in WAL mode.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// The format of the journal at `path`, if a newer version of this program wrote it. Looks without opening a database,
/// since that would leave its companions behind.
pub fn newer_format(path: &Path) -> Option<u32> {
    let (mut magic, mut format) = ([0; MAGIC.len()], [0; 4]);
    let file = files::open(path, Access::Read).ok()?;
    file.read_exact_at(&mut magic, 0).ok()?;
    file.read_exact_at(&mut format, FORMAT_OFFSET).ok()?;
    // What is no database was written by nobody of ours.
    Some(u32::from_be_bytes(format)).filter(|format| magic == *MAGIC && *format > FORMAT)
}

/// Opens the database, for us alone, in the format of today.
pub(super) fn open(path: &Path) -> Result<Connection, JournalError> {
    // SQLite gives its companions the mode of the database.
    files::open(path, Access::Append).map_err(|error| JournalError::File(path.to_owned(), error))?;
    let database = |error| JournalError::Database(path.to_owned(), error);
    let mut db = connect(path).map_err(database)?;
    let format: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(database)?;
    if format > FORMAT {
        return Err(JournalError::Newer { path: path.to_owned(), format });
    }
    prepare(&mut db, format).map_err(database)?;
    Ok(db)
}

/// A connection to the database that is there, to be used by one thread at a time. Nothing was read yet: what is from a
/// newer version may not even be readable beyond its format.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Makes a connection as patient and as small as the daemon can bear.
pub(super) fn tune(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::from_millis(250))?;
    // Half a megabyte.
    db.pragma_update(None, "cache_size", -512)
}

fn prepare(db: &mut Connection, format: u32) -> rusqlite::Result<()> {
    tune(db)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // In WAL mode this loses nothing when the process dies, which is what happens; a power cut may cost the last
    // few entries, but never the database.
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // As long as the log gets on a machine that is never idle: to cut it takes tens of milliseconds. It goes when the
    // daemon leaves.
    db.pragma_update(None, "journal_size_limit", 32 * 1024 * 1024)?;
    if format < FORMAT {
        let transaction = db.transaction()?;
        if format == 0 {
            transaction.execute_batch(SCHEMA)?;
        }
        // From format 1: the daemon's first event records what is known of the tickets of all sessions.
        transaction.execute_batch(history::SCHEMA)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        transaction.commit()?;
    }
    let verdict: String = db.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict != "ok" {
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(rusqlite::Error::SqliteFailure(corrupt, Some(verdict)));
    }
    Ok(())
}

/// Whether the fault is in the file itself, so that trying again would not help.
pub(super) fn is_unsound(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                // A table is missing or another stands in its place.
                || failure.extended_code == rusqlite::ffi::SQLITE_ERROR
        }
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        _ => false,
    }
}

/// Moves the database and its companions to names that are free.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, JournalError> {
    let named = |suffix: &str| named(path, suffix);
    let aside = (1..1000)
        .map(|number| named(&format!(".damaged-{number}")))
        .find(|aside| fs::symlink_metadata(aside).is_err())
        .unwrap_or_else(|| named(".damaged"));
    fs::rename(path, &aside).map_err(|error| JournalError::File(path.to_owned(), error))?;
    for companion in COMPANIONS {
        let mut to = aside.as_os_str().to_owned();
        to.push(companion);
        // One that is not there need not be moved; one that belongs to nothing would be taken for the new database's.
        match fs::rename(named(companion), to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::File(named(companion), error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// Which files a database consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    database: Option<(u64, u64)>,
    /// What was written last is in here alone.
    log: Option<(u64, u64)>,
}

impl Numbers {
    /// Of the files at `path` now.
    pub(super) fn at(path: &Path) -> Self {
        let number = |path: &Path| fs::symlink_metadata(path).ok().map(|metadata| files::number(&metadata));
        Self { database: number(path), log: number(&named(path, COMPANIONS[0])) }
    }
}

/// Puts a copy of an open database to `path`, where its files were before one of them was removed or replaced. Another
/// database that stands there now is moved aside; the name it got is returned.
pub(super) fn put_back(db: &Connection, own: Numbers, path: &Path) -> Result<Option<PathBuf>, JournalError> {
    let trouble = |path: &Path, error| JournalError::File(path.to_owned(), error);
    let copy = named(path, ".new");
    remove(&copy).map_err(|error| trouble(&copy, error))?;
    // Made first, so that it is for nobody else from its beginning.
    files::open(&copy, Access::Append).map_err(|error| trouble(&copy, error))?;
    // As the bytes that it is: a path need not be UTF-8.
    let name = ToSqlOutput::Borrowed(ValueRef::Text(copy.as_os_str().as_bytes()));
    match db.execute("VACUUM INTO ?1", [name]) {
        // What cannot be read any more is lost; the state is not, since a snapshot of it follows.
        Err(error) if is_unsound(&error) => fs::write(&copy, "").map_err(|error| trouble(&copy, error))?,
        Err(error) => return Err(JournalError::Database(copy, error)),
        Ok(_) => {}
    }
    let found = Numbers::at(path).database;
    let aside = if found.is_some() && found != own.database { Some(set_aside(path)?) } else { None };
    for companion in COMPANIONS {
        // It belongs to the database that is gone, and would be taken for the new one's.
        let companion = named(path, companion);
        remove(&companion).map_err(|error| trouble(&companion, error))?;
    }
    fs::rename(&copy, path).map_err(|error| trouble(path, error))?;
    Ok(aside)
}

fn named(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
