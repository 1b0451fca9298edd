//! Recovery: a text that does not parse is cut at the keys of its first column, and each piece is parsed alone.

use std::collections::HashMap;

use super::build::{Limits, build};
use super::fault::{self, Fault, FaultKind};
use super::{Node, Value};
use crate::syntax::envelope::{key_at_line_start, lines};
use crate::text::{Span, is_invisible};

/// The first fault of each faulty piece; `whole`, the fault of the whole, if every piece is sound by itself.
pub(super) fn faults(text: &str, part: Span, whole: Fault) -> Vec<Fault> {
    let anchors = anchors(text, part);
    let mut found: Vec<Fault> = pieces(text, part).filter_map(|piece| fault_of(text, &anchors, piece)).collect();
    if found.is_empty() {
        found.push(blame_invisible(text, part, whole));
    }
    found
}

fn pieces(text: &str, part: Span) -> impl Iterator<Item = Span> {
    let mut starts: Vec<usize> = Vec::new();
    for line in lines(text, part) {
        if key_at_line_start(line.of(text)).is_some() {
            starts.push(line.start());
        }
    }
    if starts.first() != Some(&part.start()) {
        starts.insert(0, part.start());
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([part.end()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| Span::new(start, end))
}

/// Where each anchor first stands, as far as that can be told without a parser.
fn anchors(text: &str, part: Span) -> HashMap<&str, usize> {
    let mut anchors = HashMap::new();
    for (at, _) in part.of(text).match_indices('&').map(|(at, sign)| (at + part.start(), sign)) {
        let name = &text[at + 1..part.end()];
        let length = name.find(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | '&'));
        anchors.entry(&name[..length.unwrap_or(name.len())]).or_insert(at);
    }
    anchors
}

fn fault_of(text: &str, anchors: &HashMap<&str, usize>, piece: Span) -> Option<Fault> {
    match build(piece.of(text), piece.start(), Limits::default()) {
        Err(fault) => Some(blame_invisible(text, piece, fault)),
        Ok(built) => {
            // Its anchor may stand in another piece.
            let defined = |name: &str| anchors.get(name).is_some_and(|at| *at < piece.start());
            let unknown = built.unknown_aliases.into_iter().find(|fault| match &fault.kind {
                FaultKind::UnknownAlias(name) => !defined(name),
                _ => true,
            });
            let lone = || built.root.as_ref().filter(|root| !is_map(root)).map(not_a_key);
            unknown.or_else(|| lone().map(|fault| blame_invisible(text, piece, fault)))
        }
    }
}

fn is_map(root: &Node) -> bool {
    matches!(root.value, Value::Map(..)) || root.is_null()
}

fn not_a_key(root: &Node) -> Fault {
    Fault::new(FaultKind::NotAKey, root.span)
}

/// The character that makes a text of a mapping, if one does.
pub(super) fn hidden_mapping(text: &str, part: Span, root: &Node) -> Option<Fault> {
    if is_map(root) || !matches!(root.value, Value::Scalar(_)) {
        return None;
    }
    Some(blame_invisible(text, part, not_a_key(root))).filter(|fault| matches!(fault.kind, FaultKind::Invisible(_)))
}

/// If the piece parses once its invisible characters are blanks, or gone, the one nearest to the fault is to blame.
fn blame_invisible(text: &str, piece: Span, fault: Fault) -> Fault {
    let words = piece.of(text);
    if !words.contains(is_invisible) {
        return fault;
    }
    let parses =
        |words: &str| build(words, 0, Limits::default()).is_ok_and(|built| built.root.as_ref().is_some_and(is_map));
    if !parses(&words.replace(is_invisible, " ")) && !parses(&words.replace(is_invisible, "")) {
        return fault;
    }
    let at = fault.span.start().saturating_sub(piece.start());
    let line = (fault::line_start(words, at), fault::line_end(words, at));
    let blamed = fault::invisible_in(words, line.0, line.1).or_else(|| fault::invisible_in(words, 0, words.len()));
    match blamed {
        Some((at, character)) => Fault::new(
            FaultKind::Invisible(character),
            Span::new(at, at + character.len_utf8()).shifted(piece.start()),
        ),
        None => fault,
    }
}
