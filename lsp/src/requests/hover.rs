//! `textDocument/hover`: what something means here, with the value that it comes to.

use std::fmt::Write as _;

use autofork::compile::{Layer, Listed, Merged, Origin};
use autofork::db::Linkage;
use autofork::ir::{Fork, ForkName, Moment, Overlap, Tag};
use autofork::text::visible;
use gen_lsp_types as lsp;

use super::Refusal;
use super::target::{self, Target};
use super::words::{self, length, when};
use crate::view::{File, View, owner};

/// The request.
pub(crate) fn hover(view: &View<'_>, params: &lsp::HoverParams) -> Result<Option<lsp::Hover>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let offset = file.text.offset(place.position);
    let Some(target) = target::at(&file, offset) else { return Ok(None) };
    let Some((words, span)) = describe(&file, target) else { return Ok(None) };
    let contents = lsp::Contents::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: words });
    Ok(Some(lsp::Hover { contents, range: Some(file.text.range(span)) }))
}

fn describe(file: &File<'_>, target: Target<'_>) -> Option<(String, autofork::text::Span)> {
    let config = &file.linkage.config;
    Some(match target {
        Target::Fence(span) => (whole(file)?, span),
        Target::Key(key, span) | Target::Value(key, span) => {
            let docs = words::FRONTMATTER.get(key)?;
            let value = file.fork().and_then(|fork| value_of(key, fork, config));
            (paragraphs([format!("`{key}`: {docs}"), value.unwrap_or_default()]), span)
        }
        Target::Moment(moment, span) => (moment_here(moment.moment, config), span),
        Target::After(name, span) => (fork_named(file, name), span),
        Target::Tag(tag, span) => (tag_here(file.linkage, tag), span),
        Target::Rule(rule, span) => {
            (paragraphs([format!("**{}** ({})", rule.name, rule.level), rule.documentation()]), span)
        }
        Target::Setting(table, key, span) => (setting(file.linkage, table, key)?, span),
    })
}

fn paragraphs(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Where a value of the configuration comes from.
pub(crate) fn origin(config: &Merged, key: &str) -> &'static str {
    match config.origin(key) {
        Origin::Default => "the default",
        Origin::Layer(Layer::Project) => "from the project's config",
        Origin::Layer(Layer::User) => "from your own config",
    }
}

fn moment_here(moment: Moment, config: &Merged) -> String {
    let when = when(moment, config.config.deadline(moment));
    let rest = match moment {
        Moment::Idle(written) => {
            let default = config.config.default_idle_deadline;
            let origin = origin(config, "default_idle_deadline");
            match (written, default.is_zero()) {
                (Some(_), true) => format!("bare `idle` is switched off, {origin}"),
                (Some(_), false) => format!("bare `idle` would be {}, {origin}", length(default)),
                (None, _) => format!("`default_idle_deadline`, {origin}"),
            }
        }
        _ => "once in each session".to_owned(),
    };
    format!("`{moment}`: {when}; {rest}.")
}

/// What a key's value comes to.
fn value_of(key: &str, fork: &Fork, config: &Merged) -> Option<String> {
    Some(match key {
        "run_on" if fork.run_on.is_empty() => "Here: never.".to_owned(),
        "run_on" => {
            let moments = fork.run_on.iter().map(|moment| when(*moment, config.config.deadline(*moment)));
            format!("Here: {}.", moments.collect::<Vec<_>>().join("; or "))
        }
        "throttle" => match fork.throttle {
            Some(gap) => format!("Here: at most once in {}.", length(gap)),
            None => "Here: no limit.".to_owned(),
        },
        "after" => match names(&fork.after).as_str() {
            "" => "Here: it waits for nobody.".to_owned(),
            names => format!("Here: it waits for {names}."),
        },
        "overlap" => match fork.overlap {
            Overlap::Allowed => "Here: two runs at once are fine.".to_owned(),
            Overlap::Forbidden => "Here: one run at a time.".to_owned(),
        },
        "tags" => paragraphs(fork.tags.iter().map(|tag| tag_rules(config, tag))),
        _ => return None,
    })
}

fn names(names: &[ForkName]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", visible(name.as_str()))).collect();
    names.join(", ")
}

/// What the configuration has to say about a tag.
fn tag_rules(config: &Merged, tag: &Tag) -> String {
    let mut says = Vec::new();
    if let Some(gap) = config.config.tag_throttles.get(tag) {
        let origin = origin(config, &format!("tag_throttles.{tag}"));
        says.push(format!("at most one run of any fork with it in {}, {origin}", length(*gap)));
    }
    if config.config.disable_tags.contains(tag) {
        says.push(format!("switched off with `disable_tags`, {}", origin(config, "disable_tags")));
    }
    if config.config.enable_tags.contains(tag) {
        says.push(format!("among the only ones that run, `enable_tags`, {}", origin(config, "enable_tags")));
    }
    if says.is_empty() { String::new() } else { format!("`{}`: {}.", visible(tag.as_str()), says.join("; ")) }
}

fn tag_here(linkage: &Linkage, tag: &Tag) -> String {
    let forks = linkage.linked.program.forks().filter(|fork| fork.tags.contains(tag));
    let forks: Vec<ForkName> = forks.map(|fork| fork.name.clone()).collect();
    paragraphs([format!("Tag of {}.", names(&forks)), tag_rules(&linkage.config, tag)])
}

/// A fork that another one waits for.
fn fork_named(file: &File<'_>, name: &ForkName) -> String {
    match file.named(name) {
        Some(listed) => summary(listed, file.linkage),
        None => format!("There is no fork `{}` here.", visible(name.as_str())),
    }
}

/// A fork in a few lines.
pub(crate) fn summary(listed: &Listed, linkage: &Linkage) -> String {
    let title = format!("**{}** ({})", visible(listed.name.as_str()), listed.state.name());
    let Some(fork) = &listed.fork else { return title };
    let description = fork.description.as_deref().map(|text| visible(text).into_owned()).unwrap_or_default();
    let mut facts = String::new();
    for moment in &fork.run_on {
        let _ = writeln!(facts, "- {}", when(*moment, linkage.config.config.deadline(*moment)));
    }
    if fork.run_on.is_empty() {
        facts.push_str("- never fires\n");
    }
    if let Some(gap) = fork.throttle {
        let _ = writeln!(facts, "- at most once in {}", length(gap));
    }
    if fork.overlap == Overlap::Allowed {
        facts.push_str("- two runs at once are fine\n");
    }
    if !fork.tags.is_empty() {
        let tags: Vec<String> = fork.tags.iter().map(|tag| format!("`{}`", visible(tag.as_str()))).collect();
        let _ = writeln!(facts, "- tags {}", tags.join(", "));
    }
    paragraphs([title, description, facts.trim_end().to_owned()])
}

/// The fork of this file as compiled, and who runs before and after it.
fn whole(file: &File<'_>) -> Option<String> {
    let fork = file.fork()?;
    let listed = file.linkage.linked.listing.iter().find(|listed| listed.path == file.path)?;
    let waiting = file.linkage.linked.program.forks().filter(|other| other.after.contains(&fork.name));
    let waiting: Vec<ForkName> = waiting.map(|other| other.name.clone()).collect();
    let known = |name: &&ForkName| owner(file.linkage, name).is_some();
    let before: Vec<ForkName> = fork.after.iter().filter(known).cloned().collect();
    let order = match (names(&before).as_str(), names(&waiting).as_str()) {
        ("", "") => String::new(),
        (before, "") => format!("Runs after {before}."),
        ("", after) => format!("Runs before {after}."),
        (before, after) => format!("Runs after {before} and before {after}."),
    };
    Some(paragraphs([summary(listed, file.linkage), order]))
}

fn setting(linkage: &Linkage, table: Option<&str>, key: &str) -> Option<String> {
    let config = &linkage.config;
    if table == Some("tag_throttles") {
        let tag = Tag::from(key);
        return Some(tag_here(linkage, &tag));
    }
    let docs = words::CONFIG.get(key).filter(|_| table.is_none())?;
    let value = serde_json::to_value(&config.config).ok()?;
    let value = match value.get(key) {
        Some(serde_json::Value::Number(seconds)) => {
            let seconds = seconds.as_u64().and_then(autofork::ir::Seconds::new);
            seconds.map(length).unwrap_or_default()
        }
        Some(value @ (serde_json::Value::Bool(_) | serde_json::Value::Array(_))) => format!("`{value}`"),
        _ => String::new(),
    };
    let here =
        if value.is_empty() { String::new() } else { format!("In force here: {value}, {}.", origin(config, key)) };
    Some(paragraphs([format!("`{key}`: {docs}"), here]))
}
