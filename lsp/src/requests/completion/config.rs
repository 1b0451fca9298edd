//! Completion in a configuration file.

use std::collections::HashSet;

use autofork::compile::{Layer, rules};
use autofork::ir::{Config, Seconds};
use autofork::syntax::duration::spell;
use autofork::syntax::envelope;
use autofork::text::Span;
use gen_lsp_types::CompletionItemKind as Kind;

use super::{Cursor, Offer, fork, is_word, names, snippet_text};
use crate::requests::settings;
use crate::requests::words::{CONFIG, DURATIONS};
use crate::view::File;

/// Tables; all else is a value.
const TABLES: [&str; 2] = ["tag_throttles", "lint"];

/// Levels of rules.
const LEVELS: [&str; 4] = ["off", "hint", "warn", "error"];

/// What may stand at the cursor.
pub(super) fn offers(file: &File<'_>, layer: Layer, cursor: &Cursor<'_>) -> Vec<Offer> {
    let before = cursor.before();
    if let Some(at) = before.find('#') {
        return fork::in_comment(cursor, at);
    }
    let table = settings::table_at(cursor.text, cursor.line.start());
    if let Some((key, typed)) = open_setting(cursor) {
        return values(file, cursor, table, key, typed);
    }
    if let Some(typed) = before.trim_start().strip_prefix('[') {
        let rest = cursor.after().len();
        let span = Span::new(cursor.offset - typed.len() - 1, cursor.offset + rest);
        return TABLES
            .iter()
            .map(|name| Offer::new(format!("[{name}]"), Kind::Module, span).docs(docs(name)))
            .collect();
    }
    keys(file, layer, cursor, table)
}

/// The setting whose value the cursor is in, and what stands before the cursor of that value: on the same line, or in a
/// list that began further up.
fn open_setting<'a>(cursor: &Cursor<'a>) -> Option<(&'a str, &'a str)> {
    let lines = envelope::lines(cursor.text, Span::new(0, cursor.offset));
    let is_setting = |line: &Span| !line.of(cursor.text).trim_start().starts_with('#');
    let equals = |line: Span| Some((line, line.start() + line.of(cursor.text).find('=')?));
    let (line, equals) = lines.filter(is_setting).filter_map(equals).last()?;
    let typed = &cursor.text[equals + 1..cursor.offset];
    let is_open = typed.matches('[').count() > typed.matches(']').count();
    let key = cursor.text[line.start()..equals].trim();
    (line.start() == cursor.line.start() || is_open).then_some((key, typed))
}

fn docs(key: &str) -> String {
    CONFIG.get(key).cloned().unwrap_or_default()
}

fn keys(file: &File<'_>, layer: Layer, cursor: &Cursor<'_>, table: Option<&str>) -> Vec<Offer> {
    let before = cursor.before();
    let span = cursor.word(before.trim_start().len(), is_word);
    let has_value = cursor.text[span.end()..cursor.line.end()].contains('=');
    let others = settings::lines(cursor.text).filter(|line| line.start() != cursor.line.start());
    let used: HashSet<&str> =
        others.filter_map(|line| settings::setting(cursor.text, line)).map(|(key, _)| key).collect();
    let offer = |name: &str, docs: String, snippet: &str| {
        let offer = Offer::new(name, Kind::Property, span).docs(docs);
        if has_value { offer } else { offer.snippet(snippet.replace("{}", &snippet_text(name))) }
    };
    match table {
        Some("lint") => {
            let free = rules::ALL.iter().filter(|rule| !used.contains(rule.name));
            free.map(|rule| offer(rule.name, rule.documentation(), "{} = \"${1:off}\"")).collect()
        }
        Some("tag_throttles") => {
            let free = names::tags(file.linkage).into_iter().map(|tag| (tag, key(tag)));
            let free = free.filter(|(tag, _)| !used.contains(tag));
            free.map(|(_, key)| offer(&key, String::new(), "{} = \"${1:30m}\"")).collect()
        }
        Some(_) => Vec::new(),
        None => {
            let has_effect = |key: &&String| layer == Layer::User || key.as_str() != "quiet_period";
            let free = CONFIG.keys().filter(|key| !used.contains(key.as_str())).filter(has_effect);
            let mut offers: Vec<Offer> = free
                .clone()
                .filter(|key| !TABLES.contains(&key.as_str()))
                .map(|key| offer(key, docs(key), &sample(key)))
                .collect();
            let tables = TABLES.iter().filter(|name| !cursor.text.contains(&format!("[{name}]")));
            offers.extend(tables.map(|name| Offer::new(format!("[{name}]"), Kind::Module, span).docs(docs(name))));
            offers
        }
    }
}

/// A key as TOML spells it.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    // What JSON writes between quotes means the same in TOML.
    serde_json::Value::from(text).to_string()
}

/// A setting with a value to change: for a switch the one that is not the default, for a length of time the default.
fn sample(key: &str) -> String {
    let default = serde_json::to_value(Config::default()).unwrap_or_default();
    let length = |value: &serde_json::Value| value.as_u64().and_then(Seconds::new).map(spell);
    match default.get(key) {
        Some(serde_json::Value::Bool(value)) => format!("{{}} = ${{1:{}}}", !value),
        Some(value @ serde_json::Value::Number(_)) => {
            format!("{{}} = \"${{1:{}}}\"", length(value).unwrap_or_default())
        }
        _ => "{} = [\"$1\"]".to_owned(),
    }
}

fn values(file: &File<'_>, cursor: &Cursor<'_>, table: Option<&str>, key: &str, typed: &str) -> Vec<Offer> {
    let is_taken = |tag: &str| typed.contains(&quoted(tag));
    let free = || names::tags(file.linkage).into_iter().filter(|tag| !is_taken(tag));
    let typed = typed.rsplit(['[', ',']).next().unwrap_or(typed).trim_start();
    let quote = if typed.starts_with('"') { "" } else { "\"" };
    let word = typed.strip_prefix('"').unwrap_or(typed);
    if word.contains(['"', '\'', ']']) {
        return Vec::new();
    }
    let span = cursor.word(word.len(), is_word);
    let closing = if cursor.text[span.end()..].starts_with('"') { "" } else { "\"" };
    let text = |value: &str| {
        let inner = quoted(value);
        Offer::new(value, Kind::Value, span).inserts(format!("{quote}{}{closing}", &inner[1..inner.len() - 1]))
    };
    match (table, key) {
        (Some("lint"), _) => LEVELS.iter().map(|level| text(level)).collect(),
        (None, "background_hold" | "wake_in_plan_mode") => {
            ["true", "false"].iter().map(|value| Offer::new(*value, Kind::Value, span)).collect()
        }
        (None, "enable_tags" | "disable_tags") => free().map(text).collect(),
        (Some("tag_throttles"), _) => DURATIONS.iter().map(|value| text(value)).collect(),
        (None, key) if CONFIG.contains_key(key) => DURATIONS.iter().map(|value| text(value)).collect(),
        _ => Vec::new(),
    }
}
