//! Files that nobody should have written.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{fs, process::Command};

use crate::program::{Run, Sandbox};

const SOUND: &str = "---\nfork: true\n---\nBring LOG.md up to date.\n";

/// The rules that a run found, each with its path and place.
fn found(run: &Run) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let diagnostics = document["diagnostics"].as_array().expect("a list");
    diagnostics
        .iter()
        .map(|found| {
            format!("{} {} {}", text(&found["rule"]), text(&found["path"]), found["range"]["start"]["offset"])
        })
        .collect()
}

fn check(sandbox: &Sandbox) -> Vec<String> {
    found(&sandbox.run(&["check", "--format", "json"]))
}

#[test]
fn a_file_that_is_too_large_is_broken_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    let exactly = format!("---\nfork: true\n---\n{}", "x".repeat(1024 * 1024 - 19));
    sandbox.fork("largest.md", &exactly);
    sandbox.fork("too-large.md", format!("{exactly}x"));
    sandbox.fork("large-note.md", "x".repeat(2 * 1024 * 1024));
    sandbox.fork("sound.md", SOUND);
    assert_eq!(check(&sandbox), ["too-large .autofork/forks/too-large.md 0"]);
}

#[test]
fn bytes_that_are_no_utf_8_are_pointed_at() {
    let sandbox = Sandbox::new();
    sandbox.fork("latin.md", b"---\nfork: true\ndescription: caf\xe9\n---\nTidy.\n");
    let utf16: Vec<u8> = "\u{feff}---\nfork: true\n---\nTidy.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.fork("wide.md", utf16);
    sandbox.fork("image.md", b"\x89PNG\r\n\x1a\n\xff\xff");
    let expected = ["invalid-encoding .autofork/forks/latin.md 31", "invalid-encoding .autofork/forks/wide.md 0"];
    assert_eq!(check(&sandbox), expected);
}

#[test]
fn links_lead_to_each_file_once() {
    let sandbox = Sandbox::new();
    sandbox.fork("a/sound.md", SOUND);
    let root = sandbox.project().join(".autofork/forks");
    symlink("..", root.join("a/loop")).expect("a link");
    symlink("a", root.join("b")).expect("a link");
    symlink("a/sound.md", root.join("again.md")).expect("a link");
    assert_eq!(check(&sandbox), Vec::<String>::new());
    symlink("nowhere.md", root.join("lost.md")).expect("a link");
    assert_eq!(check(&sandbox), ["unreadable .autofork/forks/lost.md null"]);
}

#[test]
fn what_may_not_be_read_is_said_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    sandbox.fork("secret.md", SOUND);
    sandbox.fork("closed/x.md", SOUND);
    sandbox.fork("sound.md", "---\nfork: true\n---\n");
    let root = sandbox.project().join(".autofork/forks");
    let forbid =
        |path: &str, mode| fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).expect("a mode");
    forbid("secret.md", 0o000);
    forbid("closed", 0o000);
    let found = check(&sandbox);
    forbid("closed", 0o700);
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if is_root {
        return; // Nothing is forbidden to the superuser.
    }
    let expected = [
        "unreadable .autofork/forks/closed null",
        "unreadable .autofork/forks/secret.md 0",
        "empty-body .autofork/forks/sound.md 15",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_name_that_is_no_text_is_still_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    sandbox.fork("sound.md", SOUND);
    let name = std::ffi::OsStr::from_bytes(b"odd-\xff.md");
    fs::write(sandbox.project().join(".autofork/forks").join(name), SOUND).expect("a file");
    assert_eq!(check(&sandbox)[0], "invalid-name .autofork/forks/odd-\u{fffd}.md 0");
    assert_eq!(sandbox.run(&["forks"]).code, 0);
    let log = sandbox.run(&["check", "--format", "sarif"]).out;
    assert!(log.contains(r#""uri": ".autofork/forks/odd-%FF.md""#), "{log}");
}

#[test]
fn a_name_cannot_act_on_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.fork("a\u{1b}[31m\u{202e}.md", "---\nfork: true\nx\u{1b}]0;y: \u{7}\n---\nTidy.\n");
    let run = sandbox.run(&["check"]);
    assert!(!run.out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{:?}", run.out);
    assert!(run.out.contains("a\\u{1b}[31m\\u{202e}.md"), "{}", run.out);
}

#[test]
fn every_format_shows_a_name_as_it_is_and_does_no_harm() {
    let sandbox = Sandbox::new();
    sandbox.fork("a\u{9b}31m\u{202e}.md", "---\nfork: true\nthrottle: \"3\u{202e}0m\"\n---\nTidy.\n");
    for format in ["full", "concise", "json", "sarif", "github", "gitlab", "junit"] {
        let run = sandbox.run(&["check", "--format", format]);
        assert!(run.out.contains("invisible-character"), "{format}: {}", run.out);
        assert!(!run.out.contains(['\u{9b}', '\u{202e}']), "{format}: {:?}", run.out);
    }
    let run = sandbox.run(&["forks", "--json"]);
    assert!(run.out.contains("a\\u009b31m\\u202e"), "{}", run.out);
}

#[test]
fn what_is_neither_a_file_nor_a_folder_is_refused_and_the_rest_is_checked() {
    let sandbox = Sandbox::new();
    sandbox.fork("sound.md", SOUND);
    let pipe = sandbox.project().join("pipe.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
    let run = sandbox.run(&["check", "/dev/zero", "pipe.md", ".autofork/forks"]);
    assert_eq!((run.code, run.out.as_str()), (2, "Checked 1 file: nothing found.\n"));
    assert_eq!(
        run.err,
        "error: there is neither a file nor a folder at /dev/zero\nhelp: the other paths were checked\n\
         error: there is neither a file nor a folder at pipe.md\nhelp: the other paths were checked\n"
    );
}

#[test]
fn a_configuration_that_is_no_file_is_said_and_never_waited_for() {
    let folder = |path: &Path| fs::create_dir_all(path).expect("a folder");
    let pipe = |path: &Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).expect("a pipe");
    };
    for make in [&folder as &dyn Fn(&Path), &pipe] {
        let sandbox = Sandbox::new();
        sandbox.fork("sound.md", SOUND);
        make(&sandbox.project().join(".autofork/config.toml"));
        let run = sandbox.run(&["check"]);
        assert_eq!(run.code, 1);
        insta::assert_snapshot!("configuration_that_is_no_file", run.out);
    }
}

#[test]
fn a_link_to_a_folder_around_it_is_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.fork("sound.md", SOUND);
    sandbox.write("beside/other.md", SOUND);
    let root = sandbox.project().join(".autofork/forks");
    symlink("/", root.join("all")).expect("a link");
    symlink("../../beside", root.join("beside")).expect("a link");
    let run = sandbox.run(&["check"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.out);
    let listed = sandbox.run(&["forks"]).out;
    assert!(listed.contains("2 active"), "{listed}");
}

#[test]
fn many_paths_are_looked_at_once() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..300).map(|number| format!(".autofork/forks/f{number}.md")).collect();
    for name in &names {
        sandbox.write(name, "---\nfork: true\n---\n");
    }
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = sandbox.run(&[&["check", "--format", "concise"], &paths[..200]].concat());
    assert_eq!((run.code, run.out.lines().count()), (0, 200));
}

#[test]
fn folders_that_link_to_each_other_are_each_found_at_their_own_place() {
    let sandbox = Sandbox::new();
    let root = sandbox.project().join(".autofork/forks");
    for one in 0..12 {
        sandbox.fork(&format!("d{one}/f{one}.md"), SOUND);
        for other in 0..12 {
            symlink(format!("../d{other}"), root.join(format!("d{one}/l{other}"))).expect("a link");
        }
    }
    assert!(sandbox.run(&["forks"]).out.contains("12 active"));
    let run = sandbox.run(&["check", "--ignore", "same-file"]);
    assert_eq!((run.code, run.out.as_str()), (0, "Checked 12 files: nothing found.\n"));
}

#[test]
fn the_language_server_is_not_looked_for_in_whatever_folder_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("autofork");
    fs::copy(env!("CARGO_BIN_EXE_autofork"), &alone).unwrap();
    let server = |path: &Path| {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("autofork-lsp"), "#!/bin/sh\necho here\n").unwrap();
        fs::set_permissions(path.join("autofork-lsp"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let (project, bin) = (folder.path().join("project"), folder.path().join("bin"));
    server(&project);
    server(&bin);
    let run = |path: &str| {
        let mut command = Command::new(&alone);
        command.arg("lsp").current_dir(&project).env_clear().env("PATH", path).output().unwrap()
    };
    for path in ["", ":/nowhere", ".", "/nowhere"] {
        let output = run(path);
        assert!(!output.status.success() && output.stdout.is_empty(), "{path:?}: {output:?}");
    }
    assert_eq!(run(&format!(".::{}", bin.display())).stdout, b"here\n");
}
