//! The envelope of a fork file: fences, frontmatter, body.
//!
//! Only the lines up to the closing fence are read one by one. The body is left alone, however long it is.

use pest::Parser as _;

use crate::text::{BYTE_ORDER_MARK, Span};

use grammar::{Grammar, Rule};

/// The generated parser; its rules are documented in the grammar.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/fork_file.pest"]
    pub(super) struct Grammar;
}

/// Where the parts of a fork file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The line that opens the frontmatter, or was meant to; none in a file that does not start with one.
    pub opening: Option<Fence>,
    /// The blank lines before the opening fence.
    pub lead: Span,
    /// What lies between the fences. Without a closing fence it reaches to the line that was meant as one, or else to
    /// the first blank line.
    pub frontmatter: Span,
    /// The line that closes the frontmatter.
    pub closing: Option<Fence>,
    /// The first line inside of the frontmatter that was meant as a closing fence but is none.
    pub stray: Option<Fence>,
    /// Where `...` closes the frontmatter: what lies between it and a `---` further down.
    pub cut_off: Option<Span>,
    /// What follows the closing fence. Without frontmatter it is everything.
    pub body: Span,
}

/// A line that is a fence, or was meant as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The line without its end.
    pub span: Span,
    /// What it looks like.
    pub shape: Shape,
}

/// What a fence line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `---`
    Fence,
    /// `...`
    DocumentEnd,
    /// `----` or longer.
    Long,
    /// `---` and then text, which is at the given place.
    Glued(Span),
    /// Something before the dashes, which is at the given place.
    Late(Span),
}

impl Fence {
    /// Whether it is a fence and not only meant as one.
    pub fn is_proper(self) -> bool {
        matches!(self.shape, Shape::Fence | Shape::DocumentEnd)
    }
}

/// Takes a fork file apart.
pub fn split(text: &str) -> Envelope {
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let mut lines = Lines { text, at: start };
    let mut first = lines.next();
    let mut lead = Span::at(start);
    while let Some(line) = first.filter(|line| line.is_blank(text)) {
        lead.end = line.next.end;
        first = lines.next();
    }
    let opening = first.and_then(|line| fence(text, line.span)).filter(|fence| fence.shape != Shape::DocumentEnd);
    let Some(opening) = opening else {
        return Envelope {
            opening: None,
            lead: Span::at(start),
            frontmatter: Span::at(start),
            closing: None,
            stray: None,
            cut_off: None,
            body: Span::new(start, text.len()),
        };
    };
    close(text, opening, lead, lines)
}

/// Looks for the end of the frontmatter that `opening` opened.
fn close(text: &str, opening: Fence, lead: Span, mut lines: Lines<'_>) -> Envelope {
    let start = lines.at;
    let mut blank = None;
    let mut stray: Option<Fence> = None;
    let mut closing = None;
    for line in lines.by_ref() {
        if line.is_blank(text) {
            blank.get_or_insert(line.span.start());
        } else if let Some(fence) = fence(text, line.span) {
            // After a malformed opening fence, the closing one tends to be malformed in the same way.
            if fence.is_proper() || (!opening.is_proper() && fence.shape == Shape::Long) {
                closing = Some(fence);
                break;
            }
            stray.get_or_insert(fence);
        }
    }
    let (frontmatter, body) = match (closing, stray) {
        (Some(closing), _) => (Span::new(start, closing.span.start()), Span::new(lines.at, text.len())),
        (None, Some(stray)) => (Span::new(start, stray.span.start()), Span::at(text.len())),
        (None, None) => (Span::new(start, blank.unwrap_or(text.len())), Span::at(text.len())),
    };
    let cut_off = closing.filter(|fence| fence.shape == Shape::DocumentEnd).and_then(|_| {
        let mut rest = Lines { text, at: body.start() };
        let fence = rest.find(|line| fence(text, line.span).is_some_and(|fence| fence.shape == Shape::Fence))?;
        Some(Span::new(body.start(), fence.span.start()))
    });
    Envelope { opening: Some(opening), lead, frontmatter, closing, stray, cut_off, body }
}

/// The key at the start of a line, if the line begins with one in its first column.
pub fn key_at_line_start(line: &str) -> Option<&str> {
    // Most lines that are no key show it in their first character.
    if line.is_empty() || line.starts_with([' ', '\t', '-', '#']) || !line.contains(':') {
        return None;
    }
    let pairs = Grammar::parse(Rule::key_line, line).ok()?;
    pairs.flatten().find(|pair| pair.as_rule() == Rule::key).map(|pair| pair.as_str())
}

/// The keys at the start of the lines of a part of `text`, with their places.
pub fn keys_at_line_start(text: &str, part: Span) -> impl Iterator<Item = (&str, Span)> {
    lines(text, part).filter_map(move |line| {
        let key = key_at_line_start(line.of(text))?;
        let quotes = usize::from(line.of(text).starts_with(['"', '\'']));
        Some((key, Span::new(line.start() + quotes, line.start() + quotes + key.len())))
    })
}

/// The lines of a part of `text`, without their ends.
pub fn lines(text: &str, part: Span) -> impl Iterator<Item = Span> {
    let bounded = &text[..part.end().min(text.len())];
    Lines { text: bounded, at: part.start() }.map(|line| line.span)
}

fn fence(text: &str, line: Span) -> Option<Fence> {
    let content = line.of(text);
    if content == "---" {
        return Some(Fence { span: line, shape: Shape::Fence });
    }
    // Most lines have no two dashes in a row, and need no grammar to be told apart from a fence.
    if !content.as_bytes().windows(2).any(|pair| pair == b"--") && !content.starts_with("...") {
        return None;
    }
    let pair = Grammar::parse(Rule::envelope_line, content).ok()?.next()?;
    let inner = |rule: Rule| {
        let part = pair.clone().into_inner().find(|part| part.as_rule() == rule);
        part.map_or(line, |part| Span::new(part.as_span().start(), part.as_span().end()).shifted(line.start()))
    };
    let shape = match pair.as_rule() {
        Rule::fence => Shape::Fence,
        Rule::document_end => Shape::DocumentEnd,
        Rule::long_fence => Shape::Long,
        Rule::glued_fence => Shape::Glued(inner(Rule::glue)),
        _ => Shape::Late(inner(Rule::before)),
    };
    Some(Fence { span: line, shape })
}

struct Lines<'a> {
    text: &'a str,
    at: usize,
}

#[derive(Clone, Copy)]
struct Line {
    /// Without its end.
    span: Span,
    /// The end of the line.
    next: Span,
}

impl Line {
    fn is_blank(self, text: &str) -> bool {
        self.span.of(text).trim_matches([' ', '\t']).is_empty()
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.at >= self.text.len() {
            return None;
        }
        let rest = &self.text.as_bytes()[self.at..];
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let end = match &rest[length..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let span = Span::new(self.at, self.at + length);
        self.at += length + end;
        Some(Line { span, next: Span::new(span.end(), self.at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Option<Shape>, &str, Option<Shape>, &str) {
        let envelope = split(text);
        let shape = |fence: Option<Fence>| fence.map(|fence| fence.shape);
        (shape(envelope.opening), envelope.frontmatter.of(text), shape(envelope.closing), envelope.body.of(text))
    }

    #[test]
    fn a_plain_file_comes_apart() {
        let found = parts("---\nfork: true\n---\nTidy.\n");
        assert_eq!(found, (Some(Shape::Fence), "fork: true\n", Some(Shape::Fence), "Tidy.\n"));
    }

    #[test]
    fn any_line_end_and_a_byte_order_mark_will_do() {
        let found = parts("\u{feff}--- \r\nfork: true\r\n---\t\r\nTidy.\r\n");
        assert_eq!(found, (Some(Shape::Fence), "fork: true\r\n", Some(Shape::Fence), "Tidy.\r\n"));
        let found = parts("---\rfork: true\r---\rTidy.\r");
        assert_eq!(found, (Some(Shape::Fence), "fork: true\r", Some(Shape::Fence), "Tidy.\r"));
    }

    #[test]
    fn rules_in_the_body_are_left_alone() {
        let text = "---\nfork: true\n---\nOne\n\n---\n\nfork: false\n";
        assert_eq!(parts(text).3, "One\n\n---\n\nfork: false\n");
    }

    #[test]
    fn a_file_without_a_fence_is_all_body() {
        assert_eq!(parts("# Notes\n---\n"), (None, "", None, "# Notes\n---\n"));
        assert_eq!(parts(""), (None, "", None, ""));
        assert_eq!(parts("...\nfork: true\n---\n").0, None);
    }

    #[test]
    fn an_unclosed_frontmatter_ends_at_the_first_blank_line() {
        assert_eq!(parts("---\nfork: true\n\nTidy.\n"), (Some(Shape::Fence), "fork: true\n", None, ""));
    }

    #[test]
    fn what_was_meant_as_a_fence_is_known() {
        let envelope = split("---\nfork: true\n---# Tidy\nDo it.\n");
        assert_eq!(envelope.closing, None);
        assert_eq!(envelope.stray.map(|fence| fence.shape), Some(Shape::Glued(Span::new(18, 24))));
        assert_eq!(split(" ---\nfork: true\n---\n").opening.unwrap().shape, Shape::Late(Span::new(0, 1)));
        assert_eq!(split("----\nfork: true\n----\n").closing.unwrap().shape, Shape::Long);
    }

    #[test]
    fn keys_are_found_at_the_start_of_lines_only() {
        let text = "fork: true\n  idle: 3\n\"tags\": []\n- run_on: 3\nthrottle:30m\nafter:\n# x: y\n";
        let keys: Vec<_> = keys_at_line_start(text, Span::new(0, text.len())).map(|(key, _)| key).collect();
        assert_eq!(keys, ["fork", "tags", "after"]);
    }
}
