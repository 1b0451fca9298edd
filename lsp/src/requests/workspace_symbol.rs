//! `workspace/symbol`: every fork, by name.

use std::collections::BTreeMap;

use autofork::compile::State;
use autofork::text::visible;
use gen_lsp_types as lsp;

use super::Refusal;
use crate::view::View;

/// The request.
pub(crate) fn workspace_symbol(
    view: &View<'_>,
    params: &lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>, Refusal> {
    let mut found = BTreeMap::new();
    for listed in view.linkages().flat_map(|(_, linkage)| &linkage.linked.listing) {
        if listed.state != State::Note && matches(&params.query, listed.name.as_str()) {
            found.insert(&listed.path, listed);
        }
    }
    let symbols = found.into_values().map(|listed| lsp::WorkspaceSymbol {
        location: lsp::Location { uri: view.uri(&listed.path), range: lsp::Range::default() }.into(),
        data: None,
        base_symbol_information: lsp::BaseSymbolInformation {
            name: visible(listed.name.as_str()).into_owned(),
            kind: lsp::SymbolKind::Event,
            tags: None,
            container_name: Some(listed.state.name().to_owned()),
        },
    });
    Ok(Some(lsp::WorkspaceSymbolResponse::WorkspaceSymbolList(symbols.collect())))
}

/// Whether the letters of a query are in a name, in their order.
fn matches(query: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let mut letters = name.chars();
    query.to_lowercase().chars().filter(|c| !c.is_whitespace()).all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough() {
        assert!(matches("", "x") && matches("GT", "groom-todos") && matches("groom", "groom-todos"));
        assert!(!matches("tg", "groom-t") && !matches("x", "y"));
    }
}
