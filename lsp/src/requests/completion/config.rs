//! Completion in a configuration file.

use std::collections::HashSet;

use autofork::compile::{Layer, rules};
use autofork::ir::{Config, Seconds};
use autofork::syntax::duration::spell;
use autofork::text::Span;
use gen_lsp_types::CompletionItemKind as Kind;

use super::setting::{Part, Place, Setting, part, place};
use super::tried::Promise;
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
    let table = settings::table_at(cursor.text, cursor.line.start());
    match place(cursor.text, cursor.offset) {
        Place::Comment(at) => fork::in_comment(cursor, at),
        Place::Header(at) => {
            let after = cursor.after();
            let closed = after.find(']').map(|at| at + 1);
            let end = closed.unwrap_or_else(|| after[..after.find('#').unwrap_or(after.len())].trim_end().len());
            let span = Span::new(at, cursor.offset + end);
            let others = [&cursor.text[..span.start()], &cursor.text[span.end()..]];
            tables(span).filter(|table| !others.iter().any(|other| other.contains(&table.label))).collect()
        }
        Place::Key => keys(file, layer, cursor, table),
        Place::Value(setting) => match part(&setting, cursor) {
            Some(part) => values(file, cursor, table, &setting, &part),
            None => Vec::new(),
        },
    }
}

fn tables(span: Span) -> impl Iterator<Item = Offer> {
    let offer = move |name: &str| Offer::new(format!("[{name}]"), Kind::Module, span, Promise::KeyOfValue);
    TABLES.into_iter().map(move |name| offer(name).docs(docs(name)))
}

fn docs(key: &str) -> String {
    CONFIG.get(key).cloned().unwrap_or_default()
}

fn keys(file: &File<'_>, layer: Layer, cursor: &Cursor<'_>, table: Option<&str>) -> Vec<Offer> {
    let before = cursor.before();
    let span = cursor.word(before.trim_start().len(), is_word);
    let behind = &cursor.text[span.end()..cursor.line.end()];
    let rest = behind.trim_start();
    let has_value = rest.starts_with('=');
    let is_free = rest.is_empty() || (rest.starts_with('#') && rest != behind);
    if !has_value && !is_free {
        return Vec::new();
    }
    let others = settings::lines(cursor.text).filter(|line| line.start() != cursor.line.start());
    let used: HashSet<&str> =
        others.filter_map(|line| settings::setting(cursor.text, line)).map(|(key, _)| key).collect();
    let offer = |name: &str, docs: String, snippet: &str| {
        let promise = if has_value { Promise::KeyOfValue } else { Promise::Key };
        let offer = Offer::new(name, Kind::Property, span, promise).docs(docs);
        if has_value { offer } else { offer.snippet(snippet.replace("{}", &snippet_text(name))) }
    };
    match table {
        Some("lint") => {
            let free = rules::ALL.iter().filter(|rule| !used.contains(rule.name));
            free.map(|rule| offer(rule.name, rule.documentation(), "{} = \"${1:off}\"")).collect()
        }
        Some("tag_throttles") => {
            let free = names::tags(file.linkage).into_iter().map(|tag| (tag, key(tag)));
            let here = span.of(cursor.text);
            let free = free.filter(|(tag, _)| *tag != here && !used.contains(tag));
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
            if !has_value {
                offers.extend(tables(span).filter(|table| !cursor.text.contains(&table.label)));
            }
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

fn values(
    file: &File<'_>,
    cursor: &Cursor<'_>,
    table: Option<&str>,
    setting: &Setting<'_>,
    part: &Part,
) -> Vec<Offer> {
    let offer = |value: &str, promise| {
        let inner = quoted(value);
        let inner = &inner[1..inner.len() - 1];
        let quote = if part.is_quoted { "" } else { "\"" };
        let words = format!("{}{quote}{inner}{}", part.gap, part.closing);
        Offer::new(value, Kind::Value, part.span, promise).inserts(words)
    };
    let all = |values: &[&str]| values.iter().map(|value| offer(value, Promise::Value("config"))).collect();
    match (table, setting.key) {
        (None, "enable_tags" | "disable_tags") => {
            let text = cursor.text;
            let others = [&text[setting.value..part.span.start()], &text[part.span.end()..part.end]];
            let is_taken = |tag: &str| {
                others.iter().any(|other| other.contains(&quoted(tag)) || other.contains(&format!("'{tag}'")))
            };
            // The word at the cursor is a tag only because it is being typed.
            let here = part.span.of(text).trim_matches(['"', '\'']);
            let free = names::tags(file.linkage).into_iter().filter(|tag| *tag != here && !is_taken(tag));
            free.map(|tag| offer(tag, Promise::Tag)).collect()
        }
        _ if setting.depth > 0 => Vec::new(),
        (Some("lint"), _) => all(&LEVELS),
        (None, "background_hold" | "wake_in_plan_mode") if part.is_quoted => Vec::new(),
        (None, "background_hold" | "wake_in_plan_mode") => {
            let offer = |value| Offer::new(value, Kind::Value, part.span, Promise::Value("config"));
            ["true", "false"].map(|value| offer(value).inserts(format!("{}{value}", part.gap))).into()
        }
        (Some("tag_throttles"), _) => all(&DURATIONS),
        (None, key) if CONFIG.contains_key(key) => all(&DURATIONS),
        _ => Vec::new(),
    }
}
