//! What is kept of every run, and who can read it.

use super::*;
use crate::journal::{PastEnd, PastRun, Reader, Wanted};

fn runs(path: &Path, now: Time) -> Vec<PastRun> {
    Reader::open(path).unwrap().unwrap().runs(&Wanted::default(), now).unwrap()
}

/// A core in which the forks journal and review were asked for, and the first has run.
fn played(path: &Path) -> Core {
    let mut core = core(path);
    core.in_force(at(0), &launch(), program(0, &[fork("journal", 2, "Write.\n"), fork("review", 2, "Look.\n")]));
    let effects = wake(&mut core, "s", 1, 2);
    let [Effect::Wake { session, wake, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let ticket = core.state().session(session).unwrap().tickets_of(*wake).next().map(|ticket| ticket.id);
    let tool_use = ToolUseId::from("call");
    let agent = TaskId::from("agent");
    let caller = crate::engine::Caller::Main;
    core.happened(at(4), host("s", Fact::SpawnRequested { tool_use: tool_use.clone(), ticket, caller }));
    core.happened(at(5), host("s", Fact::SpawnStarted { tool_use, agent: agent.clone(), ticket: None }));
    core.happened(at(9), host("s", Fact::SubagentStopped { agent, report: Some("Done.\nAll.".to_owned()) }));
    core
}

#[test]
fn a_run_is_told_of_long_after_its_session_and_the_journal_s_entries_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut first = played(&path);
    assert_eq!(runs(&path, at(10))[1].end, PastEnd::Waiting, "while the daemon runs");
    first.happened(at(20), host("s", Fact::Ended));
    drop(first);

    // Another life, and the bound of the journal goes by.
    let mut second = core(&path);
    let later = at(40 * 24 * 60 * 60);
    second.happened(later, Event::Restarted);
    second.finish();
    drop(second);
    let entries = |reader: &Reader| {
        let mut entries = 0;
        reader.entries(|_| entries += 1).unwrap();
        entries
    };
    assert_eq!(entries(&Reader::open(&path).unwrap().unwrap()), 1);

    let told = runs(&path, later);
    let names: Vec<&str> = told.iter().map(|run| run.fork.as_str()).collect();
    assert_eq!(names, ["journal", "review"]);
    let PastEnd::Ended { started, at: ended, outcome, report, usage } = &told[0].end else { panic!("{told:?}") };
    assert_eq!((*started, *ended, *outcome, *usage), (at(4), Some(at(9)), Outcome::Completed, None));
    assert_eq!(report.as_deref(), Some("Done.\nAll."));
    assert_eq!(told[0].trigger.to_string(), "quiet for 2s");
    assert_eq!(told[1].end, PastEnd::NeverStarted, "its session is over");

    let reader = Reader::open(&path).unwrap().unwrap();
    let count = |wanted: Wanted<'_>| reader.runs(&wanted, later).unwrap().len();
    assert_eq!(count(Wanted { fork: Some("review"), ..Wanted::default() }), 1);
    assert_eq!(count(Wanted { session: Some("s"), ..Wanted::default() }), 2);
    assert_eq!(count(Wanted { session: Some("t"), ..Wanted::default() }), 0);
    assert_eq!(count(Wanted { between: Some((at(3), at(4))), ..Wanted::default() }), 2);
    assert_eq!(count(Wanted { between: Some((at(4), at(5))), ..Wanted::default() }), 0);
    assert_eq!(count(Wanted { most: Some(1), ..Wanted::default() }), 1);
}

#[test]
fn a_run_that_nothing_was_heard_of_again_is_lost_and_one_taken_back_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut core = core(&path);
    core.in_force(at(0), &launch(), program(0, &[fork("journal", 2, "Write.\n")]));
    wake(&mut core, "s", 1, 2);
    let prompt = Fact::Prompt { mark: mark(9, at(5)), prompt: Prompt::Human, mode: None };
    core.happened(at(5), host("s", prompt));
    assert_eq!(runs(&path, at(5))[0].end, PastEnd::Withdrawn);
    wake(&mut core, "s", 10, 2);
    let ticket = core.state().session(&"s".into()).unwrap().tickets.last().map(|ticket| ticket.id);
    let caller = crate::engine::Caller::Main;
    core.happened(at(13), host("s", Fact::SpawnRequested { tool_use: "call".into(), ticket, caller }));
    assert_eq!(runs(&path, at(14))[1].end, PastEnd::Running { started: at(13) });
    let end = |now| match &runs(&path, now)[1].end {
        PastEnd::Ended { outcome, at, .. } => (*outcome, *at),
        other => panic!("{other:?}"),
    };
    assert_eq!(end(at(13 + 30 * 60)), (Outcome::Lost, None), "half an hour without a sign");
}

#[test]
fn reading_leaves_no_trace_whether_a_daemon_runs_has_died_or_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?#%.db");
    let files = |folder: &Path| {
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap()))
            .filter(|(name, _)| !name.ends_with("-shm"))
            .collect();
        files.sort();
        files
    };
    assert!(Reader::open(&path).unwrap().is_none(), "there is none, and none is made");
    assert_eq!(files(folder.path()).len(), 0);

    let live = played(&path);
    let before = files(folder.path());
    assert_eq!(runs(&path, at(10)).len(), 2);
    assert_eq!(files(folder.path()), before, "beside a daemon");

    // As after kill -9: the files as they are, with nobody who holds them.
    let dead = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), dead.path().join(entry.file_name())).unwrap();
    }
    let before = files(dead.path());
    assert_eq!(runs(&dead.path().join("a b?#%.db"), at(10)).len(), 2);
    assert_eq!(files(dead.path()), before, "after a daemon that died");

    drop(live);
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    assert_eq!(runs(&path, at(10)).len(), 2);
    assert_eq!(files(folder.path()), before, "after a daemon that left");
}

#[test]
fn a_journal_of_format_1_is_read_on_and_what_it_knows_of_runs_becomes_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../../journal/fixtures/format-1.sql")).unwrap();
    drop(old);
    let mut now = Time::from_millis(1_796_048_900_000);
    assert_eq!(runs(&path, now), [], "not yet");

    let mut core = core(&path);
    assert_eq!(core.notes(), [""; 0]);
    now = now.max(core.state().now());
    core.happened(now, Event::Restarted);
    let told = runs(&path, now);
    let names: Vec<&str> = told.iter().map(|run| run.fork.as_str()).collect();
    assert_eq!(names, ["journal", "review"]);
    assert!(
        matches!(&told[0].end, PastEnd::Ended { report: Some(report), .. } if report == "Wrote three lines."),
        "{told:?}"
    );
    assert_eq!(told[1].end, PastEnd::Waiting);
    let stamps = core.state().stamps();
    assert!(stamps.fork(&"conv".into(), &"journal".into()).is_some(), "throttles hold on");
    assert!(stamps.tag(&ProjectRoot::new("/project"), &"notes".into()).is_some());
}
