//! How conversations begin and end, with the real binary and in memory.

use std::path::Path;

use autofork_lsp::Ended;
use serde_json::{Value, json};

use crate::client::{Client, able, fork, memory, pulling, started, user};

#[test]
fn the_binary_says_what_is_wrong_over_standard_input_and_output() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("p/.autofork/forks/a.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "---\nfork: true\nthrotle: 1h\n---\nTidy.\n").unwrap();
    let mut client = Client::binary(home.path());
    let answer = client.initialize(&able(), &[&home.path().join("p")]);
    assert_eq!(answer["serverInfo"]["name"], "autofork-lsp");
    assert_eq!(client.rules(&path), ["unknown-key"], "without opening anything");
    client.open(&path, "---\nfork: true\nthrottle: 1h\n---\nTidy.\n");
    assert!(client.rules(&path).is_empty());
    client.close(&path);
    assert_eq!(client.rules(&path), ["unknown-key"], "the disk counts again");
    assert_eq!(client.finish(), Ended::InOrder);
}

#[test]
fn nothing_is_answered_before_initialize() {
    let mut client = Client::in_memory(memory(&[]), user());
    let refused = client.request("textDocument/hover", json!({}));
    assert_eq!(refused.unwrap_err().0, -32002);
    client.notify("textDocument/didOpen", json!({ "nonsense": true }));
    client.initialize(&able(), &[Path::new("/p")]);
    assert_eq!(client.request("initialize", json!({})).unwrap_err().0, -32600, "once is enough");
}

#[test]
fn nothing_is_answered_after_shutdown() {
    let mut client = started(&[]);
    client.request("shutdown", Value::Null).unwrap();
    assert_eq!(client.request("textDocument/hover", json!({})).unwrap_err().0, -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), Ended::InOrder);
}

#[test]
fn an_exit_without_shutdown_is_abrupt() {
    let mut client = started(&[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), Ended::Abruptly);
}

#[test]
fn unknown_methods_and_bad_parameters_are_refused_and_unknown_notifications_passed_over() {
    let mut client = started(&[("a.md", "---\nfork: true\n---\nTidy.\n")]);
    assert_eq!(client.request("textDocument/frobnicate", json!({})).unwrap_err().0, -32601);
    assert_eq!(client.request("textDocument/hover", json!({ "position": 3 })).unwrap_err().0, -32602);
    assert_eq!(client.request("textDocument/hover", json!([])).unwrap_err().0, -32602);
    for method in ["$/setTrace", "workspace/didChangeConfiguration", "nonsense"] {
        client.notify(method, json!({ "x": 1 }));
    }
    client.notify("textDocument/didChange", json!("nonsense"));
    assert!(client.rules(&fork("a.md")).is_empty());
}

#[test]
fn encodings_are_agreed_on() {
    let text = "---\nfork: true\ndescription: \u{1f41b}\u{1f41b} é\nafter: [\u{1f41b}é, gone]\n---\nTidy.\n";
    for (offered, chosen, column) in [
        (json!(["utf-32", "utf-16"]), "utf-16", 13),
        (json!(["utf-16", "utf-8"]), "utf-8", 16),
        (json!(["utf-32"]), "utf-32", 12),
        (json!([]), "utf-16", 13),
        (Value::Null, "utf-16", 13),
    ] {
        let mut client = Client::in_memory(memory(&[("a.md", text)]), user());
        let mut capabilities = able();
        capabilities["general"]["positionEncodings"] = offered;
        let answer = client.initialize(&capabilities, &[Path::new("/p")]);
        assert_eq!(answer["capabilities"]["positionEncoding"], chosen);
        let found = client.found(&fork("a.md"));
        let gone = found.iter().find(|found| found["message"].as_str().unwrap().contains("gone")).expect("it");
        assert_eq!(gone["range"]["start"], json!({ "line": 3, "character": column }), "{chosen}");
    }
}

#[test]
fn the_client_is_asked_to_watch_files_if_it_can() {
    let mut client = started(&[]);
    client.settle();
    assert_eq!(client.asked, ["client/registerCapability"]);
    assert_eq!(client.watching, [json!("**/.autofork/**"), json!("**/*.md"), json!("/home/.autofork/**")]);
    let mut far = Client::in_memory(memory(&[]), user());
    let mut capabilities = able();
    capabilities["workspace"]["didChangeWatchedFiles"]["relativePatternSupport"] = json!(true);
    far.initialize(&capabilities, &[Path::new("/p")]);
    far.settle();
    assert_eq!(far.watching[2], json!({ "baseUri": "file:///home/.autofork", "pattern": "**" }));
    let mut quiet = Client::in_memory(memory(&[]), user());
    quiet.initialize(&json!({}), &[Path::new("/p")]);
    quiet.settle();
    assert!(quiet.asked.is_empty());
}

#[test]
fn a_cancelled_request_is_still_answered() {
    let mut client = Client::in_memory(memory(&[("a.md", "---\nfork: true\n---\nTidy.\n")]), user());
    client.initialize(&pulling(), &[Path::new("/p")]);
    let id = client.send("workspace/symbol", json!({ "query": "" }));
    client.notify("$/cancelRequest", json!({ "id": 2 }));
    // It may have been answered before the cancellation was read.
    if let Err((code, _)) = client.wait(&id) {
        assert_eq!(code, -32800);
    }
}

#[test]
fn the_command_becomes_the_server_beside_it() {
    let server = Path::new(env!("CARGO_BIN_EXE_autofork-lsp"));
    let command = server.with_file_name("autofork");
    if !command.is_file() {
        eprintln!("skipped: the command line was not built; `cargo test --workspace` does it");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut client = Client::spawned(std::process::Command::new(command).arg("lsp"), home.path());
    let answer = client.initialize(&able(), &[home.path()]);
    assert_eq!(answer["serverInfo"]["name"], "autofork-lsp");
    assert_eq!(client.finish(), Ended::InOrder);
}
