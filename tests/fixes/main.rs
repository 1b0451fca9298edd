//! Fixes: safe ones never change what a fork comes to, keep what they do not mend, and leave nothing to mend.

#[path = "../support/documents.rs"]
mod documents;
#[path = "../support/project.rs"]
mod project;

use autofork::compile::State;
use autofork::db::Loaded;
use autofork::diagnostic::{self, Applicability};
use autofork::ir::{Body, Fork};
use documents::document;
use project::Project;
use proptest::prelude::*;

fn load(text: &str) -> Loaded {
    Project::new().with("example.md", text).load()
}

/// The text after every fix of that kind that can be made, round after round.
fn mended(text: &str, at_most: Applicability) -> String {
    let mut text = text.to_owned();
    for _ in 0..10 {
        let loaded = load(&text);
        let (changed, made) = diagnostic::apply(&loaded.diagnostics, &loaded.sources, at_most);
        if made == 0 {
            return text;
        }
        let (_, new) = changed.into_iter().next().expect("a changed file");
        assert_ne!(new, text, "a fix that changes nothing");
        text = new;
    }
    panic!("fixes go on for ever: {text}");
}

/// What a text comes to, apart from the line on which its body begins; none if it is no fork.
fn compiled(loaded: &Loaded) -> Option<Fork> {
    let fork = loaded.listing.iter().find(|listed| listed.state == State::Active)?.fork.as_ref()?;
    let body = Body { first_line: 0, ..fork.body.clone() };
    Some(Fork { body, ..Fork::clone(fork) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn safe_fixes_never_change_what_a_fork_comes_to(text in document()) {
        let before = load(&text);
        let after_text = mended(&text, Applicability::Safe);
        let after = load(&after_text);
        if let Some(fork) = compiled(&before) {
            prop_assert_eq!(Some(fork), compiled(&after), "{}", after_text);
        }
    }

    #[test]
    fn after_safe_fixes_there_is_nothing_left_to_mend_safely(text in document()) {
        let after = load(&mended(&text, Applicability::Safe));
        let left: Vec<_> = after.diagnostics.iter().filter(|found| found.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe)).collect();
        prop_assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn safe_fixes_keep_comments_and_line_ends(text in document()) {
        let after = mended(&text, Applicability::Safe);
        for comment in ["# really", "# soon", "# never", "# cheap", "# a comment", "allow(unknown-key) why"] {
            prop_assert!(text.contains(comment) <= (after.contains(comment) || comment.starts_with("allow")), "{after}");
        }
        if text.contains("\r\n") {
            prop_assert!(!after.replace("\r\n", "").contains('\n'), "{after:?}");
        } else {
            prop_assert!(!after.contains('\r'), "{after:?}");
        }
        let end = if text.contains("\r\n") { "to date.\r\n" } else { "to date.\n" };
        prop_assert!(after.ends_with(end));
    }

    #[test]
    fn guesses_come_to_an_end_too(text in document()) {
        let after = load(&mended(&text, Applicability::Unsafe));
        let fixable = after.diagnostics.iter().filter(|found| found.fix.is_some()).count();
        prop_assert_eq!(fixable, 0);
    }
}

#[test]
fn each_fix_by_itself_mends_what_it_is_for() {
    for (before, after) in [
        ("---\nfork: true\nrun_on: idle\n---\nTidy.\n", "---\nfork: true\nrun_on: [idle]\n---\nTidy.\n"),
        ("---\nfork: true\ntags: a, b\n---\nTidy.\n", "---\nfork: true\ntags: [a, b]\n---\nTidy.\n"),
        ("\n\n---\nfork: true\n---\nTidy.\n", "---\nfork: true\n---\nTidy.\n"),
        ("---\nfork: true\nmodel: x\n---\nTidy.\n", "---\nfork: true\n---\nTidy.\n"),
        ("---\nfork: true\nrun_on:\n\t- idle\n---\nTidy.\n", "---\nfork: true\nrun_on:\n  - idle\n---\nTidy.\n"),
        (
            "---\nfork: true\ndescription: a: b # c\n---\nTidy.\n",
            "---\nfork: true\ndescription: \"a: b\" # c\n---\nTidy.\n",
        ),
        (
            "---\nfork: true\nrun_on:\n  idle: 1h30m\n  context_used: 80\n---\nTidy.\n",
            "---\nfork: true\nrun_on:\n  - idle: 90m\n  - context_used: 80%\n---\nTidy.\n",
        ),
    ] {
        assert_eq!(mended(before, Applicability::Safe), after);
    }
    let guessed = mended("----\nfork: yes\nthrotle: 30M\n----\nTidy.\n", Applicability::Unsafe);
    assert_eq!(guessed, "---\nfork: true\nthrottle: 30m\n---\nTidy.\n");
}

/// Texts that once were mended wrongly: what had no effect must not get one, and what had one must keep it.
#[test]
fn no_fix_changes_what_a_fork_comes_to() {
    for text in [
        "---\nfork: true\nrun_on: {idle: 5m, context_used: 80%, context_used: 90%}\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n  idle: 5m\n  context_used: 80%\n  context_used: 90%\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n -  idle: 15m\n    context_used: 8 %\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n  - idle: 15m\n    context_used: 80%\n    idle: 20m\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n-\n    idle: 15m\n    context_used: 80%\n---\nTidy.\n",
        "---\nfork: true\nafter: example\nafter: b\n---\nTidy.\n",
        "---\nfork: true\nafter: [example, example]\n\"after\": [b]\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n- - idle: 15m\n    context_used: 80%\n  - idle\n---\nTidy.\n",
        "---\nfork: true\nafter: [\"a\\u0007b#, $\", ~, [x]]\n---\nTidy.\n",
        "---\nfork: true\ntags: \u{202f}, on, y, null, 1, x]\n---\nTidy.\n",
        "---\nfork: true\nafter: Snull, t  -rue,\", \u{feff}~, [x]]\n---\nTidy.\n",
        "---\nfork: true\nafter: draft, \u{feff}pol\u{3000}ish\n---\nTidy.\n",
        "---\nfork: true\ntags: \u{a0},  on,oy, null*, 1, 20'6]\n---\nTidy.\n",
    ] {
        let mended = mended(text, Applicability::Safe);
        let (before, after) = (load(text), load(&mended));
        assert_eq!(compiled(&before), compiled(&after), "{text}\n{mended}");
    }
}
