//! The commands around `check`.

use crate::program::Sandbox;

#[test]
fn every_starter_checks_clean_and_none_overwrites() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.project().join(".git")).expect("a repository");
    for name in ["journal", "groom-todos", "distill-notes", "deep-review"] {
        let run = sandbox.run(&["init", name]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.starts_with(&format!("Wrote .autofork/forks/{name}.md.")), "{}", run.out);
    }
    let run = sandbox.run(&["check", "--deny", "hint"]);
    assert_eq!((run.code, run.out.as_str()), (0, "Checked 4 files: nothing found.\n"));

    let path = sandbox.project().join(".autofork/forks/journal.md");
    std::fs::write(&path, "mine").expect("a file");
    let run = sandbox.run(&["init"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(".autofork/forks/journal.md is there already"), "{}", run.err);
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "mine");
    let run = sandbox.run(&["init", "jornal"]);
    assert_eq!(
        run.err,
        "error: there is no starter `jornal`\nhelp: choose one of journal, groom-todos, distill-notes, deep-review\n"
    );
}

#[test]
fn a_starter_goes_to_the_root_of_the_project() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    sandbox.write("src/deep/file.txt", "");
    let run = sandbox.run_in(&sandbox.project().join("src/deep"), &["init"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(sandbox.project().join(".autofork/forks/journal.md").exists());
}

#[test]
fn the_configuration_in_force_says_where_it_comes_from() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nfork: true\ntags: [ci]\n---\nBring LOG.md up to date.\n");
    sandbox.write(
        ".autofork/config.toml",
        "wake_debounce = \"2s\"\nenable_tags = [\"ci\"]\n\n[lint]\nempty-body = \"error\"\n",
    );
    let home = sandbox.home().join(".autofork");
    std::fs::create_dir_all(&home).expect("a folder");
    let text =
        "wake_debounce = 9\ndefault_idle_deadline = \"25m\"\nsesion_timeout = 3\n\n[tag_throttles]\nci = \"1h\"\n";
    std::fs::write(home.join("config.toml"), text).expect("a file");
    insta::assert_snapshot!(sandbox.run(&["config"]).out);
    let run = sandbox.run(&["config", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let setting = |key: &str| {
        let settings = document["settings"].as_array().expect("a list");
        settings.iter().find(|setting| setting["key"] == key).expect("a setting").clone()
    };
    assert_eq!(setting("wake_debounce")["value"], 2);
    assert_eq!(setting("wake_debounce")["layer"], "project");
    assert_eq!(setting("default_idle_deadline")["layer"], "user");
    assert_eq!(setting("session_timeout")["layer"], "default");
    assert_eq!(document["diagnostics"][0]["rule"], "config-unknown-key");
}

#[test]
fn levels_and_suppressions_change_what_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.fork(
        "x.md",
        "---\nfork: true\n# autofork: allow(unknown-key) for the dashboard\nowner: me\nmodel: x\n---\n",
    );
    sandbox.write(".autofork/config.toml", "[lint]\nempty-body = \"error\"\nignored-key = \"off\"\n");
    let run = sandbox.run(&["check", "--format", "concise"]);
    let line = ".autofork/forks/x.md:6:1: error[empty-body]: there are no instructions; the fork fires but has nothing to do\n";
    assert_eq!((run.code, run.out.as_str()), (1, line));
}

#[test]
fn the_program_can_be_printed() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nfork: true\nthrottle: 30m\n---\nBring LOG.md up to date.\n");
    let run = sandbox.run(&["compile"]);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(run.code, 0);
    assert_eq!(document["program"]["forks"]["x"]["throttle"], 1800);
    assert_eq!(document["program"]["forks"]["x"]["body"]["text"], "Bring LOG.md up to date.\n");
    assert_eq!(document["program"]["config"]["wake_debounce"], 5);
    sandbox.fork("x.md", "---\nfork: true\nthrottle: [\n---\nTidy.\n");
    assert_eq!(sandbox.run(&["compile"]).code, 1, "a broken fork is no success");
}

#[test]
fn schemas_are_printed() {
    let sandbox = Sandbox::new();
    let both: serde_json::Value = serde_json::from_str(&sandbox.run(&["schema"]).out).expect("JSON");
    let one: serde_json::Value = serde_json::from_str(&sandbox.run(&["schema", "config"]).out).expect("JSON");
    assert_eq!(both["config"], one);
    assert_eq!(both["frontmatter"]["required"], serde_json::json!(["fork"]));
}

#[test]
fn roots_below_the_current_folder_are_checked_too() {
    let sandbox = Sandbox::new();
    sandbox.write("packages/a/.autofork/forks/x.md", "---\nfork: true\n---\n");
    sandbox.write("packages/b/.autofork/config.toml", "wake = 3\n");
    let lines = |folder: &str, arguments: &[&str]| {
        let run = sandbox.run_in(&sandbox.project().join(folder), arguments);
        run.out.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let a = "packages/a/.autofork/forks/x.md:3:1 warning[empty-body]";
    let b = "packages/b/.autofork/config.toml:1:1 warning[config-unknown-key]";
    assert_eq!(lines("", &["check", "--format", "concise"]), [a, b]);
    assert_eq!(lines("", &["check", "packages/b", "--format", "concise"]), [b]);
    assert_eq!(
        lines("packages/a", &["check", "--format", "concise"]),
        [".autofork/forks/x.md:3:1 warning[empty-body]"]
    );
}

#[test]
fn watching_prints_again_when_a_file_changes() {
    use std::io::{BufRead, BufReader};
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nfork: true\n---\nBring LOG.md up to date.\n");
    let mut command = sandbox.command(&sandbox.project());
    command.args(["check", "--watch", "--format", "concise"]).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("a line"));
    assert!(lines.next().expect("a line").starts_with("Looked in "), "nothing to say at first");
    sandbox.fork("x.md", "---\nfork: true\n---\n");
    assert!(lines.next().expect("a line").contains("empty-body"));
    assert!(lines.next().expect("a line").starts_with("Looked in "));
    child.kill().expect("it was running");
    child.wait().expect("it ends");
}
