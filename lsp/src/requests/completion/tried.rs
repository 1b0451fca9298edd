//! Offers are tried before they are made: what the cursor is in is guessed from the text, and no guess may break a file.

use std::collections::{BTreeMap, HashMap};

use autofork::compile::{CompiledFile, Contents, Layer, config_file, fork_file, fork_name, spell};
use autofork::diagnostic::Diagnostic;
use autofork::ir::Fork;
use autofork::syntax::duration;
use autofork::text::Span;

use super::{Cursor, Offer, fork};
use crate::view::File;

/// What an offer says that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Promise {
    /// It writes a comment.
    Comment,
    /// It writes a key whose value is still to come.
    Key,
    /// It writes a key in front of a value.
    KeyOfValue,
    /// It writes a value of this key, or a part of it.
    Value(&'static str),
    /// It makes the fork wait for the one of this name.
    After,
    /// It adds a tag.
    Tag,
}

impl Promise {
    /// Whether it is kept by all plain words alike.
    fn is_for_all(self) -> bool {
        matches!(self, Self::Comment | Self::Key | Self::After | Self::Tag)
    }

    fn counts(self, rule: &str) -> bool {
        matches!(rule, "yaml-syntax" | "toml-syntax" | "duplicate-key")
            || self != Self::Key
                && (matches!(rule, "unknown-moment" | "malformed-moment")
                    || rule.starts_with("invalid-")
                    || rule.starts_with("config-"))
    }

    /// Whether there is more to find than before.
    fn is_worse(self, before: &[Diagnostic], after: &[Diagnostic]) -> bool {
        let count = |found: &[Diagnostic]| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for found in found.iter().filter(|found| self.counts(found.rule.name)) {
                *counts.entry(found.rule.name).or_default() += 1;
            }
            counts
        };
        let before = count(before);
        count(after).iter().any(|(rule, count)| before.get(rule).is_none_or(|before| before < count))
    }
}

/// The offers that keep their promises in a fork file.
pub(super) fn in_fork(compiled: &CompiledFile, cursor: &Cursor<'_>, offers: Vec<Offer>) -> Vec<Offer> {
    let path = compiled.file.source.path();
    let compile = |text: &str| fork_file(&compiled.file.name, path, &Contents::text(text));
    // The body is left out: nothing that is offered shows there, and it may be long.
    let end = compiled.file.closing().map_or(cursor.text.len(), Span::end).max(cursor.line.end());
    let mut text = cursor.text[..end].to_owned();
    let mut before = compile(&text);
    let mut shift = (0, 0);
    // Where other keys are no YAML either, the one at the cursor is tried by itself.
    if before.file.fork().is_none()
        && let Some(entry) = fork::entry(compiled, cursor)
    {
        let alone = format!("{HEAD}{}\n---\n", entry.of(cursor.text));
        let read = compile(&alone);
        if read.file.fork().is_some() {
            (text, before, shift) = (alone, read, (entry.start(), HEAD.len()));
        }
    }
    keep(cursor, offers, |offer| {
        let after = compile(&offer.taken(&text, shift));
        !offer.promise.is_worse(&before.diagnostics, &after.diagnostics) && keeps(&before, &after, offer)
    })
}

/// What makes one key a fork.
const HEAD: &str = "---\nfork: true\n";

/// The offers that keep their promises in a configuration file.
pub(super) fn in_config(file: &File<'_>, layer: Layer, cursor: &Cursor<'_>, offers: Vec<Offer>) -> Vec<Offer> {
    let path = file.path.as_path().into();
    let compile = |text: &str| config_file(layer, &path, &Contents::text(text));
    let before = compile(cursor.text);
    keep(cursor, offers, |offer| {
        let after = compile(&offer.taken(cursor.text, (0, 0)));
        let has_tag = || after.layer.tag_words().any(|(tag, _)| tag.as_str() == offer.label);
        let was_read = before.diagnostics.iter().all(|found| found.rule.name != "toml-syntax");
        !offer.promise.is_worse(&before.diagnostics, &after.diagnostics)
            && (offer.promise != Promise::Tag || !was_read || has_tag())
    })
}

/// So many offers are tried one by one; of each a whole file is compiled, and somebody waits.
const MOST_TRIALS: usize = 50;

/// The offers that are good. Of those that are spelt in one way, with quotes or without, one stands for all, for there may
/// be thousands; where the names are odder than that and too many, the rest is left out.
fn keep(cursor: &Cursor<'_>, mut offers: Vec<Offer>, is_good: impl Fn(&Offer) -> bool) -> Vec<Offer> {
    let mut known: HashMap<(Span, Promise, bool, String), bool> = HashMap::new();
    let mut trials = 0;
    let mut is_good = |offer: &Offer| {
        trials += 1;
        trials <= MOST_TRIALS && is_good(offer)
    };
    offers.retain(|offer| {
        let is_around = offer.span.start() <= cursor.offset && cursor.offset <= offer.span.end();
        let is_on_line = cursor.line.start() <= offer.span.start() && offer.span.end() <= cursor.line.end();
        if offer.replaces_all {
            return true;
        }
        if !is_around || !is_on_line {
            return false;
        }
        if !offer.promise.is_for_all() || !is_ordinary(&offer.label) {
            return is_good(offer);
        }
        let bare = spell(&offer.label) == offer.label;
        let way = (offer.span, offer.promise, bare, offer.insert.replacen(&offer.label, "\0", 1));
        *known.entry(way).or_insert_with(|| is_good(offer))
    });
    offers
}

/// Whether nothing in a word has to be escaped, wherever it stands.
fn is_ordinary(word: &str) -> bool {
    let may_stand_inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | ' ');
    word.starts_with(char::is_alphanumeric)
        && word.ends_with(char::is_alphanumeric)
        && word.chars().all(may_stand_inside)
}

/// Whether a fork is what was promised, and what was not spoken of is what it was.
fn keeps(before: &CompiledFile, after: &CompiledFile, offer: &Offer) -> bool {
    let (was, is) = match (before.file.without_lines(), after.file.without_lines()) {
        (Some(was), Some(is)) => (was, is),
        // Not yet a fork that could be read, or none any more as the marker says.
        (was, _) => return was.is_none() || offer.promise == Promise::Value("fork"),
    };
    match offer.promise {
        Promise::Key | Promise::KeyOfValue => true,
        Promise::Comment => was == is,
        Promise::Value(key) => {
            let lost = if key == "run_on" { lost(&written(before), &written(after)) } else { 0 };
            let is_it = match key {
                "throttle" => is.throttle == duration::parse(&offer.label).ok().map(|found| found.length),
                "overlap" => bool::from(is.overlap) == (offer.label == "true"),
                _ => true,
            };
            is_it && lost <= 1 && without(was, key) == without(is, key)
        }
        Promise::After => {
            let is_it = is.after.iter().filter(|name| **name == fork_name(&offer.label)).count() == 1;
            is_it && lost(&was.after, &is.after) <= 1 && without(was, "after") == without(is, "after")
        }
        Promise::Tag => {
            let is_it = is.tags.iter().filter(|tag| tag.as_str() == offer.label).count() == 1;
            is_it && lost(&was.tags, &is.tags) <= 1 && without(was, "tags") == without(is, "tags")
        }
    }
}

/// The moments that stand in a file; the one that stands in for a missing list does not.
fn written(compiled: &CompiledFile) -> Vec<autofork::ir::Moment> {
    let moments = compiled.file.written_moments();
    moments.filter(|moment| moment.name.is_some() || moment.value.is_some()).map(|moment| moment.moment).collect()
}

/// How many of these are no more. The word at the cursor may be one.
fn lost<T: PartialEq>(before: &[T], after: &[T]) -> usize {
    before.iter().filter(|item| !after.contains(item)).count()
}

fn without(fork: Fork, key: &str) -> Fork {
    match key {
        "after" => Fork { after: Vec::new(), ..fork },
        "tags" => Fork { tags: Vec::new(), ..fork },
        "run_on" => Fork { run_on: Vec::new(), ..fork },
        "throttle" => Fork { throttle: None, ..fork },
        "overlap" => Fork { overlap: autofork::ir::Overlap::default(), ..fork },
        _ => fork,
    }
}
