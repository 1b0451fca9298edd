//! Pages and schemas that are made from the code and checked in: they must be fresh.
//!
//! `UPDATE_DOCS=1 cargo test --test docs` writes them anew.

mod ci;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use autofork::compile::{rules, schema};
use autofork::diagnostic::{Fixes, Rule, json};

#[test]
fn the_page_of_rules_is_fresh() {
    assert_fresh("docs/rules.md", &rules_page());
}

#[test]
fn the_schemas_are_fresh() {
    let pretty = |schema: serde_json::Value| format!("{}\n", serde_json::to_string_pretty(&schema).expect("JSON"));
    assert_fresh("docs/schemas/frontmatter.json", &pretty(schema::frontmatter()));
    assert_fresh("docs/schemas/config.json", &pretty(schema::config()));
    assert_fresh("docs/schemas/check.json", &pretty(json::schema()));
}

fn assert_fresh(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, wanted).expect("a page");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "{path} is stale: run `UPDATE_DOCS=1 cargo test --test docs`");
}

fn rules_page() -> String {
    let mut sorted: Vec<&Rule> = rules::ALL.to_vec();
    sorted.sort_by_key(|rule| rule.category);
    let mut page = String::from(
        "# Rules\n\n\
         Everything that `autofork check` can find. This page is made from the documentation of the rules in\n\
         `src/compile/rules/`; `autofork explain RULE` prints the same.\n\n\
         A rule is switched off for one place by a comment on its line or the line above, and for a project in its\n\
         `config.toml`:\n\n\
         ```yaml\n# autofork: allow(unknown-key) the dashboard reads it\nowner: docs\n```\n\n\
         ```toml\n[lint]\nunknown-key = \"off\"        # or \"hint\", \"warn\", \"error\"\n```\n\n\
         | rule | level | fix | finds |\n|---|---|---|---|\n",
    );
    for rule in &sorted {
        let fix = if rule.fixes == Fixes::Some { "yes" } else { "" };
        let row = format!(
            "| [`{0}`](#{0}) | {1} | {fix} | {2} |\n",
            rule.name,
            rule.level,
            rule.summary().replace('|', "\\|")
        );
        page.push_str(&row);
    }
    let mut category = None;
    for rule in &sorted {
        if category != Some(rule.category) {
            let _ = writeln!(page, "\n## {}", rule.category.title());
            category = Some(rule.category);
        }
        let fix = if rule.fixes == Fixes::Some { ", has a fix" } else { "" };
        let _ = write!(page, "\n### {}\n\n*{}{fix}*\n\n{}", rule.name, rule.level, titled(&rule.documentation()));
    }
    page
}

/// Examples with the name of their file above them, where they have one.
fn titled(documentation: &str) -> String {
    let mut text = String::new();
    for line in documentation.lines() {
        let _ = match line.strip_prefix("```").and_then(|info| info.split_once(' ')) {
            Some((language, path)) => writeln!(text, "\n`{path}`\n\n```{language}"),
            None => writeln!(text, "{line}"),
        };
    }
    text
}
