use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::engine::Event;

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
