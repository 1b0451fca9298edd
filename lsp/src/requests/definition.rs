//! `textDocument/definition`: from a name in `after` to its fork, from a file in the instructions to the file.

use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use super::document_link::resolve;
use super::target::{self, Target, touches};
use crate::uri;
use crate::view::View;

/// The request.
pub(crate) fn definition(
    view: &View<'_>,
    params: &lsp::DefinitionParams,
) -> Result<Option<lsp::DefinitionResponse>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let offset = file.text.offset(place.position);
    let location = match target::at(&file, offset) {
        Some(Target::After(name, _)) => file.named(name).map(|listed| {
            let fence = view.file_at(&listed.path).and_then(|file| file.fork_file()?.file.opening());
            view.location(&listed.path, fence.unwrap_or(Span::at(0)))
        }),
        Some(_) => None,
        None => file.fork_file().and_then(|fork| {
            let (path, _) = fork.file.file_mentions().find(|(_, span)| touches(*span, offset))?;
            let path = resolve(view, &file, path)?;
            Some(lsp::Location { uri: uri::of_path(&path), range: lsp::Range::default() })
        }),
    };
    Ok(location.map(|location| lsp::Definition::Location(location).into()))
}
