//! `duplicate-key`

use std::collections::{HashMap, HashSet};

use crate::compile::findings::Findings;
use crate::syntax::yaml::{Entry, Node, Value};
use crate::text::{Span, brief};

rule! {
    /// A key that stands twice in one mapping.
    ///
    /// The first one counts and the later one has no effect, which is rarely what its author believes: YAML does not say
    /// which one counts, and tools differ.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 10m
    /// throttle: 2h
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 2h
    /// ---
    /// Tidy.
    /// ```
    "duplicate-key", Error, Yaml, None
}

/// Among so few keys each is compared with those before it; among more it is looked up.
const FEW: usize = 16;

/// Looks at every mapping of the frontmatter that is not there through an alias.
pub(crate) fn check(node: &Node, out: &mut Findings) {
    if node.alias.is_some() {
        return;
    }
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(items, _) => items.iter().for_each(|item| check(item, out)),
        Value::Map(entries, _) => {
            if entries.len() <= FEW {
                check_few(entries, out);
            } else {
                check_many(entries, out);
            }
            for entry in entries {
                check(&entry.value, out);
            }
        }
    }
}

/// Whether a key stands twice among these: the second has no effect, and a fix must not give it one.
pub(crate) fn occurs(entries: &[Entry]) -> bool {
    let mut seen = HashSet::new();
    !entries.iter().filter_map(|entry| entry.key.scalar()).all(|key| seen.insert(key.text.as_str()))
}

fn check_few(entries: &[Entry], out: &mut Findings) {
    for (index, entry) in entries.iter().enumerate() {
        let Some(key) = entry.key.scalar() else { continue };
        let same = |other: &&Entry| other.key.scalar().is_some_and(|other| other.text == key.text);
        if let Some(first) = entries[..index].iter().find(same) {
            report(&key.text, entry.key.span, first.key.span, out);
        }
    }
}

fn check_many(entries: &[Entry], out: &mut Findings) {
    let mut first: HashMap<&str, Span> = HashMap::with_capacity(entries.len());
    for entry in entries {
        let Some(key) = entry.key.scalar() else { continue };
        match first.get(key.text.as_str()) {
            Some(first) => report(&key.text, entry.key.span, *first, out),
            None => drop(first.insert(&key.text, entry.key.span)),
        }
    }
}

fn report(key: &str, span: Span, first: Span, out: &mut Findings) {
    let key = brief(key);
    out.report(&RULE, span, format!("the key `{key}` stands twice; the first one counts, this one has no effect"))
        .label("has no effect")
        .also(first, "this one counts")
        .help("keep the one that is meant and remove the other");
}
