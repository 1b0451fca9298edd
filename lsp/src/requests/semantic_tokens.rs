//! `textDocument/semanticTokens/full`: moments, their values and other durations, names and tags.

use autofork::syntax::envelope;
use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use crate::position::Text;
use crate::view::View;

/// The kinds of tokens, in the order of their numbers.
pub(crate) const TYPES: [&str; 5] = ["property", "event", "number", "function", "enumMember"];

const KEY: u32 = 0;
const MOMENT: u32 = 1;
const VALUE: u32 = 2;
const NAME: u32 = 3;
const TAG: u32 = 4;

/// The request.
pub(crate) fn semantic_tokens(
    view: &View<'_>,
    params: &lsp::SemanticTokensParams,
) -> Result<Option<lsp::SemanticTokens>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let Some(fork) = file.fork_file().map(|file| &file.file) else { return Ok(None) };
    let mut tokens: Vec<(Span, u32)> = Vec::new();
    if fork.fork().is_some() {
        let keys = envelope::keys_at_line_start(file.text.as_str(), fork.frontmatter());
        tokens.extend(keys.map(|(_, span)| (span, KEY)));
    }
    for written in fork.written_moments() {
        tokens.extend(written.name.map(|span| (span, MOMENT)));
        tokens.extend(written.value.map(|span| (span, VALUE)));
    }
    tokens.extend(fork.throttle_words().map(|span| (span, VALUE)));
    tokens.extend(fork.after_names().map(|(_, span)| (span, NAME)));
    tokens.extend(fork.tag_words().map(|(_, span)| (span, TAG)));
    tokens.sort_by_key(|(span, _)| *span);
    Ok(Some(lsp::SemanticTokens { result_id: None, data: encode(&file.text, &tokens) }))
}

/// Tokens one after the other, each relative to the one before; those of several lines and those that overlap are left
/// out, since most clients cannot show them.
fn encode(text: &Text, tokens: &[(Span, u32)]) -> Vec<lsp::SemanticToken> {
    let mut data = Vec::new();
    let mut last = lsp::Position::default();
    let mut free = 0;
    for (span, token_type) in tokens {
        let range = text.range(*span);
        if span.start() < free || range.start.line != range.end.line || span.is_empty() {
            continue;
        }
        free = span.end();
        let delta_line = range.start.line - last.line;
        let same_line = delta_line == 0;
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start: if same_line { range.start.character - last.character } else { range.start.character },
            length: range.end.character - range.start.character,
            token_type: *token_type,
            token_modifiers_bitset: 0,
        });
        last = range.start;
    }
    data
}
