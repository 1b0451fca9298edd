//! What becomes of a log that grows.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;

/// A thread is waited for no longer than this: the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often it is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A hundred pages and a bit.
const BLOB: i64 = 100 * 4096;

/// A database whose log is brought in by nobody yet, as the journal has it.
fn database(folder: &Path) -> (PathBuf, Connection) {
    let path = folder.join("some.db");
    let db = file::open(&path).unwrap();
    db.execute_batch("CREATE TABLE filler (value BLOB)").unwrap();
    (path, db)
}

fn length(path: &Path) -> i64 {
    fs::metadata(path).unwrap().len().cast_signed()
}

fn log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// How often the log was begun anew: a number in its header, which is in big-endian order (the SQLite file format, section
/// 4.1).
fn times_begun_anew(path: &Path) -> u32 {
    let mut number = [0; 4];
    fs::File::open(log(path)).unwrap().read_exact_at(&mut number, 12).unwrap();
    u32::from_be_bytes(number)
}

/// At how many pages SQLite does it by itself; never if zero.
fn sqlite_does_it_at(db: &Connection) -> i64 {
    db.pragma_query_value(None, "wal_autocheckpoint", |row| row.get(0)).unwrap()
}

/// Writes what makes a checkpoint due.
fn write_much(db: &Connection) {
    for _ in 0..10 {
        db.execute("INSERT INTO filler VALUES (randomblob(?1))", [BLOB]).unwrap();
    }
}

#[test]
fn a_log_that_has_grown_is_brought_in_and_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut db) = database(folder.path());
    let checkpoints = Checkpoints::begin(&mut db, &path);
    assert!(checkpoints.0.is_some());
    assert_eq!(sqlite_does_it_at(&db), 0);
    let begun = times_begun_anew(&path);
    write_much(&db);
    let waiting_since = Instant::now();
    while length(&path) < 10 * BLOB {
        assert!(waiting_since.elapsed() < PATIENCE, "it is not brought in");
        thread::sleep(LOOK_AGAIN);
    }
    // Whoever writes all the time gets no log that begins anew.
    let mut pause = LOOK_AGAIN;
    while times_begun_anew(&path) == begun {
        assert!(waiting_since.elapsed() < PATIENCE, "the log does not begin anew");
        thread::sleep(pause);
        pause *= 2;
        db.execute("INSERT INTO filler VALUES (1)", []).unwrap();
    }
    drop(db);
    drop(checkpoints);
    assert!(!log(&path).exists(), "the last one to close brings in the rest");
}

#[test]
fn without_a_connection_for_it_the_writer_does_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut db) = database(folder.path());
    let checkpoints = Checkpoints::begin(&mut db, &folder.path().join("nowhere").join("some.db"));
    assert!(checkpoints.0.is_none());
    assert_eq!(sqlite_does_it_at(&db), 1000);
    write_much(&db);
    assert!(length(&path) >= 10 * BLOB);
}

#[test]
fn a_log_that_the_thread_never_catches_up_with_is_brought_in_by_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut db) = database(folder.path());
    let (nudge, _never_heard) = mpsc::sync_channel(1);
    let nudge = Arc::new(nudge);
    db.wal_hook(Some(watch(Arc::downgrade(&nudge)))).unwrap();
    for _ in 0..7 {
        write_much(&db);
    }
    assert!(length(&path) < BLOB, "that is not too many");
    for _ in 0..20 {
        write_much(&db);
    }
    let most = i64::from(TOO_MANY_PAGES + PAGES) * 4096;
    assert!(length(&log(&path)) < most, "{} of {most}", length(&log(&path)));
    assert!(length(&path) > 15 * 10 * BLOB);
}
