//! Completion: what becomes of what is taken, and where there is nothing to take.

use crate::client::{Client, started};
use crate::completion::{items, offered};

/// What a text becomes when what is offered at its bar under a label is taken by a client without snippets; nothing if
/// that is not offered.
fn after_taking(client: &mut Client, path: &str, text: &str, label: &str) -> Option<String> {
    let item = items(client, path, text).into_iter().find(|item| item["label"] == label)?;
    let text = text.replace('|', "");
    let offset = |end: &str| {
        let place = serde_json::from_value(item["textEdit"]["range"][end].clone()).unwrap();
        autofork_lsp::position::Encoding::Utf16.offset_in(&text, place)
    };
    let words = item["textEdit"]["newText"].as_str().unwrap();
    Some([&text[..offset("start")], words, &text[offset("end")..]].concat())
}

const NAMES: [(&str, &str); 4] = [
    ("b.md", "---\nfork: true\ntags: [notes, c+d]\n---\nTidy.\n"),
    ("due list.md", "---\nfork: true\n---\nTidy.\n"),
    ("2024.md", "---\nfork: true\n---\nTidy.\n"),
    ("é\u{1f41b}.md", "---\nfork: true\n---\nTidy.\n"),
];

#[test]
fn what_is_taken_goes_where_it_belongs() {
    let mut client = started(&NAMES);
    for (part, label, wanted) in [
        ("run_on:\n  -|", "idle: 15m", "run_on:\n  - idle: 15m"),
        ("tags:\n  - x\n  -|", "notes", "tags:\n  - x\n  - notes"),
        ("run_on:\n  - id|le: 5m", "context_used: 80%", "run_on:\n  - context_used: 80%"),
        ("run_on: [context|_used: 80%]", "context_left: 20000", "run_on: [context_left: 20000]"),
        ("run_on: [idle: |5m # why\n  ]", "1h", "run_on: [idle: 1h # why\n  ]"),
        ("after:\n  - x\n  |", "b", "after:\n  - x\n  - b"),
        ("after:\n  d|", "due list", "after:\n  - due list"),
        ("after: b|, x", "due list", "after: due list, x"),
        ("after: x, 20|", "2024", "after: x, 2024"),
        ("after: \"x, 20|\"", "2024", "after: \"x, 2024\""),
        ("after: due| list", "due list", "after: [due list]"),
        ("after: [d|ue list, x]", "due list", "after: [due list, x]"),
        ("after: [é|\u{1f41b}, x]", "b", "after: [b, x]"),
        ("tags: [c|+d]", "notes", "tags: [notes]"),
        ("tags: [\"x #y\", |]", "notes", "tags: [\"x #y\", notes]"),
        ("after: [x,|\n  y]", "b", "after: [x,b,\n  y]"),
        ("after: [| x]", "b", "after: [b, x]"),
        ("after: [ # why\n  |]", "b", "after: [ # why\n  b]"),
    ] {
        let text = |part: &str| format!("---\nfork: true\n{part}\n---\nTidy.\n");
        let taken = after_taking(&mut client, "new.md", &text(part), label);
        assert_eq!(taken, Some(text(wanted)), "{part}");
    }
    for (text, label, wanted) in [
        ("session_timeout = \"12h\"\n[|", "[lint]", "session_timeout = \"12h\"\n[lint]"),
        ("disable_tags = [\"a[b\"] # see [1\n[|", "[lint]", "disable_tags = [\"a[b\"] # see [1\n[lint]"),
        ("disable_tags = [\"a#b\", |]", "notes", "disable_tags = [\"a#b\", \"notes\"]"),
        ("disable_tags = [ # why\n  |\n]", "notes", "disable_tags = [ # why\n  \"notes\"\n]"),
        ("disable_tags = [\n  \"x\", # why\n  \"|\"\n]", "notes", "disable_tags = [\n  \"x\", # why\n  \"notes\"\n]"),
        ("disable_tags = [\n  \"x\",|\n  \"y\"\n]", "notes", "disable_tags = [\n  \"x\",\"notes\",\n  \"y\"\n]"),
        ("session_timeout = \"1|2h\"", "1h", "session_timeout = \"1h\""),
        ("session_timeout = 1|2", "1h", "session_timeout = \"1h\""),
    ] {
        assert_eq!(after_taking(&mut client, "config.toml", text, label).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn the_first_key_is_offered_while_the_frontmatter_is_open() {
    let mut client = started(&NAMES);
    for text in ["---\n|", "---\nf|", "---\nfork|\n\nTidy.\n", "---\ndescription: x\nfo|"] {
        let offers = offered(&mut client, "new.md", text);
        assert!(["fork", "overlap"].iter().all(|key| offers.iter().any(|offer| offer == key)), "{text}: {offers:?}");
    }
    assert!(offered(&mut client, "new.md", "---\nfork: true\n  |\n---\nTidy.\n").is_empty(), "it has its value");
}

#[test]
fn thousands_of_names_are_not_tried_one_by_one() {
    let names: Vec<String> = (0..200).map(|number| format!("größe v1.{number} due.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, NAMES[1].1)).collect();
    let mut client = started(&files);
    let offers = offered(&mut client, "new.md", "---\nfork: true\nafter: [|]\n---\nTidy.\n");
    assert_eq!(offers.len(), 200, "more than are tried");
}

#[test]
fn a_configuration_with_a_byte_order_mark_is_like_any_and_what_is_typed_is_not_offered_back() {
    let mut client = started(&NAMES);
    assert!(offered(&mut client, "config.toml", "\u{feff}[lint]\nun|\n").contains(&"unknown-key".to_owned()));
    let taken = after_taking(&mut client, "config.toml", "\u{feff}sess|", "session_timeout").unwrap();
    assert!(taken.starts_with("\u{feff}session_timeout"), "{taken:?}");
    for text in ["disable_tags = [\"no|\"]", "enable_tags = [\"x\", \"no|\"]", "[tag_throttles]\nno| = \"1h\""] {
        let offers = offered(&mut client, "config.toml", text);
        assert!(offers.contains(&"notes".to_owned()) && !offers.contains(&"no".to_owned()), "{text}: {offers:?}");
    }
}

#[test]
fn where_nothing_fits_nothing_is_offered() {
    let mut client = started(&NAMES);
    for part in [
        "after: |[x]",
        "description: a: b\nafter: |[x]",
        "description: a: b\nrun_on:\n  idle: 15m\n  |",
        "after:| [x]",
        "throttle:| 1h",
        "throttle:|\n  1h",
        "description: >\n  after: |",
        "description: \"a # |\"",
        "x:\n  after:\n    - |",
        "run_on:\n  idle: 15m\n  |",
        "tags:\n  - notes # why\n  - c+d\n  - |",
        "after: [b, due list, \"2024\", \"é\u{1f41b}\", |]",
        "run_on:\n  - idle\n|\n  - context_used: 80%",
        "after:\n  - b\nth|\n  - 2024",
        "description: >\n  first\n|\n  second",
        "description: \"first\n|\n  second\"",
        "overlap: true\n  |",
        "throttle: 1h\n  |",
    ] {
        let offers = offered(&mut client, "new.md", &format!("---\nfork: true\n{part}\n---\nTidy.\n"));
        assert!(offers.is_empty(), "{part}: {offers:?}");
    }
    for text in [
        "disable_tags = |[\"x\"]",
        "disable_tags = [|\"x\"]",
        "session_timeout = |\"10m\"",
        "x = \"\"\"\n[|\n\"\"\"",
        "disable_tags = ['notes', 'c+d', |]",
        "|[lint]\n",
        "x = \"\"\"\nno = |\n\"\"\"",
    ] {
        let offers = offered(&mut client, "config.toml", text);
        assert!(offers.is_empty(), "{text}: {offers:?}");
    }
    assert_eq!(offered(&mut client, "config.toml", "disable_tags = [|, \"notes\"]"), ["c+d"]);
    assert!(!offered(&mut client, "config.toml", "tag|s = [\"x\"]").contains(&"[lint]".to_owned()));
}
