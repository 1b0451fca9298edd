//! The layers of the house: a room uses those above it, never below.
//!
//! Reads every `crate::` path in `src/` and fails on one that points downwards.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms by layer, the uppermost first. Rooms of one layer may use each other, except where `ONLY` says otherwise.
const LAYERS: [&[&str]; 9] = [
    &["platform", "text"],
    &["ir", "diagnostic"],
    &["syntax"],
    &["compile"],
    &["project", "db", "format"],
    &["engine"],
    &["host", "journal", "sim"],
    &["daemon"],
    &["cli"],
];

/// Rooms that may use nothing but these.
const ONLY: [(&str, &[&str]); 2] = [("engine", &["engine", "ir"]), ("ir", &["ir"])];

#[test]
fn no_room_uses_one_below_it() {
    let mut wrong = Vec::new();
    let mut files = 0;
    for (path, text) in sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").as_path()) {
        let Some(room) = room_of(&path) else { continue };
        files += 1;
        // A group would hide its rooms from the reading below.
        if text.contains("crate::{") {
            wrong.push(format!("{}: write each room of `crate::{{…}}` on a line of its own", path.display()));
        }
        for used in rooms_used(&text) {
            if !may_use(&room, &used) {
                wrong.push(format!("{}: {room} uses {used}", path.display()));
            }
        }
    }
    assert!(files > 20, "the sources were not found");
    assert!(wrong.is_empty(), "edges that point downwards:\n{}", wrong.join("\n"));
}

/// Rooms that need Unix, or a room's part that does.
const UNIX: [&str; 6] = ["platform", "host", "journal", "sim", "daemon", "cli/sessions"];

/// What only Unix has.
const OF_UNIX: [&str; 5] = ["std::os::unix", "std::os::fd", "rustix", "cfg(unix)", "tokio"];

#[test]
fn the_compiler_and_the_language_server_need_no_unix() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    let mut files = 0;
    for (path, text) in [sources(&root.join("src")), sources(&root.join("lsp/src"))].concat() {
        if UNIX.iter().any(|room| path.starts_with(root.join("src").join(room))) {
            continue;
        }
        files += 1;
        // Tests may make links and pipes.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let found = OF_UNIX.iter().filter(|word| code.contains(**word));
        wrong.extend(found.map(|word| format!("{}: {word}", path.display())));
    }
    assert!(files > 100, "the sources were not found");
    assert!(wrong.is_empty(), "this belongs into `platform`:\n{}", wrong.join("\n"));
}

#[test]
fn the_check_itself_sees_a_wrong_edge() {
    let used = rooms_used("use crate::cli::check;\n/// crate::daemon in words\nlet x = crate::text::Span::at(0);");
    assert_eq!(used, ["cli", "text"]);
    assert!(!may_use("text", "cli"));
    assert!(may_use("cli", "text"));
    assert!(!may_use("engine", "compile"), "the engine knows nothing but the program");
}

fn layer(room: &str) -> usize {
    LAYERS
        .iter()
        .position(|rooms| rooms.contains(&room))
        .unwrap_or_else(|| panic!("the room `{room}` has no layer: give it one in LAYERS"))
}

fn may_use(room: &str, used: &str) -> bool {
    match ONLY.iter().find(|(name, _)| *name == room) {
        Some((_, allowed)) => allowed.contains(&used),
        None => layer(used) <= layer(room),
    }
}

/// The room of a source file: the first part of its path below `src`; none for `lib.rs` and `main.rs`.
fn room_of(path: &Path) -> Option<String> {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).ok()?;
    let first = below.components().next()?.as_os_str().to_str()?;
    let room = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(room, "lib" | "main")).then(|| room.to_owned())
}

/// The rooms that a text names with `crate::`, comments aside.
fn rooms_used(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    paths
        .filter_map(|path| path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .filter(|room| !room.is_empty() && room.starts_with(|c: char| c.is_ascii_lowercase()))
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are text");
            found.push((path, text));
        }
    }
    found
}
