//! Code actions, made as a client makes them.

use std::path::Path;

use autofork_lsp::uri;
use serde_json::{Value, json};

use crate::client::{Client, fork, started};

/// The actions offered on a line.
fn actions(client: &mut Client, path: &str, line: u32, only: Option<&str>) -> Vec<Value> {
    let range = json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 99 } });
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!([only]);
    }
    let params = json!({ "textDocument": { "uri": uri::of_path(&fork(path)) }, "range": range, "context": context });
    client.request("textDocument/codeAction", params).expect("an answer").as_array().cloned().unwrap_or_default()
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().expect("a title")).collect()
}

/// A text after the edits to its file; columns are bytes in these tests.
pub(crate) fn edited(text: &str, path: &Path, edit: &Value) -> String {
    let mut edits: Vec<&Value> = Vec::new();
    for change in edit["documentChanges"].as_array().expect("changes") {
        if change["textDocument"]["uri"] == json!(uri::of_path(path)) {
            edits.extend(change["edits"].as_array().expect("edits"));
        }
    }
    apply(text, &edits)
}

pub(crate) fn apply(text: &str, edits: &[&Value]) -> String {
    let offset = |place: &Value| {
        let place = serde_json::from_value(place.clone()).expect("a position");
        autofork_lsp::position::Encoding::Utf8.offset_in(text, place)
    };
    let mut result = text.to_owned();
    for edit in edits.iter().rev() {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        result.replace_range(range, edit["newText"].as_str().unwrap());
    }
    result
}

fn made(text: &str, actions: &[Value], title: &str) -> String {
    let action = actions.iter().find(|action| action["title"] == title);
    let action = action.unwrap_or_else(|| panic!("{title} is not among {:?}", titles(actions)));
    edited(text, &fork("a.md"), &action["edit"])
}

#[test]
fn a_fix_mends_what_it_is_for() {
    let text = "---\nfork: true\nrun_on: idle\nthrotle: 1h\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let offered = actions(&mut client, "a.md", 3, Some("quickfix"));
    let title = titles(&offered)[0].to_owned();
    assert!(made(text, &offered, &title).contains("\nthrottle: 1h\n"), "{title}");
    assert_eq!(offered[0]["diagnostics"][0]["code"], "unknown-key");
    client.everything();
}

#[test]
fn a_suppression_is_written_above_with_room_for_a_reason() {
    let text = "---\nfork: true\nrun_on:\n  - idel\nx: 1\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    client.open(&fork("a.md"), text);
    let offered = actions(&mut client, "a.md", 4, None);
    let suppressed = made(text, &offered, "Allow `unknown-key` here, with a reason");
    assert!(suppressed.contains("\n# autofork: allow(unknown-key) reason: \nx: 1\n"), "{suppressed}");
    let offered = actions(&mut client, "a.md", 3, None);
    let suppressed = made(&suppressed, &offered, "Allow `unknown-moment` here, with a reason");
    client.change(&fork("a.md"), &suppressed);
    assert_eq!(client.rules(&fork("a.md")), ["never-fires"]);
}

#[test]
fn everything_safe_is_mended_at_once_as_check_does_it() {
    let text = "\n---\nfork: true\nrun_on:\n  idle: 1h30m\n  context_used: 80\ntags: a, b\nmodel: x\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let offered = actions(&mut client, "a.md", 0, Some("source.fixAll"));
    assert_eq!(offered.len(), 1);
    let mended = made(text, &offered, "Mend everything that can be mended safely");
    let wanted = "---\nfork: true\nrun_on:\n  - idle: 90m\n  - context_used: 80%\ntags: [a, b]\n---\nTidy.\n";
    assert_eq!(mended, wanted);
    client.everything();
}

#[test]
fn a_suppression_of_what_other_files_bring_about_is_kept() {
    let text = "---\nfork: true\nmodel: x\n# autofork: allow(never-together) by hand\nafter: [b]\n---\nTidy.\n";
    let other = "---\nfork: true\nrun_on: [idle: 2h]\n---\nTidy.\n";
    let mut client = started(&[("a.md", text), ("b.md", other)]);
    assert_eq!(client.rules(&fork("a.md")), ["ignored-key"]);
    let offered = actions(&mut client, "a.md", 0, Some("source.fixAll"));
    let mended = made(text, &offered, "Mend everything that can be mended safely");
    assert_eq!(mended, text.replace("model: x\n", ""));
}

#[test]
fn a_note_becomes_a_fork() {
    for (text, wanted) in [
        ("Tidy up.\n", "---\nfork: true\n---\nTidy up.\n"),
        ("---\ntitle: x\n---\nTidy up.\n", "---\nfork: true\ntitle: x\n---\nTidy up.\n"),
    ] {
        let mut client = started(&[("a.md", text)]);
        let offered = actions(&mut client, "a.md", 0, Some("refactor"));
        assert_eq!(made(text, &offered, "Make this note a fork with `fork: true`"), wanted);
    }
    let text = "---\ntags: [a]\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let offered = actions(&mut client, "a.md", 0, Some("quickfix"));
    let title = titles(&offered)[0].to_owned();
    assert!(made(text, &offered, &title).contains("fork: true"), "{title}");
    client.everything();
}

#[test]
fn nothing_is_written_where_it_would_be_no_comment_and_no_key() {
    let text = "---\nfork: true\nafter: |\n  gone\ndescription: >\n  a\u{200b}b\nx: 1\n---\nTidy.\n";
    let mut client = started(&[("a.md", text), ("b.md", "---\n- a\n---\nTidy.\n")]);
    client.everything();
    for line in 0..8 {
        for action in actions(&mut client, "a.md", line, Some("quickfix")) {
            let title = action["title"].as_str().unwrap();
            if title.starts_with("Allow") {
                let result = edited(text, &fork("a.md"), &action["edit"]);
                let texts = ["after: |\n  gone\n", "description: >\n  a\u{200b}b\n"];
                assert!(texts.iter().all(|words| result.contains(words)), "{title} at {line}: {result}");
            }
        }
    }
    assert_eq!(titles(&actions(&mut client, "b.md", 0, Some("refactor"))), Vec::<&str>::new());
}

#[test]
fn a_lone_value_becomes_a_list() {
    let text = "---\nfork: true\ntags: ci\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let offered = actions(&mut client, "a.md", 2, None);
    assert!(made(text, &offered, "Write `tags` as a list").contains("\ntags: [ci]\n"));
    assert!(!titles(&actions(&mut client, "a.md", 1, None)).contains(&"Write `tags` as a list"));
}

#[test]
fn what_is_offered_reads_well() {
    let texts = [
        "---\nfork: true\nthrotle: 1h\nmodel: x\n---\nTidy.\n",
        "---\nfork: yes\nrun_on: 15m\ntags: ci, notes\n---\nTidy.\n",
        "---\nfork: true\nrun_on:\n  idle: 1h30m\nafter: gone\n---\nTidy.\n",
        "---\ntags: [a]\n---\nTidy.\n",
        "Tidy.\n",
        "---\nfork: true\n# autofork: allow(unknown-key)\n---\n",
    ];
    let mut client = started(&[]);
    let mut shown = Vec::new();
    for text in texts {
        client.open(&fork("a.md"), text);
        for (line, words) in text.lines().enumerate() {
            let offered = actions(&mut client, "a.md", u32::try_from(line).unwrap(), None);
            let offered = offered.iter().map(|action| {
                let preferred = if action["isPreferred"] == true { ", preferred" } else { "" };
                format!(
                    "    {} ({}{preferred})\n",
                    action["title"].as_str().unwrap(),
                    action["kind"].as_str().unwrap()
                )
            });
            shown.push(format!("{words}\n{}", offered.collect::<String>()));
        }
        shown.push("\n".to_owned());
        client.close(&fork("a.md"));
    }
    client.everything();
    insta::assert_snapshot!("actions", shown.concat());
}
