//! The examples in the documentation of the rules: the bad one gives exactly its rule, the good one nothing.

#[path = "../support/project.rs"]
mod project;

use autofork::compile::rules;
use autofork::diagnostic::Rule;
use project::Project;

/// Rules whose bad example is no text that could stand in a comment. Each has a story of its own in
/// `tests/check` or `tests/cases`.
const BAD_BY_WORDS: [&str; 4] = ["invalid-encoding", "cr-line-endings", "too-large", "unreadable"];

#[test]
fn a_bad_example_gives_exactly_its_rule() {
    for rule in rules::ALL {
        let examples = examples(rule, "Bad");
        if BAD_BY_WORDS.contains(&rule.name) {
            assert!(examples.is_empty(), "{} has a bad example after all", rule.name);
            continue;
        }
        assert!(!examples.is_empty(), "{} has no bad example", rule.name);
        let found = check(&examples);
        assert_eq!(found, [rule.name], "the bad example of {}", rule.name);
    }
}

#[test]
fn a_good_example_gives_nothing() {
    for rule in rules::ALL {
        let examples = examples(rule, "Good");
        assert!(!examples.is_empty(), "{} has no good example", rule.name);
        assert_eq!(check(&examples), Vec::<&str>::new(), "the good example of {}", rule.name);
    }
}

#[test]
fn every_rule_is_documented_in_the_same_way() {
    for rule in rules::ALL {
        let text = rule.documentation();
        let paragraphs: Vec<&str> = text.split("\n\n").collect();
        assert!(paragraphs.len() >= 4, "{}: what, why, bad, good", rule.name);
        assert!(rule.summary().ends_with(['.', ':']), "{}: {}", rule.name, rule.summary());
        assert!(rule.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.name);
        assert_eq!(
            rules::ALL.iter().filter(|other| other.name == rule.name).count(),
            1,
            "{} stands twice",
            rule.name
        );
    }
}

/// The rules that are found in a project with these files.
fn check(files: &[(String, String)]) -> Vec<&'static str> {
    let project = files.iter().fold(Project::new(), |project, (path, text)| project.with(path, text.as_bytes()));
    project.load().diagnostics.iter().map(|found| found.rule.name).collect()
}

/// The files of an example: everything between fences below a line that starts with `heading`.
fn examples(rule: &Rule, heading: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let (mut here, mut open) = (false, false);
    for line in rule.documentation().lines() {
        if let Some(info) = line.strip_prefix("```") {
            open = !open;
            if here && open {
                let default = if info.starts_with("toml") { "config.toml" } else { "example.md" };
                let path = info.split_once(' ').map_or(default, |(_, path)| path);
                files.push((path.to_owned(), String::new()));
            }
        } else if open {
            if let Some((_, text)) = files.last_mut().filter(|_| here) {
                text.push_str(line);
                text.push('\n');
            }
        } else if line.starts_with("Bad") || line.starts_with("Good") {
            here = line.starts_with(heading);
        }
    }
    files
}
