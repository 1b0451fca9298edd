//! The scenarios that ship: each is played, and each is an example of the format in `docs/simulate.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn simulate(path: &Path) -> Output {
    let home = tempfile::tempdir().expect("a folder can be made");
    Command::new(env!("CARGO_BIN_EXE_autofork"))
        .arg("simulate")
        .arg(path.file_name().expect("a file"))
        .current_dir(path.parent().expect("in a folder"))
        .env("AUTOFORK_HOME", home.path())
        .output()
        .expect("the binary runs")
}

fn shown(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Plays a scenario that is made up for a test.
fn made_up(name: &str, text: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("it can be written");
    simulate(&path)
}

const JOURNAL: &str = "
[forks]
journal = \"\"\"
---
fork: true
run_on: [idle: 15m]
---
Write.
\"\"\"
[config]
wake_debounce = \"5s\"
";

#[test]
fn every_scenario_that_ships_is_met() {
    let mut played = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            played += 1;
            let output = simulate(&path);
            if output.status.code() != Some(0) {
                wrong.push(format!("{}:\n{}", path.display(), shown(&output)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(played, 12);
}

#[test]
fn a_timeline_tells_who_fired_and_who_did_not_and_why() {
    for name in ["order", "throttle", "tag-throttle"] {
        let output = simulate(&folder().join(format!("{name}.toml")));
        insta::assert_snapshot!(name, shown(&output));
    }
}

#[test]
fn what_is_expected_and_does_not_happen_is_shown_beside_what_does() {
    let steps = "
steps = [
  { at = \"0s\",  do = \"turn\" },
  { at = \"10m\", expect = \"waits\", fork = \"journal\", because = \"throttled\" },
  { at = \"15m\", expect = \"fires\", fork = \"journal\" },
  { at = \"20m\", expect = \"silent\", fork = \"journal\" },
]
";
    let output = made_up("unmet.toml", &format!("{steps}{JOURNAL}"));
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(shown(&output));
}

#[test]
fn a_scenario_that_is_wrong_says_where() {
    let wrong = |steps: &str| {
        let output = made_up("wrong.toml", &format!("steps = [\n  {steps}\n]\n{JOURNAL}"));
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        shown(&output)
    };
    let all = [
        wrong(r#"{ at = "0s", do = "promt" },"#),
        wrong(r#"{ at = "1:30", do = "turn" },"#),
        wrong(r#"{ at = "1m", do = "turn" }, { at = "30s", do = "turn" },"#),
        wrong(r#"{ at = "1m" },"#),
        wrong(r#"{ at = "1m", doo = "turn" },"#),
        wrong(r#"{ at = "1m", expect = "fires", fork = "jurnal" },"#),
        wrong(r#"{ at = "1m", expect = "waits", fork = "journal", because = "throttle" },"#),
        wrong(r#"{ at = "1m", do = "gauge" },"#),
        wrong("{ at = "),
    ];
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(made_up("missing.toml", "").status.code(), Some(2));
}

#[test]
fn forks_can_come_from_a_folder() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let forks = folder.path().join("my forks");
    fs::create_dir_all(forks.join("deep")).expect("it can be made");
    fs::write(forks.join("one.md"), "---\nfork: true\nrun_on: [idle: 1m]\n---\nOne.\n").expect("it can be written");
    fs::create_dir_all(forks.join("deep/two")).expect("it can be made");
    fs::write(forks.join("deep/two/FORK.md"), "---\nfork: true\nrun_on: [idle: 2m]\n---\nTwo.\n")
        .expect("it can be written");
    let path = folder.path().join("from.toml");
    let steps = r#"
forks_from = "my forks"
steps = [
  { at = "0s", do = "turn" },
  { at = "1m", expect = "fires", fork = "one" },
  { at = "2m", expect = "fires", fork = "two" },
]
config = { wake_debounce = "0s" }
"#;
    fs::write(&path, steps).expect("it can be written");
    let output = simulate(&path);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}
