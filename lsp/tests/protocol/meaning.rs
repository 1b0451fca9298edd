//! Hover.

use std::path::Path;

use crate::client::{Client, able, fork, started};

/// What hovering over the first occurrence of some words shows, with the words that it is about.
fn hover(client: &mut Client, path: &str, text: &str, words: &str) -> String {
    let at = text.find(words).unwrap_or_else(|| panic!("{words} is nowhere"));
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
    let number = |number: usize| u32::try_from(number).unwrap();
    let answer = client.at("textDocument/hover", &fork(path), number(line), number(column));
    let Some(shown) = answer["contents"]["value"].as_str() else { return "nothing".to_owned() };
    let column = |end: &str| usize::try_from(answer["range"][end]["character"].as_u64().unwrap()).unwrap();
    let about = &text.lines().nth(line).unwrap()[column("start")..column("end")];
    format!("about `{about}`:\n{shown}")
}

const HOVER_CONFIG: &str = "default_idle_deadline = \"7m\"\nwake_debounce = 3\ndisable_tags = [\"late\"]\nbackground_hold = false\n\n[tag_throttles]\nnotes = \"1h\"\n\n[lint]\nempty-body = \"off\"\n";

const HOVER_FORK: &str = "---
fork: true
description: Keeps the log
run_on:
  - idle: 15m
  - idle
  - context_used: 80%
  - context_tokens: 150000
  - context_left: 20000
throttle: 90m
after: [b, gone]
overlap: true
tags: [notes, late]
x: 1 # autofork: allow(unknown-key) why
---
Tidy.
";

#[test]
fn hover_says_what_things_come_to_here() {
    let mut client = started(&[
        ("config.toml", HOVER_CONFIG),
        ("a.md", HOVER_FORK),
        ("b.md", "---\nfork: true\ndescription: Comes first\ntags: [early]\nrun_on: [idle: 20m]\n---\nTidy.\n"),
        ("c.md", "---\nfork: true\nafter: [a]\n---\nTidy.\n"),
    ]);
    let mut shown = Vec::new();
    for words in [
        "---",
        "fork:",
        "true",
        "description",
        "Keeps",
        "run_on",
        "idle: 15m",
        "15m",
        "idle\n",
        "80%",
        "context_tokens",
        "20000",
        "throttle",
        "90m",
        "after",
        "b, gone",
        "gone",
        "overlap",
        "tags",
        "notes",
        "late",
        "unknown-key",
        "Tidy",
    ] {
        let said = hover(&mut client, "a.md", HOVER_FORK, words);
        shown.push(format!("===== fork, at `{}`, {said}\n", words.trim()));
    }
    for words in [
        "default_idle",
        "7m",
        "wake_debounce",
        "disable_tags",
        "late",
        "background",
        "tag_throttles",
        "notes",
        "1h",
        "lint",
        "empty-body",
    ] {
        let said = hover(&mut client, "config.toml", HOVER_CONFIG, words);
        shown.push(format!("===== configuration, at `{words}`, {said}\n"));
    }
    insta::assert_snapshot!("hover", shown.join("\n"));
    client.everything();
}

#[test]
fn the_default_is_named_with_who_set_it() {
    let text = "---\nfork: true\nrun_on:\n  - idle: 15m\n---\nTidy.\n";
    let says = |config: &str, user: &str| {
        let mut files = autofork::project::Memory::default();
        files.write(fork("a.md"), text);
        files.write(fork("config.toml"), config);
        files.write("/home/.autofork/config.toml", user);
        let mut client = Client::in_memory(std::sync::Arc::new(files), crate::client::user());
        client.initialize(&able(), &[Path::new("/p")]);
        let said = hover(&mut client, "a.md", text, "idle");
        client.everything();
        said
    };
    for (config, user, wanted) in [
        ("default_idle_deadline = \"7m\"", "", "the default of 7 min comes from the project's config"),
        ("", "default_idle_deadline = \"7m\"", "the default of 7 min comes from your own config"),
        ("", "", "the default of 10 min is built in"),
        ("default_idle_deadline = 0", "", "the default of 0 comes from the project's config"),
    ] {
        assert_eq!(says(config, user), format!("about `idle: 15m`:\n`idle: 15m`: quiet for 15 min; {wanted}."));
    }
}

#[test]
fn where_something_is_found_hover_ends_with_the_rule() {
    let text = "---\nfork: true\nthrotle: 1h\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let said = hover(&mut client, "a.md", text, "throtle");
    assert!(said.starts_with("about `throtle`:\n**unknown-key** (warn)") && said.contains("Good:"), "{said}");
    let text = "---\nfork: true\nafter: [gone]\n---\nTidy.\n";
    client.open(&fork("b.md"), text);
    let said = hover(&mut client, "b.md", text, "gone");
    assert!(said.contains("There is no fork `gone` here.\n\n---\n\n**unknown-fork**"), "{said}");
    client.everything();
}

#[test]
fn a_fence_tells_of_files_that_are_no_good_forks_too() {
    let text = "---\nfork: true\nrun_on: [idle\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    assert!(hover(&mut client, "a.md", text, "---").contains("**a** (broken)"));
    client.everything();
}
