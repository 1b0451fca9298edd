//! Names of forks that change, and what becomes of the places that name them.

use std::path::{Path, PathBuf};

use autofork_lsp::uri;
use serde_json::{Value, json};

use crate::actions::edited;
use crate::client::{Client, able, fork, started, user};

const B: &str = "---\nfork: true\n---\nTidy.\n";

/// What becomes of the names in `after: [a, b]` when the client renames these files.
fn after_renames(renames: &[(&str, &str)]) -> String {
    let text = "---\nfork: true\nafter: [a, b]\n---\nTidy.\n";
    let files = [("a.md", B), ("b.md", B), ("c.md", text), ("deep/FORK.md", B), ("d/x.md", "A note.")];
    will_rename(&files, text, renames)
}

/// What becomes of the one line that `text`, that of `c.md`, says `after` in.
fn will_rename(files: &[(&str, &str)], text: &str, renames: &[(&str, &str)]) -> String {
    let mut client = started(files);
    let edit = announce(&mut client, renames.iter().map(|(old, new)| (fork(old), fork(new))));
    client.everything();
    let text = if edit.is_null() { text.to_owned() } else { edited(text, &fork("c.md"), &edit) };
    text.lines().nth(2).unwrap().strip_prefix("after: ").unwrap().to_owned()
}

/// The edits that go with renames that the client is about to make.
fn announce(client: &mut Client, renames: impl Iterator<Item = (PathBuf, PathBuf)>) -> Value {
    let files = renames.map(|(old, new)| json!({ "oldUri": uri::of_path(&old), "newUri": uri::of_path(&new) }));
    client.request("workspace/willRenameFiles", json!({ "files": files.collect::<Vec<_>>() })).unwrap()
}

fn rename(client: &mut Client, path: &Path, line: u32, character: u32, name: &str) -> Result<Value, String> {
    let document = json!({ "uri": uri::of_path(path) });
    let place = json!({ "line": line, "character": character });
    let params = json!({ "textDocument": document, "position": place, "newName": name });
    client.request("textDocument/rename", params).map_err(|(_, message)| message)
}

#[test]
fn files_that_are_renamed_together_are_seen_as_they_will_be() {
    assert_eq!(after_renames(&[("a.md", "b.md"), ("b.md", "a.md")]), "[b, a]", "a swap");
    assert_eq!(after_renames(&[("a.md", "b.md"), ("b.md", "x.md")]), "[b, x]", "a chain");
    assert_eq!(after_renames(&[("a.md", "d/y.md"), ("b.md", "e/y.md")]), "[a, b]", "two of one name");
    assert_eq!(after_renames(&[("a.md", "x.md"), ("b.md", "../../b.md")]), "[x, b]", "one leaves");
}

#[test]
fn a_name_is_that_of_the_place_it_is_renamed_to() {
    assert_eq!(after_renames(&[("a.md", "FORK.md")]), "[FORK, b]", "the root gives its name to none");
    assert_eq!(after_renames(&[("a.md", "new/FORK.md")]), "[new, b]");
    assert_eq!(after_renames(&[("a.md", "deep/y.md")]), "[a, b]", "beside a FORK.md it is a note");
    assert_eq!(after_renames(&[("a.md", "x, y.md")]), "[a, b]", "a name that cannot be listed");
    assert_eq!(after_renames(&[("a.md", "x: y.md")]), "[\"x: y\", b]");
    assert_eq!(after_renames(&[("a.md", ".x.md")]), "[a, b]", "a dot hides it");
    assert_eq!(after_renames(&[("a.md", "y/.off/x.md")]), "[a, b]", "so does one further up");
    assert_eq!(after_renames(&[("a.md", "1/2/3/4/5/6/7/8/x.md")]), "[x, b]");
    assert_eq!(after_renames(&[("a.md", "1/2/3/4/5/6/7/8/9/x.md")]), "[a, b]", "too deep to be looked at");
}

#[test]
fn what_is_a_companion_shows_when_all_are_renamed() {
    let deep = |renames: &[(&str, &str)]| {
        let after = "---\nfork: true\nafter: [deep, a]\n---\nTidy.\n";
        will_rename(&[("a.md", B), ("deep/FORK.md", B), ("c.md", after)], after, renames)
    };
    assert_eq!(deep(&[("deep/FORK.md", "deep/x.md")]), "[x, a]", "its folder is free");
    assert_eq!(deep(&[("deep/FORK.md", "h.md"), ("a.md", "deep/z.md")]), "[h, z]");
    assert_eq!(deep(&[("deep", "n"), ("a.md", "deep/z.md")]), "[n, z]", "the folder itself went");
    assert_eq!(deep(&[("deep/FORK.md", "n/FORK.md"), ("a.md", "n/z.md")]), "[n, a]", "one came");
    assert_eq!(deep(&[("deep", "n"), ("a.md", "n/e/z.md")]), "[n, a]", "with its folder");
}

/// Ways to write a list of `a` and `b`, and what renaming `a` to `new` makes of them; none where it is refused.
const WAYS: [(&str, &str, Option<&str>); 16] = [
    ("a, b", "new", Some("new, b")),
    ("\"a, b\"", "new", Some("\"new, b\"")),
    ("a, b", "12", Some("12, b")),
    ("'a, b'", "12", Some("'12, b'")),
    ("[a, \"b, a\"]", "12", Some("[\"12\", \"b, 12\"]")),
    ("b, a", "#x", None),
    ("'b, a'", "#x", Some("'b, #x'")),
    ("a,\n  b", "new", None),
    ("\"a,\n  b\"", "new", None),
    ("\"\\x61, b\"", "new", None),
    ("'it''s, a, b'", "new", None),
    (">\n  a, b", "new", Some(">\n  new, b")),
    ("|\n  a,\n  b", "new", None),
    (">-\n  a", "new", None),
    ("\n  - a\n  - b # why", "12", Some("\n  - \"12\"\n  - b # why")),
    ("&x [a, b]", "new", Some("&x [new, b]")),
];

#[test]
fn a_name_is_replaced_and_nothing_else_however_it_is_written() {
    for (list, new, wanted) in WAYS {
        let text = format!("---\nfork: true\nafter: {list}\n---\nTidy.\n");
        let mut client = started(&[("a.md", B), ("b.md", B), ("it's.md", B), ("c.md", &text)]);
        client.everything();
        let wanted = wanted.map(|list| format!("---\nfork: true\nafter: {list}\n---\nTidy.\n"));
        let target = fork(&format!("{new}.md"));
        let made = announce(&mut client, [(fork("a.md"), target)].into_iter());
        let made = (!made.is_null()).then(|| edited(&text, &fork("c.md"), &made));
        assert_eq!(made, wanted, "{list:?}, renamed by the client");
        let asked = rename(&mut client, &fork("a.md"), 0, 0, new);
        match (asked, wanted) {
            (Ok(edit), Some(wanted)) => assert_eq!(edited(&text, &fork("c.md"), &edit), wanted),
            (Err(why), None) => assert!(why.contains("c.md is not written so that"), "{why}"),
            (asked, _) => panic!("{list:?}: {asked:?}"),
        }
    }
}

#[test]
fn where_a_name_is_not_written_as_such_it_is_not_renamed() {
    let text = "---\nfork: true\nafter: a,\n  b\n---\nTidy.\n";
    let mut client = started(&[("a.md", B), ("b.md", B), ("c.md", text)]);
    client.everything();
    let why = rename(&mut client, &fork("c.md"), 3, 2, "new").unwrap_err();
    assert!(why.contains("/p/.autofork/forks/c.md is not written"), "{why}");
    assert_eq!(client.at("textDocument/prepareRename", &fork("c.md"), 3, 2), Value::Null);
}

#[test]
fn a_name_stays_where_it_means_another_fork_at_home() {
    let after = "---\nfork: true\nafter: [a]\n---\nTidy.\n";
    let user_fork = |name: &str| Path::new("/home/.autofork/forks").join(name);
    let sub = |name: &str| Path::new("/p/sub/.autofork/forks").join(name);
    let edits = |files: &[(PathBuf, &str)], folders: &[&Path], renamed: &Path| {
        let mut memory = autofork::project::Memory::default();
        for (path, text) in files {
            memory.write(path, *text);
        }
        let mut client = Client::in_memory(std::sync::Arc::new(memory), user());
        client.initialize(&able(), folders);
        client.everything();
        let told = announce(&mut client, [(renamed.to_path_buf(), renamed.with_file_name("z.md"))].into_iter());
        let asked = rename(&mut client, renamed, 0, 0, "z").unwrap();
        let paths = |edit: &Value| {
            let changes = edit["documentChanges"].as_array().cloned().unwrap_or_default();
            let uris = changes.iter().filter_map(|change| change["textDocument"]["uri"].as_str().map(str::to_owned));
            uris.collect::<Vec<_>>()
        };
        assert_eq!(paths(&told), paths(&asked), "both ways");
        paths(&asked)
    };
    let parent = [(fork("a.md"), B), (fork("c.md"), after), (sub("a.md"), B), (sub("s.md"), after)];
    let (top, below) = (Path::new("/p"), Path::new("/p/sub"));
    assert_eq!(edits(&parent, &[top], &sub("a.md")), ["file:///p/sub/.autofork/forks/s.md"]);
    assert_eq!(edits(&parent, &[below], &sub("a.md")), ["file:///p/sub/.autofork/forks/s.md"]);
    assert_eq!(edits(&parent, &[top], &fork("a.md")), ["file:///p/.autofork/forks/c.md"]);
    let inherited = [(fork("a.md"), B), (sub("s.md"), after)];
    assert_eq!(edits(&inherited, &[below], &fork("a.md")), ["file:///p/sub/.autofork/forks/s.md"]);
    let users = [(user_fork("u.md"), after), (user_fork("a.md"), B), (fork("a.md"), B), (fork("b.md"), B)];
    assert_eq!(edits(&users, &[top], &fork("a.md")), Vec::<String>::new());
    assert_eq!(edits(&users, &[Path::new("/q")], &user_fork("a.md")), ["file:///home/.autofork/forks/u.md"]);
    let only = [(user_fork("u.md"), after), (fork("a.md"), B)];
    assert_eq!(edits(&only, &[top], &fork("a.md")), Vec::<String>::new(), "it is nobody's at home");
}

#[test]
fn what_is_not_on_disk_or_differs_in_case_alone_is_refused() {
    let mut client = started(&[("a.md", B), ("b.md", B), ("notes.md", "Notes.")]);
    client.open(&fork("new.md"), B);
    client.everything();
    assert!(rename(&mut client, &fork("new.md"), 0, 0, "x").unwrap_err().contains("save it first"));
    assert!(rename(&mut client, &fork("a.md"), 0, 0, "B").unwrap_err().contains("a fork `b` already"));
    assert!(rename(&mut client, &fork("a.md"), 0, 0, "Notes").unwrap_err().contains("notes.md already"));
    assert!(rename(&mut client, &fork("a.md"), 0, 0, "A").is_ok(), "its own name in capitals");
}
