//! `textDocument/diagnostic` and `workspace/diagnostic`: what is wrong, for clients that ask.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use gen_lsp_types as lsp;

use super::Refusal;
use crate::findings::{found_everywhere, found_in, show};
use crate::uri;
use crate::view::View;

/// One document.
pub(crate) fn document(
    view: &View<'_>,
    params: &lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReport, Refusal> {
    let path = uri::to_path(&params.text_document.uri);
    let found = path.map(|path| found_in(view, &path)).unwrap_or_default();
    let items: Vec<lsp::Diagnostic> = found.into_iter().map(|found| show(view, found)).collect();
    let id = result_id(&items);
    if params.previous_result_id.as_ref() == Some(&id) {
        return Ok(lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: unchanged(id),
        }
        .into());
    }
    let report = full(id, items);
    let report =
        lsp::RelatedFullDocumentDiagnosticReport { related_documents: None, full_document_diagnostic_report: report };
    Ok(report.into())
}

/// All files of the workspace, open or not.
pub(crate) fn workspace(
    view: &View<'_>,
    params: &lsp::WorkspaceDiagnosticParams,
) -> Result<lsp::WorkspaceDiagnosticReport, Refusal> {
    let known = params.previous_result_ids.iter();
    let mut known: HashMap<&lsp::Uri, &str> = known.map(|known| (&known.uri, known.value.as_str())).collect();
    let mut reports = Vec::new();
    for (path, items) in found_everywhere(view) {
        let uri = view.uri(&path);
        let version = view.shared.documents.get(&*path).map(|open| open.version);
        let id = result_id(&items);
        reports.push(report(known.remove(&uri), uri, version, id, items));
    }
    // Files that are clean now but were not when the client asked last.
    for (uri, known) in known {
        reports.push(report(Some(known), uri.clone(), None, result_id(&[]), Vec::new()));
    }
    Ok(lsp::WorkspaceDiagnosticReport { items: reports })
}

fn report(
    known: Option<&str>,
    uri: lsp::Uri,
    version: Option<i32>,
    id: String,
    items: Vec<lsp::Diagnostic>,
) -> lsp::WorkspaceDocumentDiagnosticReport {
    if known == Some(id.as_str()) {
        return lsp::WorkspaceUnchangedDocumentDiagnosticReport {
            uri,
            version,
            unchanged_document_diagnostic_report: unchanged(id),
        }
        .into();
    }
    let full_document_diagnostic_report = full(id, items);
    lsp::WorkspaceFullDocumentDiagnosticReport { uri, version, full_document_diagnostic_report }.into()
}

fn full(id: String, items: Vec<lsp::Diagnostic>) -> lsp::FullDocumentDiagnosticReport {
    lsp::FullDocumentDiagnosticReport { result_id: Some(id), items }
}

fn unchanged(result_id: String) -> lsp::UnchangedDocumentDiagnosticReport {
    lsp::UnchangedDocumentDiagnosticReport { result_id }
}

/// A name for what was found, the same for the same findings.
fn result_id(items: &[lsp::Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(items).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
