//! `textDocument/hover`: what something means here, with the value that it comes to.

mod forks;

use autofork::compile::{Layer, Merged, Origin};
use autofork::db::Linkage;
use autofork::diagnostic::Rule;
use autofork::ir::{Fork, Moment, Overlap, Tag};
use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use super::target::{self, Target, touches};
use super::words::{self, length, when};
use crate::findings::found_in;
use crate::view::{File, View};
use forks::{fork_named, names, predecessors, tag_here, tag_rules, whole};

pub(crate) use forks::summary;

/// The request.
pub(crate) fn hover(view: &View<'_>, params: &lsp::HoverParams) -> Result<Option<lsp::Hover>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let offset = file.text.offset(place.position);
    let meaning = target::at(&file, offset).and_then(|target| describe(&file, target));
    let rules = broken_rules(view, &file, offset);
    let Some(span) = meaning.as_ref().map(|(_, span)| *span).or(rules.first().map(|(_, span)| *span)) else {
        return Ok(None);
    };
    let parts =
        meaning.into_iter().map(|(words, _)| words).chain(rules.into_iter().map(|(rule, _)| about_rule(rule)));
    let value = parts.collect::<Vec<_>>().join("\n\n---\n\n");
    let contents = lsp::Contents::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value });
    Ok(Some(lsp::Hover { contents, range: Some(file.text.range(span)) }))
}

/// The rules that have something to say about a place: their documentation is shown here, since not every client can
/// follow a diagnostic to it, and the package may not say where it is on the web.
fn broken_rules(view: &View<'_>, file: &File<'_>, offset: usize) -> Vec<(&'static Rule, Span)> {
    let mut rules: Vec<(&'static Rule, Span)> = Vec::new();
    for found in found_in(view, &file.path).into_iter().filter(|found| touches(found.span, offset)) {
        if !rules.iter().any(|(rule, _)| *rule == found.rule) {
            rules.push((found.rule, found.span));
        }
    }
    rules
}

fn about_rule(rule: &Rule) -> String {
    paragraphs([format!("**{}** ({})", rule.name, rule.level), rule.documentation().trim_end().to_owned()])
}

fn describe(file: &File<'_>, target: Target<'_>) -> Option<(String, Span)> {
    let config = &file.linkage.config;
    Some(match target {
        Target::Fence(span) => (whole(file)?, span),
        Target::Key(key, span) | Target::Value(key, span) => {
            let docs = words::FRONTMATTER.get(key)?;
            let value = file.fork().and_then(|fork| value_of(key, fork, file.linkage));
            (paragraphs([format!("`{key}`: {docs}"), value.unwrap_or_default()]), span)
        }
        Target::Moment(moment, span) => (moment_here(moment.moment, config), span),
        Target::After(name, span) => (fork_named(file, name), span),
        Target::Tag(tag, span) => (tag_here(file.linkage, tag), span),
        Target::Rule(rule, span) => (about_rule(rule), span),
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
        Origin::Default => "built in",
        Origin::Layer(Layer::Project) => "from the project's config",
        Origin::Layer(Layer::User) => "from your own config",
    }
}

/// What bare `idle` comes to, and who says so.
fn default_deadline(config: &Merged) -> String {
    let default = config.config.default_idle_deadline;
    let origin = match config.origin("default_idle_deadline") {
        Origin::Default => "is built in".to_owned(),
        Origin::Layer(_) => format!("comes {}", origin(config, "default_idle_deadline")),
    };
    let default = if default.is_zero() { "0".to_owned() } else { length(default) };
    format!("the default of {default} {origin}")
}

fn moment_here(moment: Moment, config: &Merged) -> String {
    let when = when(moment, config.config.deadline(moment));
    let rest = match moment {
        Moment::Idle(_) => default_deadline(config),
        _ => "once in each session".to_owned(),
    };
    format!("`{moment}`: {when}; {rest}.")
}

/// What a key's value comes to.
fn value_of(key: &str, fork: &Fork, linkage: &Linkage) -> Option<String> {
    let config = &linkage.config;
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
        "after" => {
            let (known, unknown) = predecessors(fork, linkage);
            let waits = if known.is_empty() { "nobody".to_owned() } else { names(&known) };
            let rest = if unknown.is_empty() { String::new() } else { format!("; there is no {}", names(&unknown)) };
            format!("Here: it waits for {waits}{rest}.")
        }
        "overlap" => match fork.overlap {
            Overlap::Allowed => "Here: two runs at once are fine.".to_owned(),
            Overlap::Forbidden => "Here: one run at a time.".to_owned(),
        },
        "tags" => paragraphs(fork.tags.iter().map(|tag| tag_rules(config, tag))),
        _ => return None,
    })
}

fn setting(linkage: &Linkage, table: Option<&str>, key: &str) -> Option<String> {
    let config = &linkage.config;
    if table == Some("tag_throttles") {
        return Some(tag_here(linkage, &Tag::from(key)));
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
