//! `textDocument/foldingRange`: the frontmatter, and the sections and code of the instructions.

use autofork::syntax::envelope;
use autofork::text::Span;
use gen_lsp_types as lsp;

use super::{Refusal, settings};
use crate::view::{Content, View};

/// The request.
pub(crate) fn folding_range(
    view: &View<'_>,
    params: &lsp::FoldingRangeParams,
) -> Result<Option<Vec<lsp::FoldingRange>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let text = file.text.as_str();
    let mut spans = Vec::new();
    match &file.content {
        Content::Fork(fork) => {
            let fork = &fork.file;
            spans.extend(fork.opening().zip(fork.closing()).map(|(opening, closing)| opening.to(closing)));
            let keys: Vec<Span> =
                envelope::keys_at_line_start(text, fork.frontmatter()).map(|(_, span)| span).collect();
            let ends = keys.iter().skip(1).map(|span| span.start()).chain([fork.frontmatter().end()]);
            spans.extend(keys.iter().zip(ends).map(|(key, end)| trimmed(text, Span::new(key.start(), end))));
            spans.extend(headings(text, fork.body()).into_iter().map(|heading| heading.section));
        }
        Content::Config(_) => {
            let tables = settings::lines(text).filter(|line| settings::header(text, *line).is_some());
            let tables: Vec<usize> = tables.map(Span::start).collect();
            let ends = tables.iter().skip(1).copied().chain([text.len()]);
            spans.extend(tables.iter().zip(ends).map(|(start, end)| trimmed(text, Span::new(*start, end))));
        }
    }
    let ranges = spans.into_iter().map(|span| {
        let (start, end) = (file.text.position(span.start()).line, file.text.position(span.end()).line);
        lsp::FoldingRange { start_line: start, end_line: end, ..Default::default() }
    });
    Ok(Some(ranges.filter(|range| range.start_line < range.end_line).collect()))
}

fn trimmed(text: &str, span: Span) -> Span {
    Span::new(span.start(), span.start() + span.of(text).trim_end().len())
}

/// A heading, and what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading {
    /// Its words.
    pub(crate) title: Span,
    /// Everything up to the next heading that is as weighty.
    pub(crate) section: Span,
}

/// The headings of a part of a text, code left out.
pub(crate) fn headings(text: &str, part: Span) -> Vec<Heading> {
    let mut found: Vec<(usize, Span, usize)> = Vec::new();
    let mut in_code = false;
    for line in envelope::lines(text, part) {
        let words = line.of(text);
        in_code ^= words.trim_start().starts_with("```");
        let depth = words.len() - words.trim_start_matches('#').len();
        let title = &words[depth..];
        if !in_code && (1..=6).contains(&depth) && title.starts_with(' ') {
            let lead = title.len() - title.trim_start().len();
            let start = line.start() + depth + lead;
            found.push((depth, Span::new(start, start + title.trim().len()), line.start()));
        }
    }
    let headings = found.iter().enumerate().map(|(index, (depth, title, start))| {
        let next = found[index + 1..].iter().find(|(other, ..)| other <= depth);
        let end = next.map_or(part.end(), |(.., start)| *start);
        Heading { title: *title, section: trimmed(text, Span::new(*start, end)) }
    });
    headings.collect()
}
