//! `run`, `completions` and the man pages: what only prints.

use std::fs;

use crate::program::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.fork("journal.md", "---\nfork: true\ntags: [notes]\n---\nBring LOG.md up to date.\n");
    sandbox.fork("a-review.md", "---\nfork: true\nafter: [journal, tidy]\ntags: [notes]\n---\nReview it.\n");
    sandbox.fork("tidy.md", "---\nfork: true\n---\nTidy up.\n");
    sandbox.fork("broken.md", "---\nfork: true\nthrottle: [\n---\nNever.\n");
    sandbox.fork("off.md", "---\nfork: false\n---\nNever.\n");
    sandbox
}

/// The descriptions of the calls that a text asks for, in their order.
fn asked_for(text: &str) -> Vec<String> {
    let calls = text.lines().filter(|line| line.starts_with('{'));
    calls
        .map(|call| {
            let call: serde_json::Value = serde_json::from_str(call).expect("a call is JSON");
            assert_eq!(call["subagent_type"], "fork");
            call["description"].as_str().expect("a description").to_owned()
        })
        .collect()
}

#[test]
fn forks_are_started_by_hand_in_after_order() {
    let sandbox = sandbox();
    let run = sandbox.run(&["run", "journal"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(run.out);
    let run = sandbox.run(&["run", "--tag", "notes"]);
    assert_eq!(asked_for(&run.out), ["autofork: journal", "autofork: a-review"]);
    assert!(run.out.contains("once journal has ended"), "{}", run.out);
    let run = sandbox.run(&["run", "a-review", "tidy", "journal", "tidy"]);
    assert_eq!(asked_for(&run.out), ["autofork: journal", "autofork: tidy", "autofork: a-review"]);
    assert!(run.out.contains("once journal, tidy have ended"), "{}", run.out);
}

#[test]
fn a_name_that_is_not_there_gets_a_suggestion_and_one_that_cannot_run_a_reason() {
    let sandbox = sandbox();
    for (arguments, error) in [
        (&["run", "jurnal"][..], "error: there is no fork `jurnal` here\nhelp: did you mean `journal`?\n"),
        (&["run", "x\u{1b}y"], "error: there is no fork `x\\u{1b}y` here\nhelp: there is a-review, journal, tidy\n"),
        (&["run", "broken"], "error: the fork `broken` is broken\nhelp: see `autofork check`\n"),
        (&["run", "off"], "error: the fork `off` is switched off here with `fork: false`\n"),
        (&["run", "--tag", "note"], "error: no fork here has the tag `note`\nhelp: did you mean `notes`?\n"),
    ] {
        let run = sandbox.run(arguments);
        assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (2, error, ""), "{arguments:?}");
    }
    assert_eq!(sandbox.run(&["run"]).code, 2);
    assert_eq!(sandbox.run(&["run", "journal", "--tag", "notes"]).code, 2);
}

#[test]
fn every_shell_gets_completions_that_know_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = sandbox.run(&["completions", shell]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains("doctor") && run.out.contains("stop-daemon"), "{shell}");
    }
    assert_eq!(sandbox.run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn there_is_a_man_page_for_every_command_and_for_no_hidden_one() {
    let sandbox = Sandbox::new();
    let folder = sandbox.home().join("man");
    fs::create_dir(&folder).expect("a folder");
    let run = sandbox.run(&["man", folder.to_str().expect("text")]);
    assert_eq!(run.code, 0, "{}", run.err);
    for page in ["autofork.1", "autofork-doctor.1", "autofork-run.1", "autofork-check.1"] {
        let text = fs::read_to_string(folder.join(page)).expect(page);
        assert!(text.contains(".SH DESCRIPTION"), "{page}");
    }
    assert!(!folder.join("autofork-ticket.1").exists());
}
