//! Completion: whatever is taken of what is offered, the file stays whole.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, fork, memory, user};
use crate::completion::items;

/// A client without snippets: what is taken is what is written.
fn client() -> Client {
    let files = [
        ("b.md", "---\nfork: true\ntags: [notes, c+d, x y]\n---\nTidy.\n"),
        ("due list.md", "---\nfork: true\n---\nTidy.\n"),
        ("2024.md", "---\nfork: true\n---\nTidy.\n"),
        ("é\u{1f41b}.md", "---\nfork: true\n---\nTidy.\n"),
        ("it's - \"c\".md", "---\nfork: true\ntags: ['a: \"b\"', '#x']\n---\nTidy.\n"),
    ];
    let mut client = Client::in_memory(memory(&files), user());
    client.initialize(&json!({}), &[Path::new("/p")]);
    client
}

/// Everything that is offered at every place of a part of a file, with the text that it makes of it.
fn taken(client: &mut Client, path: &str, text: &str, from: usize, to: usize) -> Vec<(Value, String)> {
    let mut all = Vec::new();
    for at in (from..=to).filter(|at| text.is_char_boundary(*at)) {
        let (before, after) = text.split_at(at);
        for item in items(client, path, &format!("{before}|{after}")) {
            let range = &item["textEdit"]["range"];
            let line = before.matches('\n').count();
            assert_eq!(
                [&range["start"]["line"], &range["end"]["line"]],
                [line, line],
                "on the cursor's line: {text}"
            );
            let offset = |end: &str| {
                let place = serde_json::from_value(range[end].clone()).unwrap();
                autofork_lsp::position::Encoding::Utf16.offset_in(text, place)
            };
            let words = item["textEdit"]["newText"].as_str().unwrap();
            assert!(offset("start") <= at && at <= offset("end"), "around the cursor: {text}");
            let result = [&text[..offset("start")], words, &text[offset("end")..]].concat();
            all.push((item, result));
        }
    }
    all
}

/// How often each rule that a completion may break is found in a text.
fn faults(client: &mut Client, path: &str, text: &str) -> BTreeMap<String, usize> {
    client.open(&fork(path), text);
    let mut faults = BTreeMap::new();
    for rule in client.rules(&fork(path)) {
        let counts = matches!(&*rule, "yaml-syntax" | "toml-syntax" | "unclosed-frontmatter" | "duplicate-key")
            || matches!(&*rule, "unknown-moment" | "malformed-moment")
            || rule.starts_with("invalid-")
            || rule.starts_with("config-");
        if counts {
            *faults.entry(rule).or_default() += 1;
        }
    }
    client.close(&fork(path));
    client.everything();
    faults
}

fn assert_no_worse(before: &BTreeMap<String, usize>, after: &BTreeMap<String, usize>, what: &str) {
    for (rule, count) in after {
        assert!(before.get(rule).is_some_and(|before| before >= count), "{rule} in what was {what}");
    }
}

/// Whether what is offered is a key whose value is still to come: then only syntax counts.
fn lacks_value(item: &Value, sign: char) -> bool {
    item["kind"] == 10 && item["textEdit"]["newText"].as_str().unwrap().contains(sign)
}

/// The names that a fork waits for, and its tags, as the command line's list shows them.
fn names(key: &str, text: &str) -> Vec<String> {
    let contents = autofork::compile::Contents::text(text);
    let compiled = autofork::compile::fork_file(&"new".into(), &Path::new("/p/new.md").into(), &contents);
    match key {
        "after" => compiled.file.after_names().map(|(name, _)| name.as_str().to_owned()).collect(),
        _ => compiled.file.tag_words().map(|(tag, _)| tag.as_str().to_owned()).collect(),
    }
}

const PARTS: [&str; 66] = [
    "after: []",
    "after: [x]",
    "after: [x, y]",
    "after: [ \"x\", 'y' ]",
    "after: x",
    "after: x, y",
    "after: b, x",
    "after: \"x\"",
    "after: \"x, 20\"",
    "after: 'x, y'",
    "after: ''",
    "after: ",
    "after:",
    "after: due list",
    "after: [due list]",
    "after: [due list, y]",
    "after:\n  - x\n  - y",
    "after:\n- 'x'",
    "after:\n  -",
    "after:\n  - x\n  -",
    "after:\n  - x\n  ",
    "after:\n  - x\n  b",
    "after:\n  ",
    "after:\n  - x, y",
    "after: [x,\n  y,\n  z]",
    "after: [x,\n  y]",
    "after: [x # why\n  ]",
    "after:\n  [x, y]",
    "after:\n  - x # why",
    "after: x # why",
    "after: |\n  x",
    "after: &a [x]",
    "after: [\"x #y\", ]",
    "after: é\u{1f41b}, y",
    "after: [é\u{1f41b}x, y]",
    "after: [x y]",
    "\"after\": [x]",
    "after : [x]",
    "tags: [x, ]",
    "tags:\n  - ",
    "tags: [c+d, x]",
    "tags: x y, z",
    "tags:\n  - x+y z",
    "tags: [x  y]",
    "run_on: [idle: 15m, {context_used: 80%}]",
    "run_on:\n  - idle: 15m\n  - context_left: 20000",
    "run_on:\n  - idle: 5m\n  -",
    "run_on:\n  -",
    "run_on:\n  idle: 15m\n  ",
    "run_on:\n  - idle: 15m\n  ",
    "run_on: {idle: 15m}",
    "run_on: idle",
    "run_on: [context_used: 80%]",
    "run_on:\n  -\n    idle: 15m",
    "run_on: [idle,\n  context_used: 80%]",
    "run_on: [idle:15m]",
    "throttle: 1h",
    "throttle: '1h'",
    "throttle: 1h # why",
    "throttle:   1h",
    "overlap: true",
    "overlap: no way",
    "description: >\n  after: x\n  throttle: 1h # a",
    "description: \"a # b\"",
    "x:\n  after:\n    - b",
    "aft: [x]",
];

#[test]
fn a_fork_stays_whole() {
    let mut client = client();
    let mut count = 0;
    for part in PARTS {
        let text = format!("---\nfork: true\n{part}\nmodel: d\n---\nTidy.\n");
        let key = part.split(':').next().unwrap().trim_matches(['"', ' ']);
        let from = text.find(part).unwrap();
        let before = faults(&mut client, "new.md", &text);
        let was = names(key, &text);
        for (item, result) in taken(&mut client, "new.md", &text, from, from + part.len()) {
            let mut after = faults(&mut client, "new.md", &result);
            if lacks_value(&item, ':') {
                after.remove("invalid-type");
            }
            assert_no_worse(&before, &after, &format!("{text:?} and is {result:?}"));
            let label = item["label"].as_str().unwrap();
            let is_whole = !before.contains_key("yaml-syntax");
            let is_name = is_whole && (item["kind"] == 18 || item["kind"] == 14);
            if is_name && matches!(key, "after" | "tags") {
                let is = names(key, &result);
                assert_eq!(is.iter().filter(|name| *name == label).count(), 1, "{label} is meant: {result:?}");
                assert!(was.iter().filter(|name| !is.contains(name)).count() <= 1, "{was:?} became {is:?}");
            }
            count += 1;
        }
    }
    assert!(count > 1000, "{count}");
}

const SETTINGS: [&str; 25] = [
    "\nsession_timeout = 5",
    "disable_tags = []",
    "disable_tags = [\"x\"]",
    "disable_tags = [\"x\", ]",
    "disable_tags = [\"x\" \"y\"]",
    "disable_tags = ['x', ]",
    "disable_tags = [\n  \"x\",\n  \"y\"\n]",
    "disable_tags = [\n  \"x\", # why\n  \n]",
    "disable_tags = [ # why\n  \n]",
    "disable_tags = [\"a#b\", ]",
    "disable_tags = [\"a[b\"] # see [1\n",
    "enable_tags = \"x\"",
    "enable_tags = ",
    "default_idle_deadline = \"10m\"",
    "default_idle_deadline = 10",
    "default_idle_deadline = '10m'",
    "session_timeout =",
    "background_hold = true",
    "background_hold = \"true\"",
    "session_timeout = \"12h\" # why\n",
    "wake_deb = 5",
    "x = \"\"\"\n[\n\"\"\"\n",
    "[tag_throttles]\nnotes = \"1h\"\n",
    "[tag_throttles]\n\"x y\" = \"1h\"\n\n[lint]\n",
    "[lint]\nempty-body = \"off\" # why\n",
];

#[test]
fn a_configuration_stays_whole() {
    let mut client = client();
    let mut count = 0;
    for text in SETTINGS {
        let before = faults(&mut client, "config.toml", text);
        for (item, result) in taken(&mut client, "config.toml", text, 0, text.len()) {
            let mut after = faults(&mut client, "config.toml", &result);
            if lacks_value(&item, '=') {
                after.remove("config-invalid-value");
            }
            assert_no_worse(&before, &after, &format!("{text:?} and is {result:?}"));
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}
