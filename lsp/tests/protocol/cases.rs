//! Every case of the compiler, seen through the server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::db::Workspace;
use autofork::diagnostic::{self, Applicability, Diagnostic, Level};
use autofork::ir::LaunchDir;
use autofork::project::{Memory, UserDirs};
use autofork::text::{Source, Sources, Span};
use autofork_lsp::uri;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::actions::edited;
use crate::client::{Client, able, fork, memory, pulling};
use documents::document;

#[path = "../../../tests/support/cases.rs"]
mod data;
#[path = "../../../tests/support/documents.rs"]
mod documents;

const PROJECT: &str = "/home/me/project";

fn user() -> UserDirs {
    UserDirs::new(None, Some("/home/me".into()), None)
}

/// The files of every case, in a project of their own each.
fn projects() -> Vec<(String, Memory, Vec<PathBuf>)> {
    let documents = [include_str!("../../../tests/cases/forks.md"), include_str!("../../../tests/cases/config.md")];
    let mut projects = Vec::new();
    for case in documents.into_iter().flat_map(data::cases) {
        let mut files = Memory::default();
        files.write(format!("{PROJECT}/LOG.md"), "");
        files.write(format!("{PROJECT}/.autofork/forks/.keep"), "");
        let mut paths = Vec::new();
        for (path, bytes) in &case.files {
            let (base, path) = match path.strip_prefix("user/") {
                Some(path) => (Path::new("/home/me/.autofork"), path),
                None => (Path::new("/home/me/project/.autofork"), path.as_str()),
            };
            let path = if path == "config.toml" { base.join(path) } else { base.join("forks").join(path) };
            files.write(path.clone(), bytes.as_slice());
            paths.push(path);
        }
        projects.push((case.title, files, paths));
    }
    assert!(projects.len() > 50, "the cases were not found");
    projects
}

/// One finding, as both sides say it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: PathBuf,
    place: [usize; 4],
    rule: String,
    level: String,
    message: String,
    /// The other places, each with what is said there.
    related: Vec<(PathBuf, [usize; 4], String)>,
    link: Option<String>,
}

/// What the compiler finds, as `check` does: its byte places as lines and columns in UTF-16.
fn checked(files: &Memory) -> BTreeSet<Finding> {
    let mut workspace = Workspace::new(Arc::new(files.clone()));
    let loaded = workspace.load(&LaunchDir::new(PROJECT), &user());
    let place = |path: &Arc<Path>, span| loaded.sources.get(path).map_or([0; 4], |source| place(source, span));
    let finding = |one: &Diagnostic| Finding {
        path: one.path.to_path_buf(),
        place: place(&one.path, one.span),
        rule: one.rule.name.to_owned(),
        level: level(one.level).to_owned(),
        message: match &one.help {
            Some(help) => format!("{}\n{help}", one.message),
            None => one.message.clone(),
        },
        related: (one.labels.iter())
            .map(|label| (label.path.to_path_buf(), place(&label.path, label.span), label.message.clone()))
            .collect(),
        link: one.rule.link(),
    };
    loaded.diagnostics.iter().map(finding).collect()
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "1",
        Level::Warn => "2",
        Level::Hint => "4",
    }
}

fn place(source: &Source, span: Span) -> [usize; 4] {
    let at = |offset: usize| {
        let line = source.line_of(offset);
        let start = source.line_span(line).start();
        let words = source.text().get(start..offset).unwrap_or("");
        let words = if line == 0 { words.trim_start_matches('\u{feff}') } else { words };
        [line, words.encode_utf16().count()]
    };
    let (start, end) = (at(span.start()), at(span.end()));
    [start[0], start[1], end[0], end[1]]
}

fn shown(path: &Path, found: &Value) -> Finding {
    let words = |value: &Value| value.as_str().expect("words").to_owned();
    let place = |range: &Value| {
        ["/start/line", "/start/character", "/end/line", "/end/character"].map(|part| {
            let number = range.pointer(part).and_then(Value::as_u64).expect("a number");
            usize::try_from(number).expect("a place")
        })
    };
    let related = |one: &Value| {
        let uri = one["location"]["uri"].as_str().expect("a URI");
        (uri::to_path(&uri.into()).expect("a path"), place(&one["location"]["range"]), words(&one["message"]))
    };
    Finding {
        path: path.to_path_buf(),
        place: place(&found["range"]),
        rule: words(&found["code"]),
        level: found["severity"].to_string(),
        message: words(&found["message"]),
        related: found["relatedInformation"].as_array().into_iter().flatten().map(related).collect(),
        link: found.pointer("/codeDescription/href").map(words),
    }
}

#[test]
fn the_server_finds_what_check_finds_whether_it_pushes_or_is_asked() {
    for (title, files, _) in projects() {
        let wanted = checked(&files);
        let mut client = Client::in_memory(Arc::new(files.clone()), user());
        client.initialize(&able(), &[Path::new(PROJECT)]);
        let pushed = client.everything();
        let pushed: BTreeSet<Finding> =
            pushed.iter().flat_map(|(path, found)| found.iter().map(|found| shown(path, found))).collect();
        assert_eq!(pushed, wanted, "{title}");

        let mut client = Client::in_memory(Arc::new(files), user());
        client.initialize(&pulling(), &[Path::new(PROJECT)]);
        let answer = client.request("workspace/diagnostic", json!({ "previousResultIds": [] })).expect("an answer");
        let mut asked = BTreeSet::new();
        for report in answer["items"].as_array().expect("a list") {
            let path = uri::to_path(&report["uri"].as_str().expect("a URI").into()).expect("a path");
            asked.extend(report["items"].as_array().expect("a list").iter().map(|found| shown(&path, found)));
            let alone = client.about("textDocument/diagnostic", &path);
            assert_eq!(alone["items"], report["items"], "{title}");
        }
        assert_eq!(asked, wanted, "{title}");
    }
}

/// The texts of a project after `check --fix`.
fn mended(files: &Memory) -> Sources {
    let mut workspace = Workspace::new(Arc::new(files.clone()));
    let mut look = |changed: Vec<(Arc<Path>, String)>| {
        for (path, text) in changed {
            workspace.set_overlay(&path, Some(text.into()));
        }
        workspace.load(&LaunchDir::new(PROJECT), &user())
    };
    let mut loaded = look(Vec::new());
    for _ in 0..diagnostic::ROUNDS {
        let (changed, _) = diagnostic::apply(&loaded.diagnostics, &loaded.sources, Applicability::Safe);
        loaded = look(changed);
    }
    loaded.sources
}

#[test]
fn everything_is_mended_as_check_does_it() {
    let mut compared = 0;
    for (title, files, paths) in projects() {
        let wanted = mended(&files);
        let mut client = Client::in_memory(Arc::new(files.clone()), user()).reads_all();
        client.initialize(&able(), &[Path::new(PROJECT)]);
        for path in &paths {
            let bytes = autofork::project::FileSystem::read(&files, path, usize::MAX).expect("a file");
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let start = json!({ "line": 0, "character": 0 });
            let params = json!({
                "textDocument": { "uri": uri::of_path(path) }, "range": { "start": start, "end": start },
                "context": { "diagnostics": [], "only": ["source.fixAll"] },
            });
            let actions = client.request("textDocument/codeAction", params).expect("an answer");
            let edit = actions.pointer("/0/edit/documentChanges/0/edits/0/newText").and_then(Value::as_str);
            // What is no file of ours, or too large to be read as a whole, has no text there, or not all of its own.
            let whole = wanted.get(path).filter(|_| text.len() < 1_000_000).map(|source| source.text().as_ref());
            assert_eq!(edit.unwrap_or(&text), whole.unwrap_or(&text), "{title}");
            compared += usize::from(edit.is_some());
        }
    }
    assert!(compared > 10, "{compared} files had something to mend");
}

/// Makes every fix and every suppression that a text is offered, each by itself, and holds each to its word. How many
/// there were of both.
fn make_all(client: &mut Client, path: &Path, text: &str) -> Result<(usize, usize), String> {
    // Mending one thing may bring to light another of its kind, so what is counted is the very same words.
    let words = |found: &Value| (found["code"].to_string(), found["message"].to_string());
    let look = |client: &mut Client| client.found(path).iter().map(words).collect::<Vec<_>>();
    let before = look(client);
    let end = json!({ "line": u32::MAX, "character": 0 });
    let params = json!({
        "textDocument": { "uri": uri::of_path(path) },
        "range": { "start": { "line": 0, "character": 0 }, "end": end },
        "context": { "diagnostics": [], "only": ["quickfix"] },
    });
    let actions = client.request("textDocument/codeAction", params).expect("an answer");
    let (mut fixed, mut allowed) = (0, 0);
    for action in actions.as_array().into_iter().flatten() {
        let name = action["title"].as_str().expect("a title");
        let about = words(&action["diagnostics"][0]);
        let made = edited(text, path, &action["edit"]);
        client.change(path, &made);
        let after = look(client);
        let count = |found: &[(String, String)]| found.iter().filter(|found| **found == about).count();
        let idle =
            |found: &[(String, String)]| found.iter().filter(|(rule, _)| rule.contains("unused-suppression")).count();
        if idle(&after) > idle(&before) || count(&after) >= count(&before) {
            return Err(format!("{name}: {before:?}, then {after:?}\n{text:?}\n{made:?}"));
        }
        *if name.starts_with("Allow ") { &mut allowed } else { &mut fixed } += 1;
    }
    client.change(path, text);
    client.rules(path);
    Ok((fixed, allowed))
}

#[test]
fn what_is_allowed_or_mended_is_found_no_more() {
    let (mut fixed, mut allowed) = (0, 0);
    for (title, files, paths) in projects() {
        for path in &paths {
            let bytes = autofork::project::FileSystem::read(&files, path, usize::MAX).expect("a file");
            let Some(text) = String::from_utf8(bytes).ok().filter(|text| text.len() < 10_000) else { continue };
            let mut client = Client::in_memory(Arc::new(files.clone()), user()).reads_all();
            client.initialize(&in_bytes(), &[Path::new(PROJECT)]);
            client.open(path, &text);
            let (here, suppressions) =
                make_all(&mut client, path, &text).unwrap_or_else(|why| panic!("{title}: {why}"));
            fixed += here;
            allowed += suppressions;
        }
    }
    assert!(fixed > 30 && allowed > 50, "{fixed} fixed, {allowed} allowed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn that_is_so_whatever_is_written(text in document()) {
        let mut client = Client::in_memory(memory(&[]), user()).reads_all();
        client.initialize(&in_bytes(), &[Path::new("/p")]);
        client.open(&fork("a.md"), &text);
        prop_assert_eq!(make_all(&mut client, &fork("a.md"), &text).err(), None);
    }
}

/// Capabilities of a client that counts in bytes, as these tests do.
fn in_bytes() -> Value {
    let mut able = able();
    able["general"]["positionEncodings"] = json!(["utf-8"]);
    able
}

/// Requests about one place.
const PLACES: [&str; 8] = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/references",
    "textDocument/codeAction",
    "textDocument/selectionRange",
];

/// Requests about one document.
const DOCUMENTS: [&str; 7] = [
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/documentLink",
    "textDocument/semanticTokens/full",
    "textDocument/inlayHint",
    "textDocument/formatting",
    "textDocument/diagnostic",
];

/// Requests about everything.
const WORKSPACE: [&str; 3] = ["workspace/symbol", "workspace/diagnostic", "workspace/willRenameFiles"];

/// Asks; there is an answer, or a refusal in words to rename what cannot be renamed.
fn ask(client: &mut Client, title: &str, method: &str, params: Value) -> Option<Value> {
    match client.request(method, params) {
        Ok(answer) => Some(answer),
        Err((-32803, words)) if method == "textDocument/rename" && !words.is_empty() => None,
        Err(error) => panic!("{title}: {method}: {error:?}"),
    }
}

/// Every column of every line, one past each, and a line past the last. A file of a megabyte has no surprises after its
/// first lines.
fn places(text: &str) -> Vec<Value> {
    let (lines, columns) = if text.len() > 100_000 { (20, 100) } else { (usize::MAX, usize::MAX) };
    let lengths = text.split_inclusive(['\n', '\r']).map(|line| line.encode_utf16().count().min(columns));
    let lines = lengths.take(lines).chain([1]).enumerate();
    lines.flat_map(|(line, length)| (0..=length).map(move |at| json!({ "line": line, "character": at }))).collect()
}

#[test]
fn every_request_at_every_place_of_every_case_is_answered() {
    let (mut asked, mut renamed) = (0, 0);
    for (title, files, paths) in projects() {
        let mut client = Client::in_memory(Arc::new(files.clone()), user()).reads_all();
        client.initialize(&able(), &[Path::new(PROJECT)]);
        for path in &paths {
            let uri = uri::of_path(path);
            let bytes = autofork::project::FileSystem::read(&files, path, usize::MAX).expect("a file");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // What is no text no editor opens as it is; all else is asked about as a document that is open.
            if text.as_bytes() == bytes {
                client.open(path, &text);
            }
            let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
            let moved = json!([{ "oldUri": uri, "newUri": uri::of_path(&path.with_file_name("moved.md")) }]);
            let params = json!({
                "textDocument": { "uri": uri }, "range": whole, "options": { "tabSize": 2, "insertSpaces": true },
                "query": "a", "previousResultIds": [], "files": moved,
            });
            for method in DOCUMENTS.into_iter().chain(WORKSPACE) {
                ask(&mut client, &title, method, params.clone());
            }
            for place in places(&text) {
                let params = json!({
                    "textDocument": { "uri": uri }, "position": place, "positions": [place],
                    "range": { "start": place, "end": place }, "newName": "other name",
                    "context": { "diagnostics": [], "includeDeclaration": true, "triggerKind": 1 },
                });
                for method in PLACES {
                    let answer = ask(&mut client, &title, method, params.clone());
                    renamed += usize::from(method == "textDocument/rename" && answer.is_some());
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 50_000 && renamed > 500, "{asked}, {renamed}: not every place was asked about");
}
