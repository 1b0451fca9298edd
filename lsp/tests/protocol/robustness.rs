//! Bad input: an answer or a proper error, never a crash, never a stale squiggle.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use autofork_lsp::uri;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, able, fork, project, started, user};
use crate::disk::Disk;

#[test]
fn a_document_of_ten_megabytes_is_too_large_and_no_more() {
    let mut client = started(&[]);
    let text = format!("---\nfork: true\n---\n{}", "All work and no play.\n".repeat(480_000));
    client.open(&fork("a.md"), &text);
    assert_eq!(client.rules(&fork("a.md")), ["too-large"]);
    let place = json!({ "line": 400_000, "character": 3 });
    client.edit(&fork("a.md"), json!([{ "range": { "start": place, "end": place }, "text": "x" }]));
    client.at("textDocument/hover", &fork("a.md"), 400_000, 3);
    client.about("textDocument/documentSymbol", &fork("a.md"));
    client.change(&fork("a.md"), "---\nfork: true\n---\nShort.\n");
    assert!(client.rules(&fork("a.md")).is_empty());
}

#[test]
fn ten_thousand_edits_in_a_burst_end_with_the_right_diagnostics() {
    let mut client = started(&[("b.md", "---\nfork: true\nafter: [a]\n---\nTidy.\n")]);
    client.open(&fork("a.md"), "---\nfork: true\n---\n");
    for number in 0..10_000_u32 {
        let place = json!({ "line": 3, "character": number });
        client.edit(&fork("a.md"), json!([{ "range": { "start": place, "end": place }, "text": "x" }]));
    }
    assert!(client.rules(&fork("a.md")).is_empty(), "no body at first, one at last");
    assert!(client.rules(&fork("b.md")).is_empty());
    let end = json!({ "line": 3, "character": 10_000 });
    let start = json!({ "line": 3, "character": 0 });
    client.edit(&fork("a.md"), json!([{ "range": { "start": start, "end": end }, "text": "" }]));
    assert_eq!(client.rules(&fork("a.md")), ["empty-body"], "every one of them was made");
}

#[test]
fn a_folder_and_a_link_to_it_are_open_together() {
    let home = tempfile::tempdir().unwrap();
    let (project, link) = (home.path().join("p"), home.path().join("q"));
    let in_project = project.join(".autofork/forks/a.md");
    std::fs::create_dir_all(in_project.parent().unwrap()).unwrap();
    std::fs::write(&in_project, "---\nfork: true\nx: 1\n---\nTidy.\n").unwrap();
    std::os::unix::fs::symlink(&project, &link).unwrap();
    let in_link = link.join(".autofork/forks/a.md");
    let mut client = Client::binary(home.path());
    client.initialize(&able(), &[&project, &link]);
    assert_eq!(
        (client.rules(&in_project), client.rules(&in_link)),
        (vec!["unknown-key".to_owned()], vec!["unknown-key".to_owned()])
    );
    client.open(&in_link, TEXTS[0]);
    assert!(client.rules(&in_link).is_empty(), "the text that is open there");
    assert_eq!(client.rules(&in_project), ["unknown-key"], "and the one on disk here");
    client.close(&in_link);
    assert_eq!(client.rules(&in_link), ["unknown-key"]);
}

#[test]
fn requests_among_edits_are_answered_from_one_text_or_another_and_the_last_from_the_last() {
    let mut client = started(&[]);
    client.open(&fork("a.md"), TEXTS[0]);
    let mut ids = Vec::new();
    for number in 0..300 {
        client.change(&fork("a.md"), &format!("---\nfork: true\ndescription: Number {number}.\n---\nTidy.\n"));
        let params = json!({ "textDocument": { "uri": uri::of_path(&fork("a.md")) }, "position": { "line": 0, "character": 0 } });
        ids.push(client.send("textDocument/hover", params));
    }
    let answers = client.wait_for_all(&ids);
    for answer in &answers {
        match answer {
            Ok(hover) => assert!(hover["contents"]["value"].as_str().unwrap().contains("Number "), "{hover}"),
            Err((code, words)) => assert_eq!(*code, -32801, "given up only since the text changes too fast: {words}"),
        }
    }
    let last = answers.last().unwrap().as_ref().expect("nothing came after it");
    assert!(last["contents"]["value"].as_str().unwrap().contains("Number 299."), "{last}");
    assert!(client.rules(&fork("a.md")).is_empty());
}

#[test]
fn positions_that_are_nowhere_are_brought_to_the_edge() {
    let mut client = started(&[("a.md", "---\nfork: true\n---\nTidy.\n")]);
    client.open(&fork("a.md"), "---\nfork: true\n---\nTidy.\n");
    for (line, character) in [(u32::MAX, u32::MAX), (0, u32::MAX), (i32::MAX.unsigned_abs(), 0)] {
        client.at("textDocument/hover", &fork("a.md"), line, character);
        client.at("textDocument/completion", &fork("a.md"), line, character);
    }
    let far = json!({ "line": 9999, "character": 9999 });
    let near = json!({ "line": 1, "character": 0 });
    client.edit(&fork("a.md"), json!([{ "range": { "start": far, "end": near }, "text": "More.\n" }]));
    client.edit(&fork("a.md"), json!([{ "range": { "start": near, "end": far }, "text": "fork: true\n---\nx\n" }]));
    assert!(client.rules(&fork("a.md")).is_empty());
    let params =
        json!({ "textDocument": { "uri": uri::of_path(&fork("a.md")) }, "position": { "line": -1, "character": 0 } });
    assert_eq!(client.request("textDocument/hover", params).unwrap_err().0, -32602);
}

#[test]
fn odd_uris_are_nobodys_files() {
    let mut client = started(&[]);
    for uri in ["untitled:x", "file:///%zz", "", "http://h/p/.autofork/forks/a.md", "file:///p/.autofork/forks/"] {
        let document = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": "---\nfork: yes\n" });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
        assert_eq!(client.request("textDocument/hover", params).unwrap(), Value::Null);
    }
}

#[test]
fn a_change_of_a_document_that_is_not_open_is_passed_over() {
    let mut client = started(&[("a.md", "---\nfork: true\n---\nTidy.\n")]);
    let document = json!({ "uri": uri::of_path(&fork("a.md")), "version": 3 });
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": [{ "text": "---\nfork: yes\n" }] }),
    );
    client.notify("textDocument/didClose", json!({ "textDocument": document }));
    assert!(client.rules(&fork("a.md")).is_empty());
}

/// What the binary says to these bytes, and whether it ends in order. It is hung up on once it has said `last`.
fn said(input: &str, last: &str) -> (String, bool) {
    let home = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_autofork-lsp"))
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to_server = server.stdin.take().unwrap();
    to_server.write_all(input.as_bytes()).unwrap();
    let mut from_server = server.stdout.take().unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains(last) {
        let mut more = [0; 4096];
        match from_server.read(&mut more).unwrap() {
            0 => break,
            length => said.extend_from_slice(&more[..length]),
        }
    }
    drop(to_server);
    from_server.read_to_end(&mut said).unwrap();
    let output = server.wait_with_output().unwrap();
    said.extend(output.stderr);
    (String::from_utf8(said).unwrap(), output.status.success())
}

fn framed(bodies: &[&str]) -> String {
    bodies.iter().flat_map(|body| [format!("Content-Length: {}\r\n\r\n", body.len()), (*body).to_owned()]).collect()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
const SHUTDOWN: &str = r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#;
const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

#[test]
fn a_message_that_is_no_json_is_said_so_and_skipped() {
    let (said, in_order) = said(&framed(&["{nonsense", INITIALIZE, SHUTDOWN, EXIT]), "");
    assert!(in_order && said.contains("window/logMessage") && said.contains("\"id\":2"), "{said}");
}

#[test]
fn a_request_whose_id_is_out_of_range_is_refused_under_it() {
    let request = r#"{"jsonrpc":"2.0","id":4294967296,"method":"textDocument/hover","params":{}}"#;
    let (said, in_order) = said(&framed(&[INITIALIZE, request, SHUTDOWN, EXIT]), "");
    assert!(in_order && said.contains("\"id\":4294967296") && said.contains("-32600"), "{said}");
}

#[test]
fn half_a_character_costs_no_message() {
    let uri = "file:///p/.autofork/forks/a.md";
    let open = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"{uri}","languageId":"markdown","version":1,"text":"---\nfork: true\nx: \ud83d\n---\nTidy.\n"}}}}}}"#
    );
    let settled = r#"{"jsonrpc":"2.0","id":3,"method":"autofork/settled"}"#;
    let (said, in_order) = said(&framed(&[INITIALIZE, &open, settled, SHUTDOWN]), "\"id\":2");
    assert!(in_order && said.contains("unknown-key") && !said.contains("logMessage"), "{said}");
}

#[test]
fn what_was_asked_before_the_end_is_answered_before_it() {
    let asked = r#"{"jsonrpc":"2.0","id":3,"method":"workspace/symbol","params":{"query":""}}"#;
    let (said, in_order) = said(&framed(&[INITIALIZE, asked, SHUTDOWN]), "");
    let (third, second) = (said.find("\"id\":3"), said.find("\"id\":2"));
    assert!(in_order && third.is_some() && third < second, "{said}");
}

#[test]
fn bytes_that_are_no_messages_end_it_with_a_reason() {
    let (said, in_order) = said(&[&*framed(&[INITIALIZE]), "{\"jsonrpc\":\"2.0\"}\n"].concat(), "");
    assert!(!in_order && said.contains("nothing more can be read: a line is no header"), "{said}");
}

#[test]
fn a_client_that_hangs_up_ends_the_server() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_autofork-lsp"));
    command.env_clear().env("HOME", home.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
}

#[test]
fn a_file_that_vanishes_between_being_listed_and_being_read_is_no_file() {
    let files = project(&[("a.md", "---\nfork: true\nafter: [b]\n---\nTidy.\n"), ("b.md", TEXTS[0])]);
    let mut client = Client::in_memory(Arc::new(Disk::without(files, fork("b.md"))), user());
    client.initialize(&able(), &[Path::new("/p")]);
    assert_eq!(client.rules(&fork("a.md")), ["unknown-fork"]);
    assert!(client.rules(&fork("b.md")).is_empty());
    assert_eq!(client.at("textDocument/hover", &fork("b.md"), 0, 0), Value::Null);
}

#[test]
fn a_file_that_vanishes_while_it_is_open_lives_on_until_it_is_closed() {
    let disk = Arc::new(Disk::new(project(&[("a.md", TEXTS[2]), ("b.md", TEXTS[0])])));
    let mut client = Client::in_memory(disk.clone(), user());
    client.initialize(&able(), &[Path::new("/p")]);
    client.open(&fork("b.md"), TEXTS[0]);
    let before = client.rules(&fork("a.md"));
    assert!(!before.contains(&"unknown-fork".to_owned()), "{before:?}");
    disk.remove(&fork("b.md"));
    client.watched(&[&fork("b.md")]);
    assert_eq!(client.rules(&fork("a.md")), before);
    client.edit(&fork("b.md"), json!([{ "text": "---\nfork: true\n---\n" }]));
    assert_eq!(client.rules(&fork("b.md")), ["empty-body"]);
    client.close(&fork("b.md"));
    assert!(client.rules(&fork("a.md")).contains(&"unknown-fork".to_owned()));
    assert!(client.rules(&fork("b.md")).is_empty(), "what is gone has no squiggles");
}

#[test]
fn two_projects_with_the_same_forks_are_two_worlds() {
    let waits = "---\nfork: true\nafter: [b]\n---\nTidy.\n";
    let mut files = project(&[("a.md", waits), ("b.md", TEXTS[0])]);
    files.write("/q/.autofork/forks/a.md", waits);
    files.write("/q/.autofork/forks/b.md", TEXTS[0]);
    let mut client = Client::in_memory(Arc::new(files), user());
    client.initialize(&able(), &[Path::new("/p"), Path::new("/q")]);
    assert!(client.everything().is_empty(), "neither hides the other");
    let place = json!({ "line": 0, "character": 0 });
    let document = json!({ "uri": uri::of_path(&fork("b.md")) });
    let params = json!({ "textDocument": document, "position": place, "newName": "c" });
    let edit = client.request("textDocument/rename", params).unwrap().to_string();
    assert!(edit.contains("/p/.autofork/forks/a.md") && !edit.contains("/q/"), "{edit}");
    client.open(&fork("b.md"), "---\nfork: false\n---\n");
    let found = client.everything();
    assert!(found.keys().all(|path| path.starts_with("/p")), "{found:?}");
}

const TEXTS: [&str; 10] = [
    "---\nfork: true\n---\nTidy.\n",
    "---\nfork: true\nafter: [a, b, c]\n---\nTidy.\n",
    "---\nfork: true\nafter: [b]\ntags: [ci]\n---\nUpdate LOG.md.\n",
    "---\nfork: false\n---\n",
    "---\nfork: true\nrun_on: [idle: 1h30m, context_used: 80]\n---\nUpdate LOG.md.\n",
    "---\nfork: true\nafter: [c\n---\nTidy.\n",
    "No fork.\n",
    "---\nfork: true\n# autofork: allow(empty-body, unknown-fork) later\n---\n",
    "",
    "default_idle_deadline = 0\ndisable_tags = [\"ci\"]\n",
];

#[derive(Debug, Clone)]
enum Step {
    Open(usize, usize),
    Change(usize, usize),
    Splice(usize, u32, u32, &'static str),
    Close(usize),
    Write(usize, usize),
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (file, text) = (0..4_usize, 0..TEXTS.len());
    prop_oneof![
        (file.clone(), text.clone()).prop_map(|(file, text)| Step::Open(file, text)),
        (file.clone(), text.clone()).prop_map(|(file, text)| Step::Change(file, text)),
        (file.clone(), 0..6_u32, 0..20_u32, prop::sample::select(vec!["", "x", "\n", ": ", "é\u{1f41b}", "---\n"]))
            .prop_map(|(file, line, column, text)| Step::Splice(file, line, column, text)),
        file.clone().prop_map(Step::Close),
        (file.clone(), text).prop_map(|(file, text)| Step::Write(file, text)),
        file.prop_map(Step::Remove),
    ]
}

const FILES: [&str; 4] = ["a.md", "b.md", "c.md", "config.toml"];

/// Makes the steps; what is open at the end, with its text as the server must have it.
fn play(client: &mut Client, disk: &Disk, steps: &[Step]) -> BTreeMap<PathBuf, String> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for step in steps {
        match *step {
            Step::Open(file, text) => {
                let path = fork(FILES[file]);
                if let Entry::Vacant(free) = texts.entry(path) {
                    client.open(free.key(), TEXTS[text]);
                    free.insert(TEXTS[text].to_owned());
                }
            }
            Step::Change(file, text) => {
                if let Some(held) = texts.get_mut(&fork(FILES[file])) {
                    client.change(&fork(FILES[file]), TEXTS[text]);
                    TEXTS[text].clone_into(held);
                }
            }
            Step::Splice(file, line, column, insert) => {
                if let Some(held) = texts.get_mut(&fork(FILES[file])) {
                    let place = |character| json!({ "line": line, "character": character });
                    let range = json!({ "start": place(column), "end": place(column + 2) });
                    client.edit(&fork(FILES[file]), json!([{ "range": range, "text": insert }]));
                    let at = |character| {
                        let position = serde_json::from_value(place(character)).expect("a position");
                        autofork_lsp::position::Encoding::Utf16.offset_in(held, position)
                    };
                    let (start, end) = (at(column), at(column + 2));
                    held.replace_range(start..end.max(start), insert);
                }
            }
            Step::Close(file) => {
                if texts.remove(&fork(FILES[file])).is_some() {
                    client.close(&fork(FILES[file]));
                }
            }
            Step::Write(file, text) => {
                disk.write(&fork(FILES[file]), TEXTS[text].as_bytes());
                client.watched(&[&fork(FILES[file])]);
            }
            Step::Remove(file) => {
                disk.remove(&fork(FILES[file]));
                client.watched(&[&fork(FILES[file])]);
            }
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_edited_the_diagnostics_are_those_of_a_fresh_start(steps in prop::collection::vec(step(), 1..25)) {
        let disk = Arc::new(Disk::new(project(&[("a.md", TEXTS[1]), ("b.md", TEXTS[0])])));
        let mut client = Client::in_memory(disk.clone(), user());
        client.initialize(&able(), &[Path::new("/p")]);
        let texts = play(&mut client, &disk, &steps);
        let found = client.everything();
        let mut fresh = Client::in_memory(disk, user());
        fresh.initialize(&able(), &[Path::new("/p")]);
        for (path, text) in &texts {
            fresh.open(path, text);
        }
        prop_assert_eq!(found, fresh.everything(), "{:?}", texts);
    }
}
