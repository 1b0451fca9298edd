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

#[test]
fn every_format_says_the_same_with_the_same_exit_code() {
    let sandbox = faulty();
    let note = "---\nfork: true\nafter: tidy\n---\nWrite, with <care> & \"love\", to OUT,1:2.md.\n";
    sandbox.fork("a, b%.md", note);
    for format in ["concise", "github", "gitlab", "junit", "sarif"] {
        let run = sandbox.run(&["check", "--format", format]);
        assert_eq!((run.code, run.err.as_str()), (1, ""), "{format}");
        let found = ["never-fires", "unknown-moment", "invalid-duration", "yaml-syntax", "invalid-name"];
        for rule in found {
            assert!(run.out.contains(rule), "{format} does not say {rule}");
        }
        if format == "sarif" {
            let log: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
            insta::assert_snapshot!(format, serde_json::to_string_pretty(&log["runs"][0]["results"]).expect("JSON"));
        } else {
            insta::assert_snapshot!(format, run.out);
        }
    }
}

#[test]
fn rules_can_be_chosen_and_the_level_that_fails_too() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nfork: true\nowner: me\nthrottle: 1h30m\n---\nBring LOG.md up to date.\n");
    let lines = |arguments: &[&str]| {
        let run = sandbox.run(&[&["check", "--format", "concise"], arguments].concat());
        (run.code, run.out.lines().count())
    };
    assert_eq!(lines(&[]), (0, 2));
    assert_eq!(lines(&["--deny", "warn"]), (1, 2));
    assert_eq!(lines(&["--deny", "warn", "--ignore", "unknown-key"]), (0, 1));
    assert_eq!(lines(&["--deny", "hint", "--select", "nonportable-duration,never-fires"]), (1, 1));
    let run = sandbox.run(&["check", "--ignore", "unknown-keys"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "error: there is no rule `unknown-keys`\nhelp: did you mean `unknown-key`?\n")
    );
}

#[test]
fn fixes_are_shown_and_made() {
    let sandbox = Sandbox::new();
    let faulty = "---\nfork: true\nrun_on: idle # soon\nmodel: haiku\nthrotle: 30M\n---\nBring LOG.md up to date.\n";
    sandbox.fork("x.md", faulty);
    insta::assert_snapshot!("diff", sandbox.run(&["check", "--diff"]).out);
    let read = || std::fs::read_to_string(sandbox.project().join(".autofork/forks/x.md")).expect("a file");
    assert_eq!(read(), faulty, "a diff changes nothing");
    let run = sandbox.run(&["check", "--fix"]);
    assert!(run.out.ends_with("Mended 2.\n"), "{}", run.out);
    assert_eq!(read(), "---\nfork: true\nrun_on: [idle] # soon\nthrotle: 30M\n---\nBring LOG.md up to date.\n");
    let run = sandbox.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(run.code, 0);
    assert_eq!(read(), "---\nfork: true\nrun_on: [idle] # soon\nthrottle: 30m\n---\nBring LOG.md up to date.\n");
}

#[test]
fn a_file_can_come_from_standard_input() {
    let sandbox = Sandbox::new();
    sandbox.fork("other.md", "---\nfork: true\nrun_on: []\n---\nBring LOG.md up to date.\n");
    let feed = |arguments: &[&str]| {
        let mut command = sandbox.command(&sandbox.project());
        command.args(arguments).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A program that refuses its arguments may be gone before it has read anything.
        let _ = std::io::Write::write_all(&mut stdin, b"---\nfork: true\nafter: other\nrun_on: idle\n---\nTidy.\n");
        drop(stdin);
        sandbox.outcome(&child.wait_with_output().expect("an end"))
    };
    let named = ["check", "-", "--stdin-filename", ".autofork/forks/new.md", "--format", "concise"];
    let run = feed(&named);
    let line = ".autofork/forks/new.md:4:9: note[moment-not-listed]: `run_on` is a list; this is read as one here, but not everywhere\n";
    assert_eq!((run.code, run.out.as_str()), (0, line));
    let run = feed(&[&named[..], &["--fix"]].concat());
    assert_eq!(run.out, "---\nfork: true\nafter: other\nrun_on: [idle]\n---\nTidy.\n");
    assert_eq!(feed(&["check", "-"]).code, 2, "a file without a name has no place");
}
