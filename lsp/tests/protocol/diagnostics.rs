//! Diagnostics: pushed, asked for, across files, and gone when they should be.

use std::path::Path;
use std::sync::{Arc, Mutex};

use autofork_lsp::{Options, uri};
use serde_json::{Value, json};

use crate::client::{Client, able, fork, memory, project, pulling, started, user};
use crate::disk::Disk;

const CLEAN: &str = "---\nfork: true\n---\nTidy.\n";

#[test]
fn an_edit_in_one_file_reaches_the_files_that_depend_on_it() {
    let mut client = started(&[("a.md", "---\nfork: true\nafter: [b]\n---\nTidy.\n"), ("b.md", CLEAN)]);
    assert!(client.everything().is_empty());
    client.open(&fork("b.md"), CLEAN);
    client.change(&fork("b.md"), "---\nfork: true\nafter: [a]\n---\nTidy.\n");
    let found = client.found(&fork("a.md"));
    assert_eq!(found[0]["code"], "dependency-cycle");
    let related = found[0]["relatedInformation"].as_array().expect("the other places of the cycle");
    assert!(related.iter().any(|place| place["location"]["uri"] == json!(uri::of_path(&fork("b.md")))));
    client.change(&fork("b.md"), "---\nfork: true\n---\nTidy.\n");
    assert!(client.everything().is_empty());
}

#[test]
fn only_files_with_news_are_published() {
    let mut client = started(&[("a.md", "---\nfork: true\nx: 1\n---\nA.\n"), ("b.md", CLEAN)]);
    client.open(&fork("b.md"), CLEAN);
    client.everything();
    client.change(&fork("b.md"), "---\nfork: true\n---\nTidy up.\n");
    assert_eq!(client.news().into_iter().collect::<Vec<_>>(), [fork("b.md")]);
}

#[test]
fn configuration_that_is_not_saved_counts() {
    let mut client = started(&[("a.md", CLEAN), ("config.toml", "")]);
    client.open(&fork("config.toml"), "");
    assert!(client.everything().is_empty());
    client.change(&fork("config.toml"), "default_idle_deadline = 0\n");
    assert!(client.rules(&fork("a.md")).contains(&"idle-disabled".to_owned()));
    client.change(
        &fork("config.toml"),
        "default_idle_deadline = 0\n[lint]\nidle-disabled = \"off\"\nnever-fires = \"off\"\n",
    );
    assert!(client.rules(&fork("a.md")).is_empty());
    assert!(client.rules(&fork("config.toml")).is_empty());
}

#[test]
fn other_files_are_left_alone() {
    let mut client = started(&[]);
    for path in ["/p/README.md", "/p/docs/forks/x.md", "/p/config.toml", "/p/.autofork/notes.md"] {
        client.open(Path::new(path), "---\nfork: yes\nthrotle: x\n");
        assert!(client.found(Path::new(path)).is_empty());
        assert_eq!(client.at("textDocument/hover", Path::new(path), 0, 0), Value::Null);
    }
    assert!(client.news().is_empty(), "not even word that they are clean");
}

#[test]
fn a_file_that_was_never_saved_is_a_fork() {
    let mut client = started(&[("a.md", "---\nfork: true\nafter: [new]\n---\nTidy.\n")]);
    assert_eq!(client.rules(&fork("a.md")), ["unknown-fork"]);
    client.open(&fork("new.md"), CLEAN);
    assert!(client.rules(&fork("a.md")).is_empty());
    assert!(client.rules(&fork("new.md")).is_empty());
    client.close(&fork("new.md"));
    assert_eq!(client.rules(&fork("a.md")), ["unknown-fork"], "it is gone again");
}

#[test]
fn the_first_fork_of_a_project_is_one_before_it_is_saved() {
    let mut files = autofork::project::Memory::default();
    files.write("/p/README.md", "");
    let mut client = Client::in_memory(Arc::new(files), user());
    client.initialize(&able(), &[Path::new("/p")]);
    client.open(&fork("a.md"), "---\nfork: true\nafter: [b]\n---\nTidy.\n");
    assert_eq!(client.rules(&fork("a.md")), ["unknown-fork"]);
    client.open(&fork("deep/b.md"), CLEAN);
    assert!(client.rules(&fork("a.md")).is_empty());
    client.open(&fork("config.toml"), "disable_tags = [1]\n");
    assert!(!client.rules(&fork("config.toml")).is_empty(), "and so is the configuration");
    for path in ["a.md", "deep/b.md", "config.toml"] {
        client.close(&fork(path));
    }
    assert!(client.everything().is_empty(), "nothing is left of them");
}

#[test]
fn with_no_folder_open_the_user_s_own_forks_are_seen_alone() {
    let waits = "---\nfork: true\nafter: [own]\n---\nTidy.\n";
    for base in ["/home/.autofork", "/elsewhere"] {
        for projects in 0..4 {
            let own = Path::new(base).join("forks/own.md");
            let mut files = autofork::project::Memory::default();
            files.write(own.clone(), "---\nfork: true\nx: 1\n---\nTidy.\n");
            let user = autofork::project::UserDirs::new(Some(base.into()), None, None);
            let mut client = Client::in_memory(Arc::new(files), user);
            client.initialize(&able(), &[]);
            client.open(&own, "---\nfork: true\nx: 1\n---\nTidy.\n");
            assert_eq!(client.rules(&own), ["unknown-key"], "{base}");
            for number in 0..projects {
                let path = format!("/p{number}/.autofork/forks/a.md");
                client.open(Path::new(&path), waits);
                assert!(client.rules(Path::new(&path)).is_empty(), "{base}: it sees the user's own");
                assert_eq!(client.rules(&own), ["unknown-key"], "{base}, {projects}");
            }
            client.everything();
        }
    }
}

#[test]
fn a_file_is_spelt_as_the_client_spells_it_even_once_it_is_closed() {
    let path = fork("a b.md");
    let mut client = started(&[("a b.md", "---\nfork: true\nx: 1\n---\nTidy.\n")]);
    let odd = uri::of_path(&path).0.replace("a%20b", "%61%20b");
    assert_eq!(client.rules(&path), ["unknown-key"]);
    client.spellings.clear();
    let document = json!({ "uri": odd, "languageId": "markdown", "version": 1, "text": CLEAN });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert!(client.rules(&path).is_empty());
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": odd } }));
    assert_eq!(client.rules(&path), ["unknown-key"]);
    let shown: Vec<_> = client.spellings.iter().filter(|(_, count)| **count > 0).map(|(uri, _)| uri).collect();
    assert_eq!(shown, [&odd], "no other spelling");
}

#[test]
fn a_spelling_that_is_closed_shows_nothing_any_more() {
    let path = fork("a.md");
    let text = "---\nfork: true\nx: 1\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let [plain, odd] = [uri::of_path(&path).0, uri::of_path(&path).0.replace("a.md", "%61.md")];
    let shown = |client: &mut Client| {
        client.everything();
        let shown = client.spellings.iter().filter(|(_, count)| **count > 0);
        shown.map(|(uri, _)| uri.clone()).collect::<Vec<_>>()
    };
    let open = |client: &mut Client, uri: &str| {
        let document = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": text });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    };
    let close = |client: &mut Client, uri: &str| {
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    };
    open(&mut client, &plain);
    open(&mut client, &odd);
    assert_eq!(shown(&mut client), [&*odd, &*plain]);
    close(&mut client, &odd);
    assert_eq!(shown(&mut client), [&*plain]);
    close(&mut client, &plain);
    assert_eq!(shown(&mut client), [&*plain], "as it lies on disk");
    open(&mut client, &odd);
    assert_eq!(shown(&mut client), [&*odd], "the one that is used");
}

#[test]
fn a_file_that_is_open_under_two_spellings_is_open_until_both_are_closed() {
    let path = fork("a.md");
    let mut client = started(&[("a.md", "---\nfork: true\nx: 1\n---\nTidy.\n")]);
    let spellings = [uri::of_path(&path).0, uri::of_path(&path).0.replace("a.md", "%61.md")];
    for uri in &spellings {
        let document = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": CLEAN });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }
    for (uri, rules) in spellings.iter().zip([&[][..], &["unknown-key"]]) {
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(client.rules(&path), rules, "{uri} is closed");
    }
}

#[test]
fn files_that_change_on_disk_are_noticed() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("p");
    let path = project.join(".autofork/forks/a.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "---\nfork: true\nx: 1\n---\nTidy.\n").unwrap();
    let mut client = Client::in_memory(Arc::new(autofork::project::Disk), user());
    client.initialize(&able(), &[&project]);
    assert_eq!(client.rules(&path), ["unknown-key"]);
    std::fs::write(&path, CLEAN).unwrap();
    client.watched(&[&path]);
    assert!(client.rules(&path).is_empty());
    std::fs::write(&path, b"---\nfork: true\n\xff\n---\nTidy.\n").unwrap();
    client.watched(&[&path]);
    assert_eq!(client.rules(&path), ["invalid-encoding"]);
    std::fs::remove_file(&path).unwrap();
    client.watched(&[&path]);
    assert!(client.rules(&path).is_empty(), "what is gone has no squiggles");
}

#[test]
fn a_companion_note_that_comes_or_goes_is_noticed() {
    let disk = Arc::new(Disk::new(project(&[("a.md", "---\nfork: true\n---\nRead [it](NOTES.md).\n")])));
    let mut client = Client::in_memory(disk.clone(), user());
    client.initialize(&able(), &[Path::new("/p")]);
    assert_eq!(client.rules(&fork("a.md")), ["missing-companion"]);
    disk.write(Path::new("/p/NOTES.md"), b"");
    client.watched(&[Path::new("/p/NOTES.md")]);
    assert!(client.rules(&fork("a.md")).is_empty());
    disk.remove(Path::new("/p/NOTES.md"));
    client.watched(&[Path::new("/p/NOTES.md")]);
    assert_eq!(client.rules(&fork("a.md")), ["missing-companion"]);
}

#[test]
fn unused_things_are_tagged_as_such() {
    let mut client = started(&[("a.md", "---\nfork: true\nmodel: x\n---\nTidy.\n")]);
    let found = client.found(&fork("a.md"));
    assert_eq!((&found[0]["code"], &found[0]["tags"]), (&json!("ignored-key"), &json!([1])));
}

#[test]
fn folders_come_and_go() {
    let mut memory = autofork::project::Memory::default();
    for project in ["/p", "/q"] {
        memory.write(format!("{project}/.autofork/forks/a.md"), "---\nfork: true\nx: 1\n---\nTidy.\n");
    }
    let mut client = Client::in_memory(Arc::new(memory), user());
    client.initialize(&able(), &[Path::new("/p")]);
    let other = Path::new("/q/.autofork/forks/a.md");
    assert_eq!(client.rules(&fork("a.md")), ["unknown-key"]);
    assert!(client.rules(other).is_empty());
    let folder = |path: &str| json!([{ "uri": format!("file://{path}"), "name": path }]);
    let change = json!({ "event": { "added": folder("/q"), "removed": folder("/p") } });
    client.notify("workspace/didChangeWorkspaceFolders", change);
    assert_eq!(client.rules(other), ["unknown-key"]);
    assert!(client.rules(&fork("a.md")).is_empty());
}

#[test]
fn two_folders_that_see_the_same_forks_report_each_finding_once() {
    let mut memory = autofork::project::Memory::default();
    memory.write("/p/.autofork/forks/a.md", "---\nfork: true\nx: 1\n---\nTidy.\n");
    memory.write("/p/inner/.autofork/forks/b.md", CLEAN);
    let mut client = Client::in_memory(Arc::new(memory), user());
    client.initialize(&able(), &[Path::new("/p"), Path::new("/p/inner"), Path::new("/p")]);
    assert_eq!(client.rules(&fork("a.md")), ["unknown-key"]);
}

#[test]
fn a_client_may_ask_instead() {
    let mut client =
        Client::in_memory(memory(&[("a.md", "---\nfork: true\nx: 1\n---\nTidy.\n"), ("b.md", CLEAN)]), user());
    let answer = client.initialize(&pulling(), &[Path::new("/p")]);
    assert_eq!(answer["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"], true);
    let report = client.about("textDocument/diagnostic", &fork("a.md"));
    assert_eq!((&report["kind"], &report["items"][0]["code"]), (&json!("full"), &json!("unknown-key")));
    let document = json!({ "uri": uri::of_path(&fork("a.md")) });
    let again = json!({ "textDocument": document, "previousResultId": report["resultId"] });
    assert_eq!(client.request("textDocument/diagnostic", again).unwrap()["kind"], "unchanged");

    let all = client.request("workspace/diagnostic", json!({ "previousResultIds": [] })).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "files without findings need no word");
    client.open(&fork("a.md"), CLEAN);
    let known = json!([{ "uri": uri::of_path(&fork("a.md")), "value": report["resultId"] }]);
    let all = client.request("workspace/diagnostic", json!({ "previousResultIds": known })).unwrap();
    assert_eq!(all["items"][0]["items"], json!([]), "what is clean now is said to be");
    assert!(client.news().is_empty(), "nothing is pushed to who asks");
}

#[test]
fn a_client_that_asks_is_told_when_other_files_are_affected() {
    let files = [("a.md", "---\nfork: true\nafter: [b]\n---\nTidy.\n"), ("b.md", CLEAN)];
    let mut client = Client::in_memory(memory(&files), user());
    client.initialize(&pulling(), &[Path::new("/p")]);
    client.open(&fork("b.md"), CLEAN);
    client.settle();
    client.asked.clear();
    client.change(&fork("b.md"), "---\nfork: true\nx: 1\n---\nTidy.\n");
    client.settle();
    assert!(client.asked.is_empty(), "it asks about what it edits by itself");
    client.change(&fork("b.md"), "---\nfork: true\nafter: [a]\n---\nTidy.\n");
    client.settle();
    assert_eq!(client.asked, ["workspace/diagnostic/refresh"], "the cycle is shown in the other file");
    assert_eq!(client.about("textDocument/diagnostic", &fork("a.md"))["items"][0]["code"], "dependency-cycle");
}

#[test]
fn an_edit_runs_only_what_it_must() {
    let ran: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ran.clone();
    let observer: autofork::db::Observer = Arc::new(move |name: &str| log.lock().unwrap().push(name.to_owned()));
    // Some wait for others, and one has something wrong with it that must not be looked at again either.
    let mut texts: Vec<(String, String)> = (0..100).map(|n| (format!("f{n}.md"), CLEAN.to_owned())).collect();
    texts[4].1 = "---\nfork: true\nafter: [f3]\n---\nTidy.\n".to_owned();
    texts[5].1 = "---\nfork: true\nx: 1\n---\nTidy.\n".to_owned();
    texts.push(("config.toml".to_owned(), String::new()));
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut client = Client::observed(Options { fs: memory(&files), user: user(), observer: Some(observer) });
    client.initialize(&able(), &[Path::new("/p")]);
    client.everything();
    let ran_since = || {
        let mut ran = std::mem::take(&mut *ran.lock().unwrap());
        ran.sort();
        ran
    };
    let at_first = ran_since();
    assert_eq!(at_first.iter().filter(|name| *name == "compiled").count(), 100, "every file once: {at_first:?}");
    for (path, text) in &texts {
        client.open(&fork(path), text);
    }
    client.everything();
    assert!(!ran_since().contains(&"compiled".to_owned()), "what is opened is what is on disk");

    let change = |client: &mut Client, path: &str, text: &str| {
        client.change(&fork(path), text);
        assert_eq!(client.news().into_iter().collect::<Vec<_>>(), [fork(path)], "no word on other files");
        ran_since()
    };
    let first = change(&mut client, "f3.md", "---\nfork: true\n---\nTidy u\n");
    assert_eq!(first, ["compiled"], "words of a body concern nobody else, from the first keystroke on");
    assert_eq!(change(&mut client, "f3.md", "---\nfork: true\n---\nTidy up,\nand\nout.\n"), ["compiled"]);
    assert_eq!(change(&mut client, "f5.md", "---\nfork: true\nx: 1\n---\nTidy up.\n"), ["compiled"]);
    let front = change(&mut client, "f3.md", "---\nfork: true\ny: 1\n---\nTidy up.\n");
    assert_eq!(front, ["compiled", "linked"], "no other file is compiled");
    assert_eq!(change(&mut client, "f3.md", "---\nfork: true\ny: 1\n---\nTidy.\n"), ["compiled"]);
    let config = change(&mut client, "config.toml", "wake_debounce = 1\n");
    assert_eq!(config, ["compiled_config", "linked"], "no fork is compiled for a setting");

    client.at("textDocument/hover", &fork("f3.md"), 1, 1);
    client.about("textDocument/documentSymbol", &fork("f4.md"));
    client.at("textDocument/completion", &fork("f4.md"), 2, 8);
    assert!(ran_since().is_empty(), "requests compile nothing");
}

#[test]
fn hints_are_asked_for_again_when_another_configuration_is_in_force() {
    let mut client = Client::in_memory(memory(&[("a.md", CLEAN), ("config.toml", "")]), user());
    let mut hinting = able();
    hinting["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    client.initialize(&hinting, &[Path::new("/p")]);
    client.open(&fork("config.toml"), "");
    client.open(&fork("a.md"), CLEAN);
    client.everything();
    let asked = |client: &mut Client, path: &str, text: &str| {
        client.asked.clear();
        client.change(&fork(path), text);
        assert!(client.everything().is_empty(), "nothing is wrong");
        std::mem::take(&mut client.asked)
    };
    let refresh = ["workspace/inlayHint/refresh"];
    assert_eq!(asked(&mut client, "config.toml", "default_idle_deadline = 60\n"), refresh);
    assert!(asked(&mut client, "config.toml", "# a minute\ndefault_idle_deadline = 60\n").is_empty());
    assert!(asked(&mut client, "a.md", "---\nfork: true\noverlap: true\n---\nTidy.\n").is_empty());
}
