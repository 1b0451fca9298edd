//! Suppressions: comments that switch rules off for their line and the one below.

use std::path::Path;
use std::sync::Arc;

use super::findings::Findings;
use super::rules::unused_suppression;
use crate::diagnostic::Diagnostic;
use crate::syntax::suppression;
use crate::text::{Source, Span};

/// A comment that switches rules off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suppression {
    /// From the hash sign to the end of the line.
    pub(crate) comment: Span,
    /// The names of the rules.
    pub(crate) rules: Vec<String>,
    /// The lines, from 0, that it speaks for.
    pub(crate) lines: (usize, usize),
}

/// The suppressions in a part of a file.
pub(crate) fn suppressions(source: &Source, part: Span) -> Vec<Suppression> {
    let text = source.text();
    // Most files have none, and it takes no lines to see that.
    if memchr::memmem::find(part.of(text).as_bytes(), b"autofork:").is_none() {
        return Vec::new();
    }
    let mut found: Vec<Suppression> = Vec::new();
    for line in source.line_of(part.start())..=source.line_of(part.end().max(1) - 1) {
        let span = source.line_span(line);
        let words = span.of(text).trim_end();
        let hashes = words.match_indices('#').filter(|(at, _)| *at == 0 || words[..*at].ends_with([' ', '\t']));
        for (at, _) in hashes {
            if let Some(rules) = suppression::parse(&words[at..]) {
                let comment = Span::new(span.start() + at, span.start() + words.len());
                let rules = rules.into_iter().map(|(name, _)| name.to_owned()).collect();
                found.push(Suppression { comment, rules, lines: (line, line + 1) });
                break;
            }
        }
    }
    reach_down(source, &mut found);
    found
}

/// Comments above each other all speak for the first line below them that is none.
fn reach_down(source: &Source, found: &mut [Suppression]) {
    for index in (0..found.len().saturating_sub(1)).rev() {
        let below = &found[index + 1];
        let alone = source.line_text(below.lines.0).trim_start().starts_with('#');
        if alone && below.lines.0 == found[index].lines.1 {
            found[index].lines.1 = below.lines.1;
        }
    }
}

/// Takes out of `diagnostics`, all of them, what the suppressions of one file switch off, and adds what there is to say
/// about suppressions that switch off nothing.
pub(crate) fn apply(source: &Source, suppressions: &[Suppression], diagnostics: &mut Vec<Diagnostic>) {
    let path: &Arc<Path> = source.path();
    let mut used = vec![Vec::new(); suppressions.len()];
    diagnostics.retain(|found| {
        if found.path != *path {
            return true;
        }
        let line = source.line_of(found.span.start());
        let hides = |suppression: &Suppression| {
            (suppression.lines.0..=suppression.lines.1).contains(&line)
                && suppression.rules.iter().any(|rule| rule == found.rule.name)
        };
        let mut hidden = false;
        for (suppression, used) in suppressions.iter().zip(&mut used) {
            if hides(suppression) {
                used.push(found.rule.name);
                hidden = true;
            }
        }
        !hidden
    });
    let mut out = Findings::new(path.clone());
    for (suppression, used) in suppressions.iter().zip(&used) {
        let unused: Vec<&str> =
            suppression.rules.iter().map(String::as_str).filter(|rule| !used.contains(rule)).collect();
        if !unused.is_empty() {
            unused_suppression::check(source, suppression, &unused, &mut out);
        }
    }
    diagnostics.extend(out.into_sorted());
}
