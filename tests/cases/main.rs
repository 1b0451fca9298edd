//! Cases: files, and everything that is reported about them and becomes of them. They are data, in the Markdown files
//! beside this one; a case fails for anything that is missing and for anything that is too much.

#[path = "../support/cases.rs"]
mod data;
#[path = "../support/project.rs"]
mod project;
mod transcripts;

use std::fmt::Write as _;
use std::path::Path;

use autofork::compile::State;
use autofork::db::Loaded;
use autofork::diagnostic::Fixes;
use autofork::text::Span;
use data::{Case, cases, normal};
use project::{Project, place};

#[test]
fn fork_files_come_out_as_their_cases_say() {
    run(include_str!("forks.md"), &Project::new());
}

#[test]
fn faults_of_every_kind_come_out_as_their_cases_say() {
    run(include_str!("syntax.md"), &Project::new());
}

#[test]
fn configuration_files_come_out_as_their_cases_say() {
    let tagged = |tag: &str| format!("---\nfork: true\ntags: [{tag}]\n---\nTidy.\n");
    run(include_str!("config.md"), &Project::new().with("a.md", tagged("ci")).with("b.md", tagged("noisy")));
}

fn run(document: &str, beside: &Project) {
    let cases = cases(document);
    assert!(cases.len() >= 10, "the cases were not found");
    let mut failures = String::new();
    for case in &cases {
        let mut project = beside.clone();
        for (path, contents) in &case.files {
            project.write(path, contents.as_slice());
        }
        let loaded = project.load();
        for found in &loaded.diagnostics {
            assert!(
                found.fix.is_none() || found.rule.fixes == Fixes::Some,
                "{} says that it has no fix",
                found.rule.name
            );
            let mut labels = found.labels.iter().map(|label| label.message.as_str()).chain([found.label.as_str()]);
            let long = labels.find(|label| label.split(' ').count() > 6);
            assert_eq!(long, None, "a label of {} has more than six words", found.rule.name);
        }
        let found = (reported(&loaded, case), becomes(&loaded, case));
        let wanted = (case.expect.join("\n"), case.becomes.join("\n"));
        if !matches(&found.0, &wanted.0) || found.1 != wanted.1 {
            let _ = writeln!(
                failures,
                "\n## {}\nwanted:\n{}\n{}\nfound:\n{}\n{}",
                case.title, wanted.0, wanted.1, found.0, found.1
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Everything that was reported, one line each; about the configuration alone, if that is what the case is about.
fn reported(loaded: &Loaded, case: &Case) -> String {
    let mut lines = Vec::new();
    for found in &loaded.diagnostics {
        if case.is_config && found.path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let mut line = format!("{} {} {}", found.level, found.rule.name, point(loaded, &found.path, found.span));
        let suggestion = suggested(found.help.as_deref().unwrap_or_default());
        let wanted =
            case.expect.iter().any(|expected| expected.starts_with(&line) && expected.contains(" suggests "));
        if let Some(word) = suggestion.filter(|_| wanted) {
            let _ = write!(line, " suggests {word}");
        }
        lines.push(line);
        let has_labels = case.expect.iter().any(|line| line.starts_with("  label "));
        for label in found.labels.iter().filter(|_| has_labels) {
            lines.push(format!("  label {}", point(loaded, &label.path, label.span)));
        }
    }
    lines.join("\n")
}

/// The first word in backquotes that a help text offers.
fn suggested(help: &str) -> Option<&str> {
    help.split('`').nth(1)
}

fn point(loaded: &Loaded, path: &Path, span: Span) -> String {
    let name = name(path);
    match loaded.sources.get(path) {
        Some(source) => {
            let position = source.position(span.start());
            format!("{name}:{}:{}", position.line, position.column)
        }
        None => format!("{name}:1:1"),
    }
}

/// The path as the case spells it.
fn name(path: &Path) -> String {
    for (prefix, base) in [("", place("x")), ("user/", place("user/x"))] {
        let forks = base.parent().expect("a folder");
        let config = forks.parent().expect("a folder");
        if let Ok(rest) = path.strip_prefix(forks).or_else(|_| path.strip_prefix(config)) {
            return format!("{prefix}{}", rest.display());
        }
    }
    path.display().to_string()
}

fn becomes(loaded: &Loaded, case: &Case) -> String {
    if case.is_config {
        return normal(&serde_json::to_string(&loaded.program.config()).expect("a configuration"));
    }
    let mut lines = Vec::new();
    // In the order of the case; every file that it names must be there.
    for wanted in &case.becomes {
        let listed = loaded.listing.iter().find(|listed| {
            wanted.split_once(' ').is_some_and(|(_, rest)| {
                let name = name(&listed.path);
                rest == name || rest.starts_with(&format!("{name} "))
            })
        });
        let Some(listed) = listed else {
            lines.push(format!("nothing: {wanted}"));
            continue;
        };
        let mut line = format!("{} {}", listed.state.name(), name(&listed.path));
        if let Some(fork) = listed.fork.as_ref().filter(|_| matches!(listed.state, State::Active | State::Shadowed)) {
            let mut value = serde_json::to_value(&**fork).expect("a fork");
            let object = value.as_object_mut().expect("an object");
            object.retain(|key, _| !matches!(key.as_str(), "name" | "path" | "body"));
            if wanted.contains("body_line") {
                object.insert("body_line".to_owned(), fork.body.first_line.into());
            }
            let _ = write!(line, " {value}");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Compares line by line; `_` is any number.
fn matches(found: &str, wanted: &str) -> bool {
    let (found, wanted): (Vec<_>, Vec<_>) = (found.lines().collect(), wanted.lines().collect());
    found.len() == wanted.len()
        && found.iter().zip(&wanted).all(|(found, wanted)| {
            let (found, wanted): (Vec<_>, Vec<_>) = (found.split(':').collect(), wanted.split(':').collect());
            found.len() == wanted.len()
                && found.iter().zip(&wanted).all(|(found, wanted)| {
                    *wanted == "_"
                        || found == wanted
                        || wanted.strip_prefix("_ ").is_some_and(|rest| found.ends_with(rest))
                })
        })
}
