//! From a fork's frontmatter to the typed fork.
//!
//! Each value is handed to the check of the rule that knows it; the check reports what is wrong and gives the value
//! that stands. What is lowered keeps its places beside it, for the rules that look at several files.

mod moments;
mod names;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::body::{Mentions, mentions};
use super::file::ForkFile;
use super::findings::Findings;
use super::keys::{IGNORED_KEYS, KEYS, MARKER};
use super::rules;
use crate::ir::{Body, Fork, ForkName, Overlap, Seconds, Tag};
use crate::syntax::yaml::{Entry, Node, Place, Plain, Value};
use crate::text::Span;

pub(crate) use moments::{MomentPlace, RunOn};
pub use names::{fork_name, spell};
pub(crate) use names::{is_listed, quote, trimmed};

/// What a fork's keys come to, and where its values stand.
#[derive(Debug)]
pub(crate) struct Lowered {
    description: Option<Box<str>>,
    throttle: Option<Seconds>,
    overlap: Overlap,
    /// The fork itself, made when it is first asked for. It says once more what stands here and in most of the file, and
    /// whoever only checks can do without it.
    whole: OnceLock<Arc<Fork>>,
    pub(crate) run_on: RunOn,
    /// The names in `after` as written, the fork's own included.
    pub(crate) after: Vec<(ForkName, Place)>,
    pub(crate) tags: Vec<(Tag, Place)>,
    /// The key `tags`.
    pub(crate) tags_key: Option<Span>,
    /// The throttle's words.
    pub(crate) throttle_words: Option<Span>,
    /// What the instructions say about files and agents.
    pub(crate) mentions: Mentions,
}

/// Lowers a file that is a fork.
pub(crate) fn lower(file: &ForkFile, out: &mut Findings) -> Lowered {
    if let Some(root) = &file.yaml().root {
        rules::duplicate_key::check(root, out);
    }
    let mut seen = HashSet::new();
    for entry in file.entries() {
        // A repeated key was reported as such, whatever else is wrong with it.
        if entry.key.scalar().is_none_or(|key| seen.insert(key.text.as_str())) {
            check_key(file, entry, out);
        }
    }
    let run_on = moments::run_on(file, file.entry("run_on"), out);
    let after = names::after(file, file.entry("after"), out);
    if let Some(entry) = file.entry("after") {
        rules::self_dependency::check(file, entry, &after, out);
    }
    let tags = names::tags(file, file.entry("tags"), out);
    rules::never_fires::check_moments(file, &run_on, out);
    let description = file.entry("description").and_then(|entry| description(entry, out));
    let throttle = file.entry("throttle").and_then(|entry| throttle(file, entry, out));
    let overlap = file.entry("overlap").map(|entry| overlap(file, entry, out)).unwrap_or_default();
    let tags_key = file.entry("tags").map(|entry| entry.key.place().span);
    let words = file.entry("throttle").filter(|_| throttle.is_some()).map(|entry| entry.value.place());
    let throttle_words = words.map(|place| place.words.unwrap_or(place.span));
    let mentions = mentions(file.text(), file.envelope.body);
    // There may be thousands of these.
    let (mut run_on, mut after, mut tags) = (run_on, after, tags);
    run_on.moments.shrink_to_fit();
    after.shrink_to_fit();
    tags.shrink_to_fit();
    let whole = OnceLock::new();
    Lowered { description, throttle, overlap, whole, run_on, after, tags, tags_key, throttle_words, mentions }
}

impl Lowered {
    /// The fork that the file comes to.
    pub(crate) fn fork(&self, file: &ForkFile) -> &Arc<Fork> {
        self.whole.get_or_init(|| {
            Arc::new(Fork {
                name: file.name.clone(),
                path: file.source.path().to_path_buf(),
                description: self.description.as_deref().map(str::to_owned),
                run_on: self.run_on.moments.iter().map(|(moment, _)| *moment).collect(),
                throttle: self.throttle,
                after: self.after.iter().map(|(name, _)| name.clone()).filter(|name| *name != file.name).collect(),
                overlap: self.overlap,
                tags: self.tags.iter().map(|(tag, _)| tag.clone()).collect(),
                body: Body { first_line: first_line(file), text: file.words(file.envelope.body).into() },
            })
        })
    }
}

/// A key that has no meaning here.
fn check_key(file: &ForkFile, entry: &Entry, out: &mut Findings) {
    let Some(key) = entry.key.scalar() else {
        rules::unknown_key::check(file, entry, out);
        return;
    };
    let key = key.text.as_str();
    if rules::invisible_character::check_words(file, &entry.key, "key", "it is another word so, and ignored", out) {
        return;
    }
    if IGNORED_KEYS.contains(&key) {
        rules::ignored_key::check(file, entry, key, out);
    } else if key != MARKER && !KEYS.contains(&key) {
        rules::unknown_key::check(file, entry, out);
    }
}

fn first_line(file: &ForkFile) -> u32 {
    let before = &file.text()[..file.envelope.body.start()];
    let ends = before.bytes().zip(before.bytes().skip(1).chain([0]));
    let count = ends.filter(|pair| pair.0 == b'\n' || (pair.0 == b'\r' && pair.1 != b'\n')).count();
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

fn description(entry: &Entry, out: &mut Findings) -> Option<Box<str>> {
    let text = rules::invalid_type::check_scalar(entry, "description", "text", out)?;
    let text = text.text.trim_end();
    (!text.is_empty()).then(|| text.into())
}

fn throttle(file: &ForkFile, entry: &Entry, out: &mut Findings) -> Option<Seconds> {
    let scalar = rules::invalid_type::check_scalar(entry, "throttle", "a duration", out)?;
    if let Plain::Boolean(_) = scalar.plain() {
        rules::invalid_type::check_boolean(&entry.value, "throttle", out);
        return None;
    }
    if rules::invisible_character::check_words(file, &entry.value, "duration", "the fork runs unthrottled", out) {
        return None;
    }
    rules::invalid_duration::check_throttle(file, &entry.value, scalar, out)
}

fn overlap(file: &ForkFile, entry: &Entry, out: &mut Findings) -> Overlap {
    if let Some(value) = entry.value.boolean() {
        return value.into();
    }
    if let Some(scalar) = rules::invalid_type::check_scalar(entry, "overlap", "`true` or `false`", out) {
        let consequence = "two runs at once stay forbidden";
        if !rules::invisible_character::check_words(file, &entry.value, "value", consequence, out) {
            rules::invalid_boolean::check(file, &entry.value, scalar, out);
        }
    }
    Overlap::default()
}

/// The items of a value that may be one thing or a list of them.
fn items(value: &Node) -> &[Node] {
    match &value.value {
        Value::List(items, _) => items,
        _ => std::slice::from_ref(value),
    }
}
