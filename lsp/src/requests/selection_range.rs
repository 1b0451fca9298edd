//! `textDocument/selectionRange`: from a word outwards.

use autofork::syntax::yaml::{self, Node, Value};
use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use super::completion::is_word;
use super::target::{floor, line_around, touches};
use crate::view::{File, View};

/// The request.
pub(crate) fn selection_range(
    view: &View<'_>,
    params: &lsp::SelectionRangeParams,
) -> Result<Option<Vec<lsp::SelectionRange>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let ranges = params.positions.iter().map(|position| {
        let spans = around(&file, file.text.offset(*position));
        let whole = lsp::SelectionRange { range: file.text.whole(), parent: None };
        spans.into_iter().fold(whole, |parent, span| lsp::SelectionRange {
            range: file.text.range(span),
            parent: Some(Box::new(parent)),
        })
    });
    Ok(Some(ranges.collect()))
}

/// What lies around a byte, the largest first, each inside of the one before it.
fn around(file: &File<'_>, offset: usize) -> Vec<Span> {
    let text = file.text.as_str();
    let offset = floor(text, offset);
    let mut spans = Vec::new();
    if let Some(fork) = file.fork_file() {
        let (frontmatter, body) = (fork.file.frontmatter(), fork.file.body());
        if touches(frontmatter, offset) && !frontmatter.is_empty() {
            spans.push(frontmatter);
            if let Some(root) = yaml::parse(text, frontmatter).root {
                nodes(&root, offset, &mut spans);
            }
        } else if touches(body, offset) {
            spans.push(body);
            spans.push(paragraph(text, body, offset));
        }
    }
    spans.push(line_around(text, offset));
    spans.push(word(text, offset));
    nested(spans, offset, text.len())
}

/// Leaves out what does not lie in the one before it, or is the same.
fn nested(spans: Vec<Span>, offset: usize, length: usize) -> Vec<Span> {
    let mut kept: Vec<Span> = Vec::new();
    let mut outer = Span::new(0, length);
    for span in spans {
        let inside = outer.start() <= span.start() && span.end() <= outer.end();
        if inside && span != outer && touches(span, offset) {
            kept.push(span);
            outer = span;
        }
    }
    kept
}

fn nodes(node: &Node, offset: usize, spans: &mut Vec<Span>) {
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(items, _) => {
            if let Some(item) = items.iter().find(|item| item.alias.is_none() && touches(item.span, offset)) {
                spans.push(item.span);
                nodes(item, offset, spans);
            }
        }
        Value::Map(entries, _) => {
            let whole = |entry: &&yaml::Entry| touches(entry.key.span.to(entry.value.span), offset);
            if let Some(entry) = entries.iter().find(whole) {
                spans.push(entry.key.span.to(entry.value.span));
                let part = if touches(entry.key.span, offset) { &entry.key } else { &entry.value };
                spans.push(part.span);
                nodes(part, offset, spans);
            }
        }
    }
}

fn paragraph(text: &str, part: Span, offset: usize) -> Span {
    let before = text.get(part.start()..offset).unwrap_or("");
    let after = text.get(offset..part.end()).unwrap_or("");
    let start = before.rfind("\n\n").map_or(part.start(), |at| part.start() + at + 2);
    let end = after.find("\n\n").map_or(part.end(), |at| offset + at);
    Span::new(start, end)
}

fn word(text: &str, offset: usize) -> Span {
    let before = &text[..offset];
    let start =
        before.rfind(|c| !is_word(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[offset..].find(|c| !is_word(c)).map_or(text.len(), |at| offset + at);
    Span::new(start, end)
}
