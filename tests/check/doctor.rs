//! What `doctor` says of the client's files, without a daemon. That it tells live hooks from none is in `tests/daemon`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::program::{Run, Sandbox};

/// A sandbox in which nothing is wrong: a client with forks, and the plugin of this version.
fn healthy() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.fork("journal.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    client(&sandbox, "echo '2.1.332 (Claude Code)'");
    let installed = format!(
        r#"{{"version":2,"plugins":{{"autofork@market":[{{"scope":"user","version":"{}"}}]}}}}"#,
        env!("CARGO_PKG_VERSION")
    );
    write(&sandbox.home().join(".claude/plugins/installed_plugins.json"), &installed);
    write(&sandbox.home().join(".claude/settings.json"), r#"{"enabledPlugins":{"autofork@market":true}}"#);
    sandbox
}

fn client(sandbox: &Sandbox, script: &str) {
    executable(&sandbox.home().join("bin/claude"), script);
}

fn executable(path: &Path, script: &str) {
    write(path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn doctor(sandbox: &Sandbox, arguments: &[&str], more: &[(&str, &str)]) -> Run {
    let mut command = sandbox.command(&sandbox.project());
    command.arg("doctor").args(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", sandbox.home().join("bin").display()));
    command.envs(more.iter().copied());
    sandbox.outcome(&command.output().expect("the program runs"))
}

/// The exit code, and what a check says: its levels, and its findings as JSON.
fn told(sandbox: &Sandbox, check: &str) -> (i32, Vec<String>, String) {
    let run = doctor(sandbox, &["--json"], &[]);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    let checks = document["checks"].as_array().expect("a list").iter().filter(|found| found["check"] == check);
    let checks: Vec<&Value> = checks.collect();
    let levels = checks.iter().map(|found| found["level"].as_str().expect("a level").to_owned()).collect();
    (run.code, levels, format!("{checks:?}"))
}

#[test]
fn where_nothing_is_wrong_it_says_so_and_writes_nothing() {
    let sandbox = healthy();
    let run = doctor(&sandbox, &[], &[]);
    assert_eq!(run.code, 0, "{}", run.out);
    insta::assert_snapshot!(run.out.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    assert!(!sandbox.home().join(".autofork").exists());
}

#[test]
fn each_fault_has_its_why_and_its_remedy() {
    let sandbox = Sandbox::new();
    sandbox.fork("journal.md", "---\nfork: true\nthrottle: [\n---\nBring LOG.md up to date.\n");
    client(&sandbox, "echo '2.1.200 (Claude Code)'");
    sandbox.write(".claude/agents/a/b/copy.md", "---\nname: fork\n---\nDo what you are told.\n");
    sandbox.write(".claude/settings.json", "{ \"env\": ");
    let base = sandbox.home().join(".autofork");
    fs::create_dir_all(&base).expect("a folder");
    fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).expect("a mode");
    let run = doctor(&sandbox, &[], &[("AUTOFORK_HOME", "some\u{1b}[31mwhere")]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.out);
}

#[test]
fn a_switch_in_the_settings_is_set_off_on_purpose_or_badly_written() {
    for (settings, check, level, code, says) in [
        (r#"{ "env": { "CLAUDE_CODE_FORK_SUBAGENT": "0" } }"#, "fork-pin", "note", 0, "off on purpose"),
        (r#"{ "env": { "CLAUDE_CODE_FORK_SUBAGENT": 1 } }"#, "fork-pin", "warn", 1, "a number"),
        (r#"{ "env": { "CLAUDE_CODE_FORK_SUBAGENT": "1" } }"#, "fork-pin", "ok", 0, "is set in"),
        (
            r#"{ "env": { "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", "CLAUDE_CODE_FORK_SUBAGENT": "1" } }"#,
            "background-tasks",
            "note",
            0,
            "switched off",
        ),
    ] {
        for place in [".claude/settings.json", ".claude/settings.local.json"] {
            let sandbox = healthy();
            sandbox.write(place, settings);
            let (exit, levels, found) = told(&sandbox, check);
            assert_eq!((exit, levels), (code, vec![level.to_owned()]), "{settings}");
            assert!(found.contains(says) && found.contains(place), "{found}");
        }
    }
}

#[test]
fn an_agent_file_takes_the_name_by_its_file_or_its_field_at_any_depth() {
    let harmless = "---\nname: fork-helper\ndescription: Not an impostor\n---\nHelp.\n";
    let shadow = "---\nname: fork\ndescription: Runs a copy of me\n---\nDo what you are told.\n";
    for (file, text, level, code) in [
        ("fork-helper.md", harmless, "ok", 0),
        ("fork.md", shadow, "problem", 1),
        ("fork.md", harmless, "problem", 1),
        ("deep/below/copy.md", shadow, "problem", 1),
        ("copy.txt", shadow, "ok", 0),
    ] {
        for user in [false, true] {
            let sandbox = healthy();
            let place = Path::new(".claude/agents").join(file);
            if user {
                write(&sandbox.home().join(place), text);
            } else {
                sandbox.write(place, text);
            }
            let (exit, levels, found) = told(&sandbox, "agent-files");
            assert_eq!((exit, levels), (code, vec![level.to_owned()]), "{file}");
            assert!(level == "ok" || found.contains(file), "{found}");
        }
    }
}

#[test]
fn a_client_is_judged_by_its_version() {
    for (says, levels, code) in [
        ("echo '2.1.332 (Claude Code)'", ["ok", "ok"].as_slice(), 0),
        ("echo '2.1.190 (Claude Code)'", &["ok", "problem"], 1),
        ("echo '2.1.161 (Claude Code)'", &["ok", "problem"], 1),
        ("echo '2.0.10 (Claude Code)'", &["problem"], 1),
        ("exit 1", &["warn", "note"], 1),
    ] {
        let sandbox = healthy();
        client(&sandbox, says);
        let (exit, client, _) = told(&sandbox, "client");
        let (_, pin, _) = told(&sandbox, "fork-pin");
        assert_eq!(
            (exit, [client, pin].concat()),
            (code, levels.iter().map(ToString::to_string).collect()),
            "{says}"
        );
    }
}

#[test]
fn a_program_of_the_project_is_never_run_and_the_client_never_from_there() {
    let sandbox = healthy();
    let ran = sandbox.home().join("ran");
    executable(&sandbox.project().join("claude"), &format!("pwd > {}", ran.display()));
    let own = sandbox.project().display().to_string();
    for path in [own.as_str(), ".", ""] {
        let run = doctor(&sandbox, &[], &[("PATH", path)]);
        assert!(!ran.exists(), "{path:?}: {}", run.out);
    }
    client(&sandbox, &format!("pwd > {}; echo 2.1.332", ran.display()));
    assert_eq!(doctor(&sandbox, &[], &[]).code, 0);
    assert_eq!(fs::read_to_string(&ran).expect("it ran"), "/\n");
}

#[test]
fn a_plugin_that_is_off_older_or_could_not_bring_its_binary_is_told() {
    let sandbox = healthy();
    sandbox.write(".claude/settings.json", r#"{"enabledPlugins":{"autofork@market":false}}"#);
    let (code, levels, found) = told(&sandbox, "plugin");
    assert_eq!((code, levels), (0, vec!["note".to_owned()]), "{found}");

    let sandbox = healthy();
    let list = r#"{"version":2,"plugins":{"autofork@market":[{"version":"0.0.1"}]}}"#;
    write(&sandbox.home().join(".claude/plugins/installed_plugins.json"), list);
    let data = sandbox.home().join(".claude/plugins/data/autofork-market");
    executable(&data.join("bin/autofork"), "echo autofork 0.0.2");
    write(&data.join("bootstrap.state"), "0.0.3 failed there is no cargo\n");
    let (code, levels, found) = told(&sandbox, "versions");
    assert_eq!((code, levels), (1, vec!["warn".to_owned(), "warn".to_owned()]), "{found}");
    let (_, levels, found) = told(&sandbox, "plugin-binary");
    assert_eq!(levels, ["problem"]);
    assert!(found.contains("there is no cargo"), "{found}");
}
