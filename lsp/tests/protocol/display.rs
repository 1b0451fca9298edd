//! Inlay hints, semantic tokens, formatting.

use autofork_lsp::uri;
use serde_json::{Value, json};

use crate::actions::apply;
use crate::client::{Client, fork, started};

fn hints(client: &mut Client, path: &str) -> Vec<String> {
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri::of_path(&fork(path)) }, "range": whole });
    let answer = client.request("textDocument/inlayHint", params).unwrap();
    let hints = answer.as_array().unwrap().iter();
    hints.map(|hint| format!("{}: {}", hint["position"]["line"], hint["label"].as_str().unwrap())).collect()
}

#[test]
fn hints_say_what_defaults_come_to() {
    let mut client = started(&[
        ("config.toml", "default_idle_deadline = \"7m\"\n[tag_throttles]\nnotes = \"1h\"\n"),
        (
            "a.md",
            "---\nfork: true\nrun_on:\n  - idle\n  - context_used: 80%\n  - context_left: 20000\ntags: [notes, x]\n---\nTidy.\n",
        ),
        ("b.md", "---\nfork: true\n---\nTidy.\n"),
    ]);
    assert_eq!(
        hints(&mut client, "a.md"),
        ["3: 7 min", "4: 160,000 of 200k", "5: at 180,000 of 200k", "6: every 1 h"]
    );
    assert_eq!(hints(&mut client, "b.md"), ["0: idle: 7 min"]);
    client.everything();
}

#[test]
fn tokens_tell_moments_from_their_values() {
    let mut client = started(&[("a.md", "---\nfork: true\nrun_on:\n  - idle: 15m\n---\nTidy.\n")]);
    let answer = client.about("textDocument/semanticTokens/full", &fork("a.md"));
    assert_eq!(answer["data"], json!([1, 0, 4, 0, 0, 1, 0, 6, 0, 0, 1, 4, 4, 1, 0, 0, 6, 3, 2, 0]));
}

#[test]
fn formatting_brings_keys_in_order_and_touches_nothing_else() {
    let text = "---\ntags: [a]\n# why\nfork: true\n---\nTidy:   *this*\n\n\n- that\n";
    let mut client = started(&[("a.md", text)]);
    let params = json!({ "textDocument": { "uri": uri::of_path(&fork("a.md")) }, "options": { "tabSize": 8, "insertSpaces": false } });
    let answer = client.request("textDocument/formatting", params.clone()).unwrap();
    let edits: Vec<&Value> = answer.as_array().unwrap().iter().collect();
    let formatted = apply(text, &edits);
    assert_eq!(formatted, "---\n# why\nfork: true\ntags: [a]\n---\nTidy:   *this*\n\n\n- that\n");
    client.open(&fork("a.md"), &formatted);
    assert_eq!(client.request("textDocument/formatting", params).unwrap(), json!([]), "once is enough");
    client.everything();
}
