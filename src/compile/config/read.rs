//! Reading one configuration file.

use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layer::{ConfigLayer, Layer, Set};
use super::{IGNORED_KEYS, KEYS, KeySpan};
use crate::compile::findings::Findings;
use crate::compile::input::{Contents, Obstacle, decode};
use crate::compile::rules;
use crate::compile::suppress::suppressions;
use crate::diagnostic::{Diagnostic, Level};
use crate::ir::{Seconds, Tag};
use crate::syntax::duration;
use crate::text::{BYTE_ORDER_MARK, Source, Span, brief};

/// Compiles a configuration file by itself.
pub(crate) fn compile(layer: Layer, path: &Arc<Path>, contents: &Contents) -> (ConfigLayer, Vec<Diagnostic>) {
    let decoded = decode(contents);
    let source = Arc::new(Source::new(path.clone(), decoded.text));
    let mut out = Findings::new(path.clone());
    let mut values = ConfigLayer::empty(layer, source.clone());
    if let Some(obstacle) = decoded.obstacle {
        report_obstacle(&obstacle, &mut out);
    } else {
        values.suppressions = suppressions(&source, Span::new(0, source.text().len()));
        read(&mut values, source.text(), &mut out);
    }
    (values, out.into_sorted())
}

fn report_obstacle(obstacle: &Obstacle, out: &mut Findings) {
    let encoding = "save the file with the encoding UTF-8";
    let (place, what, help) = match obstacle {
        Obstacle::Unreadable(reason) => {
            let what = format!("this cannot be read: {}", brief(reason));
            (Span::at(0), what, "put a file there that you may read, or remove what is there")
        }
        Obstacle::TooLarge => (
            Span::at(0),
            "this file is larger than 1 MiB".to_owned(),
            "see what was written into it by accident: settings are a few lines",
        ),
        Obstacle::Utf16(span) => (*span, "this file is UTF-16, not UTF-8".to_owned(), encoding),
        Obstacle::NotUtf8(span) => (*span, "this byte is not UTF-8".to_owned(), encoding),
    };
    rules::toml_syntax::check_bytes(place, &what, help, out);
}

fn read(values: &mut ConfigLayer, text: &str, out: &mut Findings) {
    let base = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let (table, mut errors) = DeTable::parse_recoverable(&text[base..]);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
        let span = errors[0].span().unwrap_or_default();
        let span = at_backslash(&text[base..], Span::new(span.start, span.end)).shifted(base);
        rules::toml_syntax::check(span, errors[0].message(), out);
        return;
    }
    let mut reader = Reader { values, out, base };
    for (key, value) in table.get_ref() {
        reader.top_level(key, value);
    }
}

struct Reader<'a> {
    values: &'a mut ConfigLayer,
    out: &'a mut Findings,
    base: usize,
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn span<T>(&self, spanned: &Spanned<T>) -> Span {
        let span = spanned.span();
        Span::new(span.start, span.end).shifted(self.base)
    }

    fn top_level(&mut self, key: &Key<'_>, value: &Value<'_>) {
        let name: &str = key.get_ref();
        match name {
            "default_idle_deadline" => self.values.default_idle_deadline = self.duration(value),
            "session_timeout" => self.values.session_timeout = self.duration(value),
            "quiet_period" if self.values.layer == Layer::Project => {
                rules::config_global_only::check(name, self.span(key), self.out);
            }
            "quiet_period" => self.values.quiet_period = self.duration(value),
            "wake_debounce" => self.values.wake_debounce = self.duration(value),
            "enable_tags" => self.values.enable_tags = self.tags(value),
            "disable_tags" => self.values.disable_tags = self.tags(value),
            "tag_throttles" => self.tag_throttles(key, value),
            "background_hold" => self.values.background_hold = self.boolean(value),
            "background_hold_timeout" => self.values.background_hold_timeout = self.duration(value),
            "wake_in_plan_mode" => self.values.wake_in_plan_mode = self.boolean(value),
            "lint" => self.lint(key, value),
            _ if IGNORED_KEYS.contains(&name) => {
                let places: KeySpan = (self.span(key), self.span(value));
                rules::config_ignored_key::check(name, places, &self.values.source, self.out);
                self.keys_below(name, value);
            }
            _ => {
                rules::config_unknown_key::check(name, self.span(key), self.out);
                self.keys_below(name, value);
            }
        }
    }

    /// Top-level keys below a table that the configuration does not have.
    fn keys_below(&mut self, table: &str, value: &Value<'_>) {
        for (key, value) in value.get_ref().as_table().into_iter().flatten() {
            self.misplaced(table, key, value);
        }
    }

    /// Reports a top-level key below a table; true if it is one.
    fn misplaced(&mut self, table: &str, key: &Key<'_>, value: &Value<'_>) -> bool {
        let name: &str = key.get_ref();
        let is_key = KEYS.contains(&name) || IGNORED_KEYS.contains(&name);
        if is_key {
            let places: KeySpan = (self.span(key), self.span(value));
            rules::config_key_in_table::check(name, table, places, &self.values.source, self.out);
        }
        is_key
    }

    fn duration(&mut self, value: &Value<'_>) -> Option<Set<Seconds>> {
        let span = self.span(value);
        let (found, suggestion) = match value.get_ref() {
            DeValue::String(text) => match duration::parse(text) {
                Ok(found) => (Some(found.length), None),
                Err(fault) => (None, fault.suggestion),
            },
            DeValue::Integer(number) => {
                let digits = number.as_str().replace('_', "");
                let seconds = u64::from_str_radix(digits.trim_start_matches('+'), number.radix());
                (seconds.ok().and_then(Seconds::new), None)
            }
            _ => (None, None),
        };
        if found.is_none() {
            let what = describe(value.get_ref());
            let wanted = "a duration such as `\"30m\"`, or a whole number of seconds";
            rules::config_invalid_value::check(span, &what, wanted, suggestion.as_deref(), self.out);
        }
        found.map(|value| Set { value, span })
    }

    fn boolean(&mut self, value: &Value<'_>) -> Option<Set<bool>> {
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.invalid(value, "`true` or `false`");
        }
        found.map(|found| Set { value: found, span: self.span(value) })
    }

    fn invalid(&mut self, value: &Value<'_>, wanted: &str) {
        let what = describe(value.get_ref());
        rules::config_invalid_value::check(self.span(value), &what, wanted, None, self.out);
    }

    /// A table in double brackets is pointed at by its name, like any other; a value by itself.
    fn not_a_table(&mut self, key: &Key<'_>, value: &Value<'_>, wanted: &str) {
        let is_tables =
            value.get_ref().as_array().is_some_and(|items| items.iter().all(|item| item.get_ref().is_table()));
        let span = if is_tables { self.span(key) } else { self.span(value) };
        rules::config_invalid_value::check(span, &describe(value.get_ref()), wanted, None, self.out);
    }

    fn tags(&mut self, value: &Value<'_>) -> Option<Vec<Set<Tag>>> {
        match value.get_ref() {
            DeValue::String(_) => self.tag(value).map(|tag| vec![tag]),
            DeValue::Array(items) => Some(items.iter().filter_map(|item| self.tag(item)).collect()),
            _ => {
                self.invalid(value, "a list of tags such as `[\"ci\"]`");
                None
            }
        }
    }

    fn tag(&mut self, value: &Value<'_>) -> Option<Set<Tag>> {
        let text = value.get_ref().as_str().map(str::trim).filter(|text| is_tag(text));
        if text.is_none() {
            self.invalid(value, "a tag: a text that is not empty");
        }
        text.map(|text| Set { value: Tag::from(text), span: self.span(value) })
    }

    fn tag_throttles(&mut self, key: &Key<'_>, value: &Value<'_>) {
        let Some(table) = value.get_ref().as_table() else {
            self.not_a_table(key, value, "a table of tags with durations");
            return;
        };
        for (key, value) in table {
            if self.misplaced("tag_throttles", key, value) {
                continue;
            }
            if !is_tag(key.get_ref().trim()) {
                let what = format!("`{}`", brief(key.get_ref()));
                rules::config_invalid_value::check(self.span(key), &what, "a tag", None, self.out);
                continue;
            }
            if let Some(length) = self.duration(value) {
                let tag = Set { value: Tag::from(key.get_ref().trim()), span: self.span(key) };
                self.values.tag_throttles.push((tag, length.value));
            }
        }
    }

    fn lint(&mut self, key: &Key<'_>, value: &Value<'_>) {
        let Some(table) = value.get_ref().as_table() else {
            self.not_a_table(key, value, "a table of rules with levels");
            return;
        };
        for (key, value) in table {
            let rule: &str = key.get_ref();
            if self.misplaced("lint", key, value) {
                continue;
            }
            if rules::find(rule).is_none() {
                rules::config_unknown_key::check_rule(rule, self.span(key), self.out);
                continue;
            }
            let level = match value.get_ref().as_str() {
                Some("off") => Some(None),
                Some(name) => name.parse::<Level>().ok().map(Some),
                None => None,
            };
            match level {
                Some(level) => {
                    let span = self.span(value);
                    self.values.lint.insert(rule.to_owned(), Set { value: level, span });
                }
                None => self.invalid(value, "one of `\"off\"`, `\"hint\"`, `\"warn\"` and `\"error\"`"),
            }
        }
    }
}

/// The parser points into a bad escape; people look for its backslash.
fn at_backslash(text: &str, span: Span) -> Span {
    let start = span.start().min(text.len());
    let nearby = (1..=9).filter_map(|back| text.get(start.checked_sub(back)?..start));
    let escape = nearby.take_while(|words| !words.contains(['"', '\n'])).find(|words| words.starts_with('\\'));
    match escape {
        Some(words) if words[1..].chars().all(|c| c.is_ascii_hexdigit() || matches!(c, 'u' | 'U' | 'x')) => {
            Span::new(start - words.len(), span.end().max(start))
        }
        _ => span,
    }
}

fn is_tag(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

/// A value for people: in quotes if it is short, else by its type.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("`{}`", brief(text)),
        DeValue::String(_) => "this text".to_owned(),
        DeValue::Integer(number) => format!("`{}`", number.as_str()),
        DeValue::Float(number) => format!("`{}`", number.as_str()),
        DeValue::Boolean(value) => format!("`{value}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
