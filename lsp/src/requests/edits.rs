//! Edits for the client to make.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use autofork::text::Span;
use gen_lsp_types as lsp;

use crate::view::View;

/// Replacements of text, by file.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    by_file: BTreeMap<Arc<Path>, Vec<(Span, String)>>,
}

impl Edits {
    /// Adds a replacement; the same one twice is one.
    pub(crate) fn replace(&mut self, path: &Path, span: Span, text: impl Into<String>) {
        let edits = self.by_file.entry(path.into()).or_default();
        let edit = (span, text.into());
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_file.is_empty()
    }

    /// As the client understands them, followed by renamings of files.
    pub(crate) fn finish(self, view: &View<'_>, renames: Vec<lsp::RenameFile>) -> lsp::WorkspaceEdit {
        let files = self.by_file.into_iter().map(|(path, mut edits)| {
            edits.sort_by_key(|(span, _)| *span);
            let text = view.text(&path);
            let range = |span| text.as_ref().map(|text| text.range(span)).unwrap_or_default();
            let edits = edits.into_iter().map(|(span, new_text)| lsp::TextEdit { range: range(span), new_text });
            (path, edits.collect::<Vec<_>>())
        });
        if !view.shared.client.versioned_edits.is_there() && renames.is_empty() {
            let changes: HashMap<_, _> = files.map(|(path, edits)| (view.uri(&path), edits)).collect();
            return lsp::WorkspaceEdit { changes: Some(changes), ..Default::default() };
        }
        let edits = files.map(|(path, edits)| {
            let version = view.shared.documents.get(&*path).map(|open| open.version);
            let text_document_identifier = lsp::TextDocumentIdentifier { uri: view.uri(&path) };
            lsp::DocumentChange::TextDocumentEdit(lsp::TextDocumentEdit {
                text_document: lsp::OptionalVersionedTextDocumentIdentifier { version, text_document_identifier },
                edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
            })
        });
        let changes = edits.chain(renames.into_iter().map(lsp::DocumentChange::RenameFile)).collect();
        lsp::WorkspaceEdit { document_changes: Some(changes), ..Default::default() }
    }
}
