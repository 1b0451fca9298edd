//! What the server offers.

use serde_json::{Value, json};

use crate::client::{Client, Delivery};
use crate::requests::semantic_tokens;

/// The kinds of code actions.
pub(crate) const ACTIONS: [&str; 3] = ["quickfix", "source.fixAll.autofork", "refactor.rewrite"];

/// The answer to `initialize`.
pub(crate) fn initialized(client: &Client) -> Value {
    let files = |glob: &str| json!({ "filters": [{ "scheme": "file", "pattern": { "glob": glob } }] });
    let mut capabilities = json!({
        "positionEncoding": client.encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [":", " ", "-", "[", ",", "(", "\""] },
        "codeActionProvider": { "codeActionKinds": ACTIONS },
        "definitionProvider": true,
        "referencesProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentLinkProvider": {},
        "inlayHintProvider": true,
        "semanticTokensProvider": {
            "legend": { "tokenTypes": semantic_tokens::TYPES, "tokenModifiers": [] },
            "full": true,
        },
        "documentFormattingProvider": true,
        "workspace": {
            "workspaceFolders": { "supported": true, "changeNotifications": true },
            "fileOperations": {
                "willRename": files("**/.autofork/forks/**"),
                "didCreate": files("**/.autofork/**"),
                "didRename": files("**/.autofork/**"),
                "didDelete": files("**/.autofork/**"),
            },
        },
    });
    if client.delivery == Delivery::Pull {
        capabilities["diagnosticProvider"] = json!({
            "identifier": "autofork",
            "interFileDependencies": true,
            "workspaceDiagnostics": true,
        });
    }
    json!({
        "capabilities": capabilities,
        "serverInfo": { "name": "autofork-lsp", "version": env!("CARGO_PKG_VERSION") },
    })
}
