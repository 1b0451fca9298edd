//! The journal on a real disk: what it keeps, what it lets go, and what it makes of files that are not as it left them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::engine::Event;
use crate::ir::Time;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn tick(journal: &mut Journal, state: &mut State, programs: &Programs, at: i64) {
    let at = Time::from_millis(at);
    state.apply(at, programs, Event::Tick);
    let entry = Entry::Event { at, event: Box::new(Event::Tick) };
    journal.commit(&entry, Issued::default(), state, programs).unwrap();
}

fn entries(journal: &Journal) -> i64 {
    journal.db.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap()
}

#[test]
fn its_files_are_for_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, notes } = Journal::open(&path).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    tick(&mut journal, &mut state, &programs, 1);
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(journal);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Journal::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600, "closed again");
}

#[test]
fn one_from_a_newer_version_is_left_alone_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(Journal::open(&path).unwrap());
    assert_eq!(newer_format(&path), None);
    let db = Connection::open(&path).unwrap();
    // It may hold what this version's SQLite knows nothing of.
    db.pragma_update(None, "writable_schema", true).unwrap();
    db.execute("INSERT INTO sqlite_schema VALUES ('table', 'new', 'new', 2, 'CREATE OF TOMORROW new')", []).unwrap();
    db.pragma_update(None, "user_version", file::FORMAT + 1).unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    let error = Journal::open(&path).unwrap_err();
    assert!(error.to_string().contains("was written by a newer version of autofork (format 3, known up to 2)"));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(newer_format(&path), Some(3));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_one_is_moved_aside_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    for (number, damage) in [b"this is no database, and long enough to be taken for one".repeat(40), vec![0; 4096]]
        .into_iter()
        .enumerate()
    {
        fs::write(&path, &damage).unwrap();
        let opened = Journal::open(&path).unwrap();
        let aside = folder.path().join(format!("journal.db.damaged-{}", number + 1));
        assert!(opened.notes[0].contains(&*aside.to_string_lossy()), "{:?}", opened.notes);
        assert_eq!(fs::read(&aside).unwrap(), damage);
        assert_eq!(opened.state, State::default());
    }
}

#[test]
fn one_damaged_in_its_middle_is_moved_aside_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    for at in 0..500 {
        tick(&mut journal, &mut state, &programs, at);
    }
    drop(journal);
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[length / 2..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.notes.len(), 1, "{:?}", opened.notes);
}

#[test]
fn an_entry_that_cannot_be_read_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 5);
    journal.db.execute("INSERT INTO entry (at, kind, body) VALUES (6, 'event', '{\"news\":1}')", []).unwrap();
    tick(&mut journal, &mut state, &programs, 7);
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.state, state);
    assert_eq!(opened.notes, ["Entries of the journal that could not be read and were passed over: 1."]);
}

#[test]
fn it_belongs_to_whoever_opened_it_last_and_takes_nothing_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 1);
    let mut second = Journal::open(&path).unwrap();
    assert_eq!(second.state, state);
    let entry = Entry::Event { at: Time::from_millis(2), event: Box::new(Event::Tick) };
    for _ in 0..2 {
        let error = journal.commit(&entry, Issued::default(), &state, &programs).unwrap_err();
        assert!(matches!(error, JournalError::Overtaken(_)), "{error}");
        assert!(journal.is_overtaken());
        assert!(matches!(journal.snapshot(&state, &programs), Err(JournalError::Overtaken(_))));
    }
    tick(&mut second.journal, &mut second.state, &programs, 3);
    assert_eq!(entries(&second.journal), 2);
}

#[test]
fn one_that_cannot_be_written_at_first_is_taken_over_with_the_first_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut first = Journal::open(&path).unwrap();
    tick(&mut first.journal, &mut first.state, &first.programs, 1);
    let locking = Connection::open(&path).unwrap();
    locking.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut second = Journal::open(&path).unwrap();
    assert_eq!(second.notes, Vec::<String>::new());
    assert_eq!(second.state, first.state);
    locking.execute_batch("ROLLBACK").unwrap();
    tick(&mut second.journal, &mut second.state, &second.programs, 2);
    tick(&mut second.journal, &mut second.state, &second.programs, 3);
    let entry = Entry::Event { at: Time::from_millis(2), event: Box::new(Event::Tick) };
    let outcome = first.journal.commit(&entry, Issued::default(), &first.state, &first.programs);
    assert!(matches!(outcome, Err(JournalError::Overtaken(_))));
}

#[test]
fn one_that_is_removed_or_replaced_while_it_is_open_is_begun_anew_with_all_that_was_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 1);
    fs::remove_file(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 2);
    assert_eq!(journal.take_notes(), ["The journal was removed, and begun anew with all that was known."]);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(entries(&journal), 1, "the first came along, and the second is in the snapshot");
    fs::write(folder.path().join("other"), "of somebody else").unwrap();
    fs::rename(folder.path().join("other"), &path).unwrap();
    tick(&mut journal, &mut state, &programs, 3);
    assert_eq!(journal.take_notes().len(), 1);
    assert_eq!(fs::read(folder.path().join("journal.db.damaged-1")).unwrap(), b"of somebody else");
    tick(&mut journal, &mut state, &programs, 4);
    assert_eq!(journal.take_notes(), Vec::<String>::new());
    fs::remove_file(folder.path().join("journal.db-wal")).unwrap();
    tick(&mut journal, &mut state, &programs, 5);
    assert_eq!(journal.take_notes().len(), 1);
    drop(journal);
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.notes, Vec::<String>::new());
    assert_eq!(opened.state, state);
}

/// Elsewhere the file system may know no such paths.
#[test]
#[cfg(target_os = "linux")]
fn one_whose_path_is_not_utf_8_is_begun_anew_as_any() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&base).unwrap();
    let path = base.join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 1);
    fs::remove_file(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 2);
    assert_eq!(journal.take_notes(), ["The journal was removed, and begun anew with all that was known."]);
    assert!(
        path.is_file() && fs::read_dir(&base).unwrap().all(|entry| entry.unwrap().file_name() != "journal.db.new")
    );
}

#[test]
fn what_is_no_database_was_written_by_no_newer_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    fs::write(&path, [0x7f; 8192]).unwrap();
    assert_eq!(newer_format(&path), None);
}

#[test]
fn a_link_or_a_pipe_in_its_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(matches!(Journal::open(&path), Err(JournalError::File(..))));
    assert!(!folder.path().join("elsewhere").exists());
    assert_eq!(newer_format(&path), None);
    fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(Journal::open(&path), Err(JournalError::File(..))));
    assert_eq!(newer_format(&path), None);
}

#[test]
fn old_entries_go_at_a_snapshot_and_what_they_came_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let Opened { mut journal, mut state, programs, .. } = Journal::open(&path).unwrap();
    tick(&mut journal, &mut state, &programs, 1);
    tick(&mut journal, &mut state, &programs, 2);
    tick(&mut journal, &mut state, &programs, KEPT_MILLIS + 2);
    assert_eq!(entries(&journal), 3);
    journal.snapshot(&state, &programs).unwrap();
    assert_eq!(entries(&journal), 2, "the first is older than the bound");
    for at in 0..i64::from(ENTRIES_PER_SNAPSHOT) {
        tick(&mut journal, &mut state, &programs, 3 * KEPT_MILLIS + at);
    }
    assert_eq!(journal.since_snapshot, 0, "it was time for a snapshot");
    assert_eq!(entries(&journal), i64::from(ENTRIES_PER_SNAPSHOT));
    assert_eq!(Journal::open(&path).unwrap().state, state);
}
