//! `textDocument/documentLink`: the files that instructions say to read or write.

use std::path::PathBuf;

use autofork::project;
use gen_lsp_types as lsp;

use super::Refusal;
use crate::uri;
use crate::view::{File, View};

/// The request.
pub(crate) fn document_link(
    view: &View<'_>,
    params: &lsp::DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let Some(fork) = file.fork_file() else { return Ok(None) };
    let links = fork.file.file_mentions().filter_map(|(path, span)| {
        let target = uri::of_path(&resolve(view, &file, path)?);
        Some(lsp::DocumentLink { range: file.text.range(span), target: Some(target), ..Default::default() })
    });
    Ok(Some(links.collect()))
}

/// The file that a path in instructions means, if there is one: from the fork's folder, else from the project's root.
pub(crate) fn resolve(view: &View<'_>, file: &File<'_>, path: &str) -> Option<PathBuf> {
    let bases = [file.path.parent(), Some(view.snapshot.root(file.scope).as_path())];
    let candidates = bases.into_iter().flatten().map(|base| project::cleaned(&base.join(path)));
    candidates.into_iter().find(|path| view.snapshot.exists(path))
}
