//! Completion in a fork file.

use std::collections::HashSet;

use autofork::compile::{CompiledFile, rules, spell};
use autofork::ir::ForkName;
use autofork::syntax::envelope;
use autofork::text::Span;
use gen_lsp_types::CompletionItemKind as Kind;

use super::names;
use super::{Cursor, Offer, is_word};
use crate::requests::hover::summary;
use crate::requests::words::{DURATIONS, FRONTMATTER, MOMENTS};
use crate::view::File;

/// A whole fork, for an empty file.
const STARTER: &str = "---\nfork: true\ndescription: ${1:What it is for}\nrun_on:\n  - ${2:idle: 15m}\nthrottle: ${3:1h}\n---\n${0:What to do, and what to report.}\n";

/// What may stand at the cursor.
pub(super) fn offers(file: &File<'_>, compiled: &CompiledFile, cursor: &Cursor<'_>) -> Vec<Offer> {
    let Some(opening) = compiled.file.opening() else {
        let blank = cursor.text.trim().is_empty() || "---".starts_with(cursor.text.trim());
        return if blank { vec![starter(cursor)] } else { Vec::new() };
    };
    if cursor.line.start() <= opening.start() {
        let is_all = cursor.text[opening.end()..].trim().is_empty();
        return if is_all { vec![starter(cursor)] } else { Vec::new() };
    }
    let end = compiled.file.closing().map_or(cursor.text.len(), Span::start);
    if cursor.line.start() >= end && compiled.file.closing().is_some() {
        return Vec::new();
    }
    let frontmatter = Span::new(opening.end(), end);
    let before = cursor.before();
    if let Some(at) = comment(before) {
        return in_comment(cursor, at);
    }
    if !before.contains(':') && !before.starts_with([' ', '\t', '-', '[']) {
        return keys(cursor, frontmatter);
    }
    let Some((key, value)) = enclosing_key(cursor, frontmatter) else { return Vec::new() };
    match key {
        "fork" | "overlap" => values(cursor, &["true", "false"]),
        "throttle" => values(cursor, &DURATIONS),
        "run_on" => moments(cursor, value),
        "after" => after(file, &compiled.file.name, cursor, value),
        "tags" => tags(file, cursor, value),
        _ => Vec::new(),
    }
}

fn starter(cursor: &Cursor<'_>) -> Offer {
    let span = Span::new(0, cursor.text.len());
    Offer::new("fork", Kind::Snippet, span).snippet(STARTER).detail("a whole fork")
}

/// Where the comment before the cursor begins.
fn comment(before: &str) -> Option<usize> {
    before.match_indices('#').map(|(at, _)| at).find(|at| *at == 0 || before[..*at].ends_with([' ', '\t']))
}

/// Names of rules in a suppression, or a suppression.
pub(super) fn in_comment(cursor: &Cursor<'_>, at: usize) -> Vec<Offer> {
    let words = &cursor.before()[at..];
    let Some((_, list)) = words.split_once("allow(") else {
        let span = Span::new(cursor.line.start() + at, cursor.offset);
        let suppression = Offer::new("# autofork: allow()", Kind::Snippet, span);
        return vec![
            suppression.snippet("# autofork: allow(${1:rule-name}) ${0:reason}").detail("switch a rule off here"),
        ];
    };
    if list.contains(')') {
        return Vec::new();
    }
    let typed = list.rsplit([',', ' ']).next().unwrap_or("");
    let span = cursor.word(typed.len(), is_word);
    let offer = |rule: &&autofork::diagnostic::Rule| {
        Offer::new(rule.name, Kind::EnumMember, span).detail(rule.level.name()).docs(rule.documentation())
    };
    rules::ALL.iter().map(offer).collect()
}

/// Keys that are not there yet.
fn keys(cursor: &Cursor<'_>, frontmatter: Span) -> Vec<Offer> {
    let elsewhere = envelope::keys_at_line_start(cursor.text, frontmatter);
    let used: HashSet<&str> = elsewhere
        .filter(|(_, span)| span.start() < cursor.line.start() || span.start() > cursor.line.end())
        .map(|(key, _)| key)
        .collect();
    let span = cursor.word(cursor.before().len(), is_word);
    let rest = Span::new(span.end(), cursor.line.end()).of(cursor.text).trim_end();
    let has_colon = rest.starts_with(':');
    if !has_colon && !rest.is_empty() {
        return Vec::new();
    }
    let order = ["fork", "description", "run_on", "throttle", "after", "overlap", "tags"];
    let free = order.into_iter().filter(|key| !used.contains(key));
    free.map(|key| {
        let docs = FRONTMATTER.get(key).cloned().unwrap_or_default();
        let offer = Offer::new(key, Kind::Property, span).docs(docs);
        match key {
            _ if has_colon => offer,
            "fork" => offer.inserts("fork: true"),
            "run_on" => offer.snippet("run_on:\n  - ${0:idle: 15m}"),
            "overlap" => offer.inserts("overlap: true"),
            "after" | "tags" => offer.snippet(format!("{key}: [$0]")),
            _ => offer.snippet(format!("{key}: $0")),
        }
    })
    .collect()
}

/// The key whose value the cursor is in, and the place of that value.
fn enclosing_key<'a>(cursor: &Cursor<'a>, frontmatter: Span) -> Option<(&'a str, Span)> {
    let key = |line: Span| Some((envelope::key_at_line_start(line.of(cursor.text))?, line));
    let above = envelope::lines(cursor.text, Span::new(frontmatter.start(), cursor.line.end()));
    let mut below = envelope::lines(cursor.text, Span::new(cursor.line.end(), frontmatter.end()));
    let (name, line) = above.filter_map(key).last()?;
    let colon = line.of(cursor.text).find(':')?;
    let end = below.find_map(key).map_or(frontmatter.end(), |(_, next)| next.start());
    Some((name, Span::new(line.start() + colon + 1, end)))
}

/// The items of a list without the one that is being typed. Read from the text, for the list may be no YAML yet.
fn other_items<'a>(cursor: &Cursor<'a>, list: Span, typed: Span) -> HashSet<&'a str> {
    let parts = [Span::new(list.start(), typed.start()), Span::new(typed.end(), list.end())];
    let items = parts.into_iter().flat_map(|part| part.of(cursor.text).split([',', '[', ']', '\n', '\r']));
    items.map(|item| item.trim().trim_start_matches("- ").trim().trim_matches(['"', '\''])).collect()
}

/// The item of a list that the cursor is in.
struct Item<'a> {
    /// What is typed of it, up to the cursor and without a quote in front.
    typed: &'a str,
    /// The quote that it began with.
    quote: Option<char>,
    /// It is the first thing after its key, where a list still needs its brackets.
    is_alone: bool,
}

/// The item at the cursor: what follows the last bracket, comma, dash or colon of the key. None behind one that is over,
/// and none where the list of the key is on the lines below.
fn item<'a>(cursor: &Cursor<'a>, list: Span) -> Option<Item<'a>> {
    let before = cursor.before();
    let is_on_key = envelope::key_at_line_start(before).is_some();
    let value = if is_on_key { before.split_once(':').map_or("", |(_, value)| value) } else { before.trim_start() };
    let item = value.rsplit(['[', ',', '{']).next().unwrap_or(value).trim_start();
    let item = if is_on_key { item } else { item.strip_prefix('-').unwrap_or(item).trim_start() };
    let quote = item.chars().next().filter(|first| matches!(first, '"' | '\''));
    let typed = quote.map_or(item, |quote| &item[quote.len_utf8()..]);
    if typed.contains(['"', '\'', ']', '}']) {
        return None;
    }
    let is_alone = is_on_key && value.trim_start().len() == item.len();
    let mut below = envelope::lines(cursor.text, Span::new(cursor.line.end(), list.end()));
    let is_item = |line: Span| line.of(cursor.text).trim_start().starts_with('-');
    let has_list = is_alone && below.any(is_item);
    (!has_list).then_some(Item { typed, quote, is_alone: is_alone && quote.is_none() })
}

fn values(cursor: &Cursor<'_>, values: &[&str]) -> Vec<Offer> {
    let typed = cursor.before().rsplit_once(':').map(|(_, typed)| typed);
    let Some(typed) = typed.filter(|typed| !typed.contains(['"', '\''])) else { return Vec::new() };
    let lead = if typed.is_empty() { " " } else { "" };
    let span = cursor.word(typed.trim_start().len(), is_word);
    values.iter().map(|value| Offer::new(*value, Kind::Value, span).inserts(format!("{lead}{value}"))).collect()
}

fn moments(cursor: &Cursor<'_>, list: Span) -> Vec<Offer> {
    let Some(item) = item(cursor, list).filter(|item| item.quote.is_none()) else { return Vec::new() };
    if let Some((moment, typed)) = item.typed.split_once(':') {
        let samples: &[&str] = match moment.trim() {
            "idle" => &DURATIONS,
            "context_used" => &["50%", "70%", "80%", "90%"],
            "context_tokens" => &["100000", "150000", "500000"],
            "context_left" => &["50000", "20000"],
            _ => return Vec::new(),
        };
        let lead = if typed.is_empty() { " " } else { "" };
        let span = cursor.word(typed.trim_start().len(), is_word);
        let offer = |sample: &&str| Offer::new(*sample, Kind::Value, span).inserts(format!("{lead}{sample}"));
        return samples.iter().map(offer).collect();
    }
    let span = cursor.word(item.typed.len(), is_word);
    let wrap = |text: String| if item.is_alone { format!("{}[{text}]", gap(cursor)) } else { text };
    let offer = |(name, sample, docs): &(&str, Option<&str>, &str)| {
        let text = sample.map_or_else(|| (*name).to_owned(), |sample| format!("{name}: {sample}"));
        Offer::new(text.clone(), Kind::Event, span).inserts(wrap(text)).docs(*docs)
    };
    MOMENTS.iter().map(offer).collect()
}

/// The blank that is missing between a colon and what follows.
fn gap(cursor: &Cursor<'_>) -> &'static str {
    if cursor.before().ends_with(':') { " " } else { "" }
}

fn after(file: &File<'_>, own: &ForkName, cursor: &Cursor<'_>, list: Span) -> Vec<Offer> {
    let Some(item) = item(cursor, list) else { return Vec::new() };
    let span = cursor.word(item.typed.len(), is_word);
    let names = names::may_wait_for(file.linkage, own, &other_items(cursor, list, span));
    let offer = |name: &ForkName| {
        let offer = Offer::new(name.as_str(), Kind::Reference, span).inserts(item.spelt(cursor, name.as_str()));
        match file.named(name) {
            Some(listed) => offer
                .detail(listed.fork.as_ref().and_then(|fork| fork.description.clone()).unwrap_or_default())
                .docs(summary(listed, file.linkage)),
            None => offer,
        }
    };
    names.into_iter().map(offer).collect()
}

fn tags(file: &File<'_>, cursor: &Cursor<'_>, list: Span) -> Vec<Offer> {
    let Some(item) = item(cursor, list) else { return Vec::new() };
    let span = cursor.word(item.typed.len(), is_word);
    let taken = other_items(cursor, list, span);
    // The word at the cursor is a tag of this file only because it is being typed.
    let here = span.of(cursor.text);
    let free = names::tags(file.linkage).into_iter().filter(|tag| !taken.contains(tag) && *tag != here);
    free.map(|tag| Offer::new(tag, Kind::Keyword, span).inserts(item.spelt(cursor, tag))).collect()
}

impl Item<'_> {
    /// A name in place of what is typed, with brackets where there is no list yet.
    fn spelt(&self, cursor: &Cursor<'_>, name: &str) -> String {
        match self.quote {
            Some('"') => name.replace('\\', r"\\").replace('"', "\\\""),
            Some(_) => name.replace('\'', "''"),
            None if self.is_alone => format!("{}[{}]", gap(cursor), spell(name)),
            None => spell(name),
        }
    }
}
