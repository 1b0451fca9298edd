//! Completion in a fork file.

use std::collections::HashSet;

use autofork::compile::{CompiledFile, rules};
use autofork::ir::ForkName;
use autofork::syntax::envelope;
use autofork::text::Span;
use gen_lsp_types::CompletionItemKind as Kind;

use super::item::{Item, Scan, item, scan};
use super::tried::Promise;
use super::{Cursor, Offer, is_word, names};
use crate::requests::hover::summary;
use crate::requests::target::line_around;
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
    let frontmatter = frontmatter(compiled, cursor);
    if cursor.line.start() >= frontmatter.end() && compiled.file.closing().is_some() {
        return Vec::new();
    }
    let before = cursor.before();
    let key = enclosing_key(cursor, frontmatter);
    let inside = key.filter(|(_, value)| value.start() <= cursor.offset);
    let inside = inside.map(|(key, value)| (key, value, scan(cursor.text, value.start(), cursor.offset)));
    let alone = before.trim_start().starts_with('#').then(|| cursor.offset - before.trim_start().len());
    if let Some(at) = inside.as_ref().and_then(|(_, _, scan)| scan.comment).or(alone) {
        return in_comment(cursor, at);
    }
    let is_open = inside.as_ref().is_some_and(|(_, _, scan)| scan.depth > 0 || scan.quote.is_some());
    if !is_open && !before.contains(':') && !before.starts_with([' ', '\t', '-', '[']) {
        return keys(cursor, frontmatter);
    }
    let Some((key, value, scan)) = inside else { return Vec::new() };
    let Some(item) = item(cursor, value, &scan) else { return Vec::new() };
    match key {
        "fork" => values(&item, &scan, "fork", &["true", "false"]),
        "overlap" => values(&item, &scan, "overlap", &["true", "false"]),
        "throttle" => values(&item, &scan, "throttle", &DURATIONS),
        "run_on" => moments(cursor, &item),
        "after" => after(file, compiled, cursor, &item, value),
        "tags" => tags(file, compiled, cursor, &item, value),
        _ => Vec::new(),
    }
}

/// What lies between the fences; all that follows where there is no second one.
fn frontmatter(compiled: &CompiledFile, cursor: &Cursor<'_>) -> Span {
    let start = compiled.file.opening().map_or(0, Span::end);
    Span::new(start, compiled.file.closing().map_or(cursor.text.len(), Span::start))
}

/// The lines of the key whose value the cursor is in, as they are while other keys are no YAML.
pub(super) fn entry(compiled: &CompiledFile, cursor: &Cursor<'_>) -> Option<Span> {
    let (_, value) = enclosing_key(cursor, frontmatter(compiled, cursor))?;
    let line = line_around(cursor.text, value.start());
    (value.start() <= cursor.offset).then(|| Span::new(line.start(), value.end()))
}

fn starter(cursor: &Cursor<'_>) -> Offer {
    let span = Span::new(0, cursor.text.len());
    let offer = Offer::new("fork", Kind::Snippet, span, Promise::Comment).snippet(STARTER).detail("a whole fork");
    Offer { replaces_all: true, ..offer }
}

/// Names of rules in a suppression, or a suppression; `at` is where the comment begins.
pub(super) fn in_comment(cursor: &Cursor<'_>, at: usize) -> Vec<Offer> {
    let words = &cursor.text[at..cursor.offset];
    let Some((_, list)) = words.split_once("allow(") else {
        let span = Span::new(at, cursor.offset);
        let suppression = Offer::new("# autofork: allow()", Kind::Snippet, span, Promise::Comment);
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
        Offer::new(rule.name, Kind::EnumMember, span, Promise::Comment)
            .detail(rule.level.name())
            .docs(rule.documentation())
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
    let below = Span::new(cursor.line.end(), frontmatter.end().max(cursor.line.end())).of(cursor.text);
    let goes_on = below.trim_start_matches(['\n', '\r']).starts_with([' ', '\t', '-']);
    let has_value = has_colon && (rest.len() > 1 || goes_on);
    // What goes on below belongs to the key above.
    if !has_colon && (!rest.is_empty() || goes_on) {
        return Vec::new();
    }
    let order = ["fork", "description", "run_on", "throttle", "after", "overlap", "tags"];
    let free = order.into_iter().filter(|key| !used.contains(key));
    free.map(|key| {
        let docs = FRONTMATTER.get(key).cloned().unwrap_or_default();
        let promise = if has_value { Promise::KeyOfValue } else { Promise::Key };
        let offer = Offer::new(key, Kind::Property, span, promise).docs(docs);
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

/// The items of a list without the one that is being typed. Also read from the text, for the list may be no YAML yet.
fn other_items<'a>(cursor: &Cursor<'a>, list: Span, typed: Span) -> HashSet<&'a str> {
    let parts = [Span::new(list.start(), typed.start()), Span::new(typed.end(), list.end())];
    let lines = parts.into_iter().flat_map(|part| part.of(cursor.text).split(['\n', '\r']));
    let lines = lines.map(|line| line.split_once(" #").map_or(line, |(words, _)| words));
    let items = lines.flat_map(|line| line.split([',', '[', ']']));
    items.map(|item| item.trim().trim_start_matches("- ").trim().trim_matches(['"', '\''])).collect()
}

/// Whether two places have something of each other.
fn overlaps(left: Span, right: Span) -> bool {
    left.start() <= right.end() && right.start() <= left.end()
}

fn values(item: &Item<'_>, scan: &Scan, key: &'static str, values: &[&str]) -> Vec<Offer> {
    if item.quote.is_some() || scan.depth > 0 || !item.is_whole() {
        return Vec::new();
    }
    let offer = |value: &&str| {
        let offer = Offer::new(*value, Kind::Value, item.span, Promise::Value(key));
        offer.inserts(format!("{}{value}", item.gap))
    };
    values.iter().map(offer).collect()
}

/// Moments, or values for the one whose name stands before the cursor. With a name goes the value that there is: one
/// that is good for one moment is good for no other.
fn moments(cursor: &Cursor<'_>, item: &Item<'_>) -> Vec<Offer> {
    if item.quote.is_some() {
        return Vec::new();
    }
    let promise = Promise::Value("run_on");
    if let Some((moment, typed)) = item.typed.split_once(':') {
        let samples: &[&str] = match moment.trim() {
            "idle" => &DURATIONS,
            "context_used" => &["50%", "70%", "80%", "90%"],
            "context_tokens" => &["100000", "150000", "500000"],
            "context_left" => &["50000", "20000"],
            _ => return Vec::new(),
        };
        if typed.contains(['"', '\'']) {
            return Vec::new();
        }
        let gap = if typed.starts_with([' ', '\t']) { "" } else { " " };
        let span = Span::new(cursor.offset - typed.trim_start().len(), item.span.end());
        let offer = |sample: &&str| Offer::new(*sample, Kind::Value, span, promise).inserts(format!("{gap}{sample}"));
        return samples.iter().map(offer).collect();
    }
    let offer = |(name, sample, docs): &(&str, Option<&str>, &str)| {
        let text = sample.map_or_else(|| (*name).to_owned(), |sample| format!("{name}: {sample}"));
        Offer::new(text.clone(), Kind::Event, item.span, promise).inserts(item.wrap(&text)).docs(*docs)
    };
    MOMENTS.iter().map(offer).collect()
}

fn after(file: &File<'_>, compiled: &CompiledFile, cursor: &Cursor<'_>, item: &Item<'_>, list: Span) -> Vec<Offer> {
    let mut taken = other_items(cursor, list, item.span);
    let read = compiled.file.after_names().filter(|(_, span)| !overlaps(*span, item.span));
    taken.extend(read.map(|(name, _)| name.as_str()));
    let names = names::may_wait_for(file.linkage, &compiled.file.name, &taken);
    let offer = |name: &ForkName| {
        let offer = Offer::new(name.as_str(), Kind::Reference, item.span, Promise::After);
        let offer = offer.inserts(item.spelt(name.as_str()));
        match file.named(name) {
            Some(listed) => offer
                .detail(listed.fork.as_ref().and_then(|fork| fork.description.clone()).unwrap_or_default())
                .docs(summary(listed, file.linkage)),
            None => offer,
        }
    };
    names.into_iter().map(offer).collect()
}

fn tags(file: &File<'_>, compiled: &CompiledFile, cursor: &Cursor<'_>, item: &Item<'_>, list: Span) -> Vec<Offer> {
    let mut taken = other_items(cursor, list, item.span);
    let read = compiled.file.tag_words().filter(|(_, span)| !overlaps(*span, item.span));
    taken.extend(read.map(|(tag, _)| tag.as_str()));
    // The word at the cursor is a tag of this file only because it is being typed.
    let here = item.span.of(cursor.text);
    let free = names::tags(file.linkage).into_iter().filter(|tag| !taken.contains(tag) && *tag != here);
    let offer = |tag| Offer::new(tag, Kind::Keyword, item.span, Promise::Tag).inserts(item.spelt(tag));
    free.map(offer).collect()
}
