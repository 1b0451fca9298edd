//! `textDocument/formatting`: the frontmatter in its canonical form, as `autofork fmt` writes it.

use autofork::format;
use gen_lsp_types as lsp;

use super::Refusal;
use crate::view::View;

/// The request.
pub(crate) fn formatting(
    view: &View<'_>,
    params: &lsp::DocumentFormattingParams,
) -> Result<Option<Vec<lsp::TextEdit>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let Some((span, new_text)) = format::frontmatter(file.text.as_str()).filter(|_| file.fork_file().is_some())
    else {
        return Ok(Some(Vec::new()));
    };
    Ok(Some(vec![lsp::TextEdit { range: file.text.range(span), new_text }]))
}
