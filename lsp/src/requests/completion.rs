//! `textDocument/completion`: what may stand at the cursor.
//!
//! The text around the cursor decides, not the tree: what is being typed is mostly no YAML yet. What is found so is a
//! guess, so every offer is tried before it is made.

mod config;
mod fork;
mod item;
mod names;
mod setting;
mod tried;

use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use super::settings::first;
use super::target::{floor, line_around};
use crate::position::Text;
use crate::view::{Content, View};
use tried::Promise;

/// The request.
pub(crate) fn completion(
    view: &View<'_>,
    params: &lsp::CompletionParams,
) -> Result<Option<lsp::CompletionResponse>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let cursor = Cursor::new(&file.text, file.text.offset(place.position));
    let offers = match &file.content {
        Content::Fork(compiled) => tried::in_fork(compiled, &cursor, fork::offers(&file, compiled, &cursor)),
        Content::Config(set) => {
            tried::in_config(&file, set.layer, &cursor, config::offers(&file, set.layer, &cursor))
        }
    };
    let items = offers.into_iter().enumerate();
    let items = items.map(|(index, offer)| offer.item(index, &file.text, view.shared.client.snippets.is_there()));
    Ok(Some(lsp::CompletionResponse::CompletionItemList(items.collect())))
}

/// The line at the cursor.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    pub(crate) line: Span,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a Text, offset: usize) -> Self {
        let text = text.as_str();
        let offset = floor(text, offset).max(first(text));
        let line = line_around(text, offset);
        Self { text, offset, line: Span::new(line.start().max(first(text)), line.end()) }
    }

    /// The line up to the cursor.
    pub(crate) fn before(&self) -> &'a str {
        &self.text[self.line.start()..self.offset]
    }

    /// The line from the cursor on.
    pub(crate) fn after(&self) -> &'a str {
        &self.text[self.offset..self.line.end()]
    }

    /// The word around the cursor, if it began `back` bytes before it and goes on over letters that `belongs` knows.
    pub(crate) fn word(&self, back: usize, belongs: fn(char) -> bool) -> Span {
        let rest = self.after();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        Span::new(self.offset - back, self.offset + length)
    }
}

/// Letters of keys, names and values.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '%' | '.' | '/')
}

/// Something that may stand at the cursor.
pub(crate) struct Offer {
    label: String,
    kind: lsp::CompletionItemKind,
    detail: String,
    docs: String,
    /// What it replaces.
    span: Span,
    insert: String,
    is_snippet: bool,
    promise: Promise,
    /// It replaces a whole file that has nothing in it yet.
    replaces_all: bool,
}

impl Offer {
    fn new(label: impl Into<String>, kind: lsp::CompletionItemKind, span: Span, promise: Promise) -> Self {
        let label = label.into();
        let insert = label.clone();
        let (detail, docs) = (String::new(), String::new());
        Self { label, kind, detail, docs, span, insert, is_snippet: false, promise, replaces_all: false }
    }

    /// A text once this is taken, its places not filled in. Of `shift` the first is where a part of the file begins, the
    /// second where that part is in the text.
    fn taken(&self, text: &str, (from, to): (usize, usize)) -> String {
        let insert = if self.is_snippet { &plain(&self.insert) } else { &self.insert };
        let part = |at: usize| at + to - from;
        [&text[..part(self.span.start())], insert, &text[part(self.span.end())..]].concat()
    }

    pub(crate) fn inserts(mut self, text: impl Into<String>) -> Self {
        self.insert = text.into();
        self
    }

    /// A text with places to fill in, `$1` and `${2:like this}`.
    pub(crate) fn snippet(mut self, text: impl Into<String>) -> Self {
        self.insert = text.into();
        self.is_snippet = true;
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    pub(crate) fn docs(mut self, docs: impl Into<String>) -> Self {
        self.docs = docs.into();
        self
    }

    fn item(self, index: usize, text: &Text, snippets: bool) -> lsp::CompletionItem {
        let present = |text: String| (!text.is_empty()).then_some(text);
        let markdown =
            |value| lsp::Documentation::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value });
        let new_text = if self.is_snippet && !snippets { plain(&self.insert) } else { self.insert };
        let edit = lsp::TextEdit { range: text.range(self.span), new_text };
        lsp::CompletionItem {
            filter_text: Some(self.label.clone()),
            label: self.label,
            kind: Some(self.kind),
            detail: present(self.detail),
            documentation: present(self.docs).map(markdown),
            sort_text: Some(format!("{index:04}")),
            insert_text_format: Some(if self.is_snippet && snippets {
                lsp::InsertTextFormat::Snippet
            } else {
                lsp::InsertTextFormat::PlainText
            }),
            text_edit: Some(lsp::CompletionItemTextEdit::TextEdit(edit)),
            ..Default::default()
        }
    }
}

/// A text that stands for itself in a snippet.
pub(crate) fn snippet_text(text: &str) -> String {
    text.replace('\\', r"\\").replace('$', r"\$").replace('}', r"\}")
}

/// A snippet's text without its places.
fn plain(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some(at) = rest.find(['$', '\\']) {
        text.push_str(&rest[..at]);
        let is_escape = rest[at..].starts_with('\\');
        rest = &rest[at + 1..];
        if is_escape {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            text.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(inner) = rest.strip_prefix('{') {
            let end = inner.find('}').unwrap_or(inner.len());
            text.push_str(inner[..end].split_once(':').map_or("", |(_, words)| words));
            rest = inner.get(end + 1..).unwrap_or("");
        } else {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_reads_well_without_its_places() {
        assert_eq!(plain("a: ${1:b}\n$0c $2"), "a: b\nc ");
        assert_eq!(plain(&snippet_text(r#"$1 \{} "x""#)), r#"$1 \{} "x""#, "and what stands for itself is kept");
    }
}
