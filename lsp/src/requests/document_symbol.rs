//! `textDocument/documentSymbol`: the fork, its keys, and the headings of its instructions.

use autofork::syntax::envelope;
use autofork::text::{Span, visible};
use gen_lsp_types as lsp;

use super::Refusal;
use super::folding_range::headings;
use super::settings;
use crate::view::{Content, File, View};

/// The request.
pub(crate) fn document_symbol(
    view: &View<'_>,
    params: &lsp::DocumentSymbolParams,
) -> Result<Option<lsp::DocumentSymbolResponse>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let symbols = match &file.content {
        Content::Fork(fork) => in_fork(&file, &fork.file),
        Content::Config(_) => in_config(&file),
    };
    Ok(Some(lsp::DocumentSymbolResponse::DocumentSymbolList(symbols)))
}

fn symbol(file: &File<'_>, name: &str, kind: lsp::SymbolKind, whole: Span, words: Span) -> lsp::DocumentSymbol {
    // A client refuses the whole list for a symbol without a name.
    let shown = visible(name.trim());
    let name = if shown.is_empty() { "?".to_owned() } else { shown.into_owned() };
    let range = file.text.range(whole);
    lsp::DocumentSymbol { name, kind, range, selection_range: file.text.range(words), ..symbol_base() }
}

fn symbol_base() -> lsp::DocumentSymbol {
    lsp::DocumentSymbol::new(
        String::new(),
        None,
        lsp::SymbolKind::Property,
        None,
        None,
        lsp::Range::default(),
        lsp::Range::default(),
        None,
    )
}

fn in_fork(file: &File<'_>, fork: &autofork::compile::ForkFile) -> Vec<lsp::DocumentSymbol> {
    let text = file.text.as_str();
    let keys: Vec<(&str, Span)> = envelope::keys_at_line_start(text, fork.frontmatter()).collect();
    let ends = keys.iter().skip(1).map(|(_, span)| span.start()).chain([fork.frontmatter().end()]);
    let keys = keys.iter().zip(ends).map(|((key, span), end)| {
        let whole = Span::new(span.start(), span.start() + text[span.start()..end.max(span.end())].trim_end().len());
        symbol(file, key, lsp::SymbolKind::Property, whole, *span)
    });
    let sections = headings(text, fork.body());
    let sections = sections
        .iter()
        .map(|heading| symbol(file, heading.title.of(text), lsp::SymbolKind::String, heading.section, heading.title));
    let children: Vec<_> = keys.chain(sections).collect();
    let Some(fence) = fork.opening() else { return children };
    let whole = Span::new(fence.start(), text.len());
    let detail = file.fork().and_then(|fork| fork.description.as_deref().map(|text| visible(text).into_owned()));
    let root = symbol(file, fork.name.as_str(), lsp::SymbolKind::Event, whole, fence);
    vec![lsp::DocumentSymbol { detail, children: Some(children), ..root }]
}

fn in_config(file: &File<'_>) -> Vec<lsp::DocumentSymbol> {
    let text = file.text.as_str();
    let mut found: Vec<lsp::DocumentSymbol> = Vec::new();
    for line in settings::lines(text) {
        if let Some((name, words)) = settings::header(text, line) {
            let table = symbol(file, name, lsp::SymbolKind::Module, line, words);
            found.push(lsp::DocumentSymbol { children: Some(Vec::new()), ..table });
        } else if let Some((key, words)) = settings::setting(text, line) {
            let key = symbol(file, key, lsp::SymbolKind::Property, line, words);
            match found.last_mut().filter(|last| last.children.is_some()) {
                Some(table) => {
                    table.range.end = key.range.end;
                    table.children.get_or_insert_default().push(key);
                }
                None => found.push(key),
            }
        }
    }
    found
}
