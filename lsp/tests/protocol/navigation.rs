//! Definition, references, rename, symbols, folding, selection and links.

use std::path::Path;
use std::sync::Arc;

use autofork_lsp::uri;
use serde_json::{Value, json};

use crate::actions::edited;
use crate::client::{Client, able, fork, memory, started, user};

const A: &str = "---\nfork: true\nafter: [b, 'b']\n---\nRead notes.md and [it](../../DOC.md).\n";
const B: &str = "---\nfork: true\n---\n# One\n\nTidy.\n\n## Two\n\nMore.\n";
const C: &str = "---\nfork: true\nafter:\n  - b\n  - gone\n---\nTidy.\n";

fn client() -> Client {
    let mut client = started(&[
        ("a.md", A),
        ("b.md", B),
        ("c.md", C),
        ("notes.md", "Notes."),
        ("deep/FORK.md", "---\nfork: true\n---\nTidy.\n"),
    ]);
    client.everything();
    client
}

fn document(path: &Path) -> Value {
    json!({ "uri": uri::of_path(path) })
}

fn rename(client: &mut Client, path: &str, line: u32, character: u32, name: &str) -> Result<Value, (i32, String)> {
    let place = json!({ "line": line, "character": character });
    let params = json!({ "textDocument": document(&fork(path)), "position": place, "newName": name });
    client.request("textDocument/rename", params)
}

#[test]
fn a_name_leads_to_its_fork_and_a_file_to_itself() {
    let mut client = client();
    let found = client.at("textDocument/definition", &fork("a.md"), 2, 8);
    assert_eq!(found["uri"], json!(uri::of_path(&fork("b.md"))));
    assert_eq!(client.at("textDocument/definition", &fork("c.md"), 4, 5), Value::Null, "there is no such fork");
    let found = client.at("textDocument/definition", &fork("a.md"), 4, 6);
    assert_eq!(found["uri"], json!(uri::of_path(&fork("notes.md"))));
}

#[test]
fn references_are_found_in_all_files() {
    let mut client = client();
    let params = json!({ "textDocument": document(&fork("b.md")), "position": { "line": 0, "character": 0 }, "context": { "includeDeclaration": false } });
    let found = client.request("textDocument/references", params).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 3);
}

#[test]
fn a_tag_is_found_in_forks_and_in_the_configuration() {
    let mut files = autofork::project::Memory::default();
    files.write(fork("a.md"), "---\nfork: true\ntags: [notes, x]\n---\nTidy.\n");
    files.write(fork("b.md"), "---\nfork: true\ntags:\n  - 'notes'\n---\nTidy.\n");
    files.write(fork("config.toml"), "disable_tags = ['late', 'notes']\n[tag_throttles]\nnotes = '1h'\n");
    files.write("/home/.autofork/config.toml", "enable_tags = [\"notes\"]\n");
    let mut client = Client::in_memory(Arc::new(files), user());
    client.initialize(&able(), &[Path::new("/p")]);
    let mut from = |path: &Path, line: u32, character: u32| -> Vec<String> {
        let place = json!({ "line": line, "character": character });
        let context = json!({ "includeDeclaration": true });
        let params = json!({ "textDocument": document(path), "position": place, "context": context });
        let found = client.request("textDocument/references", params).unwrap();
        let range = |found: &Value| {
            let (start, end) = (&found["range"]["start"], &found["range"]["end"]);
            format!("{} {}-{}", start["line"], start["character"], end["character"])
        };
        let found = found.as_array().unwrap().iter();
        found.map(|found| format!("{} {}", found["uri"].as_str().unwrap(), range(found))).collect()
    };
    let everywhere = [
        "file:///home/.autofork/config.toml 0 15-22",
        "file:///p/.autofork/config.toml 0 24-31",
        "file:///p/.autofork/config.toml 2 0-5",
        "file:///p/.autofork/forks/a.md 2 7-12",
        "file:///p/.autofork/forks/b.md 3 4-11",
    ];
    assert_eq!(from(&fork("a.md"), 2, 8), everywhere);
    assert_eq!(from(&fork("config.toml"), 0, 26), everywhere, "from a filter");
    assert_eq!(from(&fork("config.toml"), 2, 2), everywhere, "from a throttle");
    assert_eq!(from(Path::new("/home/.autofork/config.toml"), 0, 18), everywhere, "from the user's");
    client.everything();
}

#[test]
fn a_rename_moves_the_file_and_changes_every_name() {
    let mut client = client();
    let edit = rename(&mut client, "b.md", 0, 0, "groom todos").unwrap();
    assert_eq!(edited(A, &fork("a.md"), &edit), A.replace("[b, 'b']", "[groom todos, groom todos]"));
    assert_eq!(edited(C, &fork("c.md"), &edit), C.replace("- b\n", "- groom todos\n"));
    let moved = edit["documentChanges"].as_array().unwrap().iter().find(|change| change["kind"] == "rename").unwrap();
    assert_eq!(moved["newUri"], json!(uri::of_path(&fork("groom todos.md"))));
    assert_eq!(rename(&mut client, "a.md", 2, 8, "groom todos").unwrap(), edit, "from where it is named too");
    let edit = rename(&mut client, "deep/FORK.md", 0, 0, "deeper").unwrap();
    assert_eq!(edit["documentChanges"][0]["oldUri"], json!(uri::of_path(&fork("deep"))), "the folder is its name");
}

#[test]
fn a_fork_of_the_root_s_own_folder_leaves_that_where_it_is() {
    let mut client = started(&[("FORK.md", B)]);
    client.everything();
    let edit = rename(&mut client, "FORK.md", 0, 0, "tidy").unwrap();
    let moved = &edit["documentChanges"][0];
    let uris = [json!(uri::of_path(&fork("FORK.md"))), json!(uri::of_path(&fork("tidy.md")))];
    assert_eq!([moved["oldUri"].clone(), moved["newUri"].clone()], uris);
}

#[test]
fn renames_that_cannot_be_are_refused() {
    let mut client = client();
    let mut refused = Vec::new();
    let bad = [
        "a",
        "notes",
        "x/y",
        "a:b",
        "",
        ".x",
        "x.",
        "x.md",
        "FORK.md",
        "FORK",
        "con",
        "NUL.b",
        "x\u{202e}y",
        "x\u{200b}",
    ];
    let long = "x".repeat(201);
    for (line, name) in bad.map(|name| (0, name)).into_iter().chain([(0, &*long), (4, "x")]) {
        let (code, message) = rename(&mut client, "b.md", line, 0, name).unwrap_err();
        assert_eq!(code, -32803, "{name}: a client shows the words");
        refused.push(format!("{name:?}: {message}"));
    }
    insta::assert_snapshot!("refusals", refused.join("\n"));
    assert_eq!(rename(&mut client, "b.md", 0, 0, "b").unwrap(), Value::Null);

    let mut client = Client::in_memory(memory(&[("b.md", B)]), user());
    client.initialize(&json!({}), &[Path::new("/p")]);
    assert!(rename(&mut client, "b.md", 0, 0, "x").unwrap_err().1.contains("cannot rename files"));
}

#[test]
fn a_file_that_the_client_renames_takes_its_names_along() {
    let mut client = client();
    let rename =
        json!({ "files": [{ "oldUri": uri::of_path(&fork("b.md")), "newUri": uri::of_path(&fork("x.md")) }] });
    let edit = client.request("workspace/willRenameFiles", rename).unwrap();
    assert!(edited(C, &fork("c.md"), &edit).contains("- x\n"));
    let taken =
        json!({ "files": [{ "oldUri": uri::of_path(&fork("b.md")), "newUri": uri::of_path(&fork("a.md")) }] });
    assert_eq!(client.request("workspace/willRenameFiles", taken).unwrap(), Value::Null);
    for away in ["/p/b-old.md", "/p/.autofork/forks/b-old.txt", "/q/.autofork/forks/b-old.md"] {
        let away =
            json!({ "files": [{ "oldUri": uri::of_path(&fork("b.md")), "newUri": format!("file://{away}") }] });
        assert_eq!(client.request("workspace/willRenameFiles", away).unwrap(), Value::Null);
    }
    client.open(&fork("a.md"), "---\nfork: true\nafter: [deep]\n---\nTidy.\n");
    let folder =
        json!({ "files": [{ "oldUri": uri::of_path(&fork("deep")), "newUri": uri::of_path(&fork("deeper")) }] });
    let edit = client.request("workspace/willRenameFiles", folder).unwrap();
    assert_eq!(edit["documentChanges"][0]["edits"][0]["newText"], "deeper", "a folder is the name of its fork");
    client.everything();
}

#[test]
fn symbols_links_and_folds() {
    let mut client = client();
    let symbols = client.about("textDocument/documentSymbol", &fork("b.md"));
    let names: Vec<_> =
        symbols[0]["children"].as_array().unwrap().iter().map(|child| child["name"].clone()).collect();
    assert_eq!((&symbols[0]["name"], names), (&json!("b"), vec![json!("fork"), json!("One"), json!("Two")]));
    let found = client.request("workspace/symbol", json!({ "query": "DP" })).unwrap();
    assert_eq!(found[0]["name"], "deep");
    let links = client.about("textDocument/documentLink", &fork("a.md"));
    assert_eq!(links[0]["target"], json!(uri::of_path(&fork("notes.md"))));
    assert_eq!(links.as_array().unwrap().len(), 1, "a file that is not there is no link");
    let folds = client.about("textDocument/foldingRange", &fork("b.md"));
    let pairs: Vec<_> =
        folds.as_array().unwrap().iter().map(|fold| (fold["startLine"].clone(), fold["endLine"].clone())).collect();
    assert_eq!(pairs, [(json!(0), json!(2)), (json!(3), json!(9)), (json!(7), json!(9))]);
}

#[test]
fn a_selection_grows_from_the_word_to_the_whole() {
    let mut client = client();
    let params = json!({ "textDocument": document(&fork("c.md")), "positions": [{ "line": 3, "character": 4 }] });
    let answer = client.request("textDocument/selectionRange", params).unwrap();
    let mut range = &answer[0];
    let mut starts = Vec::new();
    while range.is_object() {
        starts.push(range["range"]["start"]["line"].as_u64().unwrap());
        range = &range["parent"];
    }
    assert!(starts.len() >= 5 && starts[0] == 3 && *starts.last().unwrap() == 0, "{starts:?}");
}

#[test]
fn symbols_of_configuration() {
    let mut client =
        Client::in_memory(memory(&[("config.toml", "wake_debounce = 1\n[lint]\ncomma-list = \"off\"\n")]), user());
    client.initialize(&able(), &[Path::new("/p")]);
    let symbols = client.about("textDocument/documentSymbol", &fork("config.toml"));
    assert_eq!(
        (&symbols[0]["name"], &symbols[1]["children"][0]["name"]),
        (&json!("wake_debounce"), &json!("comma-list"))
    );
}
