//! Reports as people and programs read them.

use crate::program::Sandbox;

fn faulty() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.fork(
        "journal.md",
        "---\nfork: true\nrun_on:\n  - idel: 15m\nthrottle: 30M\n---\nBring LOG.md up to date.\n",
    );
    sandbox
        .fork("tidy.md", "---\nfork: true\ndescription: Nightly tidy: sort 整理 the list\ntags: [@ci]\n---\nTidy.\n");
    sandbox
}

#[test]
fn a_report_for_people() {
    let run = faulty().run(&["check"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.out);
}

#[test]
fn a_report_for_programs() {
    let run = faulty().run(&["check", "--format", "json"]);
    assert_eq!(run.code, 1);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).expect("it can be printed"));
}

#[test]
fn a_sound_project_is_one_quiet_line() {
    let sandbox = Sandbox::new();
    sandbox.fork("journal.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    let run = sandbox.run(&["check"]);
    assert_eq!((run.code, run.out.as_str()), (0, "Checked 1 file: nothing found.\n"));
}

#[test]
fn a_label_in_another_file_is_drawn_there() {
    let sandbox = Sandbox::new();
    sandbox.fork("a/standup.md", "---\nfork: true\n---\nPrepare.\n");
    sandbox.fork("b/standup.md", "---\nfork: true\n---\nPrepare.\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).out);
}

#[test]
fn only_the_given_paths_are_reported() {
    let sandbox = faulty();
    let run = sandbox.run(&["check", ".autofork/forks/tidy.md", "--format", "json"]);
    assert!(run.out.contains("tidy.md") && !run.out.contains("journal.md"), "{}", run.out);
    let run = sandbox.run(&["check", "nowhere.md", ".autofork/forks/tidy.md"]);
    assert_eq!(run.code, 2, "a path that is not there");
    assert!(run.out.contains("yaml-syntax"), "the rest is still checked");
    assert_eq!(run.err, "error: there is nothing at nowhere.md\nhelp: the other paths were checked\n");
}

#[test]
fn forks_are_listed_with_what_they_come_to() {
    let sandbox = faulty();
    let journal = "---\nfork: true\ndescription: Keep the log\nrun_on:\n  - idle: 15m\n  - context_used: 80%\nthrottle: 2h\nafter: [gather]\noverlap: true\ntags: [ci, notes]\n---\nBring LOG.md up to date.\n";
    sandbox.fork("good.md", journal);
    sandbox.fork("gather.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    sandbox.fork("off.md", "---\nfork: false\n---\nNothing.\n");
    sandbox.fork("note.md", "Just a note.\n");
    let run = sandbox.run(&["forks"]);
    assert_eq!(run.code, 0);
    insta::assert_snapshot!(run.out.split_inclusive("1 off\n").next().expect("a list"));
    let run = sandbox.run(&["forks", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
    insta::assert_snapshot!(serde_json::to_string_pretty(&document["forks"]).expect("it can be printed"));
}

#[test]
fn a_rule_is_explained() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["explain", "never-fires"]).out);
    let run = sandbox.run(&["explain", "never-fire"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "error: there is no rule `never-fire`\nhelp: did you mean `never-fires`?\n")
    );
}
