//! The files for CI: what they call exists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

#[derive(Deserialize)]
struct Hook {
    id: String,
    entry: String,
    files: String,
}

#[derive(Deserialize)]
struct Action {
    inputs: BTreeMap<String, Input>,
    runs: Runs,
}

#[derive(Deserialize)]
struct Input {
    default: String,
}

#[derive(Deserialize)]
struct Runs {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    run: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the repository")
}

/// A project with one finding of level `warn`.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let forks = folder.path().join(".autofork/forks");
    std::fs::create_dir_all(&forks).expect("a folder");
    std::fs::write(forks.join("x.md"), "---\nfork: true\n---\n").expect("a file");
    folder
}

/// A folder with the program and the tools of the system, for `PATH`.
fn search_path() -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_autofork"));
    format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display())
}

fn shell(folder: &Path, script: &str, variables: &BTreeMap<String, String>) -> Output {
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(folder).env_clear();
    command.env("PATH", search_path()).env("HOME", folder).envs(variables).output().expect("a shell")
}

#[test]
fn the_pre_commit_hooks_run() {
    let hooks: Vec<Hook> = serde_yaml::from_str(&read(".pre-commit-hooks.yaml")).expect("hooks");
    let folder = project();
    for hook in &hooks {
        let output = shell(folder.path(), &format!("{} .autofork/forks/x.md", hook.entry), &BTreeMap::new());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}: {text}", hook.id);
        assert!(text.contains("empty-body"), "{}: {text}", hook.id);
        assert!(hook.files.contains("forks/.*\\.md"), "{}", hook.id);
    }
    assert!(read("docs/ci.md").contains(&format!("id: {}", hooks[0].id)));
}

#[test]
fn the_action_checks_and_fails_as_it_is_told() {
    let action: Action = serde_yaml::from_str(&read("action.yml")).expect("an action");
    let step = action.runs.steps.iter().find(|step| step.name == "Check").expect("the step that checks");
    let folder = project();
    let run = |changes: &[(&str, &str)]| {
        let value = |name: &str| {
            let change = changes.iter().find(|(input, _)| *input == name).map(|(_, value)| (*value).to_owned());
            change.unwrap_or_else(|| action.inputs[name].default.clone())
        };
        let input =
            |expression: &str| expression.split("inputs.").nth(1).and_then(|rest| rest.split(' ').next()).map(value);
        let variables = step.env.iter().map(|(name, text)| (name.clone(), input(text).expect("an input"))).collect();
        shell(folder.path(), &step.run, &variables)
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0), "a warning does not fail");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("::warning file=.autofork/forks/x.md,line=3"));
    assert_eq!(run(&[("deny", "warn")]).status.code(), Some(1));
    assert_eq!(run(&[("paths", "$(exit 7) nowhere")]).status.code(), Some(2), "an input is never run");
    assert_eq!(run(&[("format", "sarif"), ("output", "out.sarif")]).status.code(), Some(0));
    let log = std::fs::read_to_string(folder.path().join("out.sarif")).expect("a report");
    assert!(log.contains("\"2.1.0\""));
}
