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
    let words = |hint: &Value, part: &str| hint[part].as_str().unwrap().to_owned();
    hints
        .map(|hint| format!("{}: {} ({})", hint["position"]["line"], words(hint, "label"), words(hint, "tooltip")))
        .collect()
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
    insta::assert_snapshot!("hints", hints(&mut client, "a.md").join("\n"));
    assert_eq!(hints(&mut client, "b.md"), ["0: idle: 7 min (`default_idle_deadline`, from the project's config)"]);
    client.everything();
}

/// The tokens of a file, each as its kind and its words.
fn tokens(client: &mut Client, path: &str, text: &str) -> Vec<String> {
    let legend = ["property", "event", "number", "function", "enumMember"];
    let answer = client.about("textDocument/semanticTokens/full", &fork(path));
    let numbers: Vec<usize> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|number| usize::try_from(number.as_u64().unwrap()).unwrap())
        .collect();
    let (mut line, mut start) = (0, 0);
    let token = |token: &[usize]| {
        (line, start) = if token[0] == 0 { (line, start + token[1]) } else { (line + token[0], token[1]) };
        format!("{}: {}", legend[token[3]], &text.lines().nth(line).unwrap()[start..start + token[2]])
    };
    numbers.chunks(5).map(token).collect()
}

#[test]
fn tokens_tell_moments_from_their_values() {
    let text = "---\nfork: true\nrun_on:\n  - idle: 15m\n  - context_used: 80%\nthrottle: 90m\nafter: [b]\ntags: [ci]\n---\nTidy.\n";
    let mut client = started(&[("a.md", text), ("b.md", "---\nfork: true\nthrottle: soon\n---\nTidy.\n")]);
    let wanted = [
        "property: fork",
        "property: run_on",
        "event: idle",
        "number: 15m",
        "event: context_used",
        "number: 80%",
        "property: throttle",
        "number: 90m",
        "property: after",
        "function: b",
        "property: tags",
        "enumMember: ci",
    ];
    assert_eq!(tokens(&mut client, "a.md", text), wanted);
    assert_eq!(client.about("textDocument/semanticTokens/full", &fork("b.md"))["data"].as_array().unwrap().len(), 10);
    client.everything();
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
