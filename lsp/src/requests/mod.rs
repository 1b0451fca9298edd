//! The requests, one file each: from a state of everything and the client's parameters to an answer.
//!
//! A file or a place that is not ours is no error: the answer is empty. An error is only what the client cannot mean.

#![allow(clippy::unnecessary_wraps, reason = "every request has the same shape, whether it can be refused or not")]

pub(crate) mod code_action;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod diagnostic;
pub(crate) mod document_link;
pub(crate) mod document_symbol;
pub(crate) mod edits;
pub(crate) mod folding_range;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod inlay_hint;
pub(crate) mod naming;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod selection_range;
pub(crate) mod semantic_tokens;
pub(crate) mod settings;
pub(crate) mod target;
pub(crate) mod will_rename_files;
pub(crate) mod words;
pub(crate) mod workspace_symbol;

use lsp_server::ErrorCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::view::View;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Refusal {
    /// The client asked for something that cannot be, for this reason.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        // RequestFailed: well formed, but not possible here. Clients show its message.
        Self { code: -32803, message: message.into() }
    }

    /// A fault of ours.
    pub(crate) fn fault() -> Self {
        Self { code: ErrorCode::InternalError as i32, message: "this request failed; others go on".to_owned() }
    }
}

type Answer = Result<Value, Refusal>;
type Handler = fn(&View<'_>, Value) -> Answer;

/// Runs a handler with typed parameters.
fn typed<P: DeserializeOwned, R: Serialize>(
    view: &View<'_>,
    params: Value,
    handler: impl FnOnce(&View<'_>, P) -> Result<R, Refusal>,
) -> Answer {
    let params = serde_json::from_value(params)
        .map_err(|error| Refusal { code: ErrorCode::InvalidParams as i32, message: error.to_string() })?;
    let answer = handler(view, params)?;
    serde_json::to_value(answer).map_err(|_| Refusal::fault())
}

macro_rules! handlers {
    ($($method:literal => $handler:path),+ $(,)?) => {
        const HANDLERS: &[(&str, Handler)] =
            &[$(($method, |view, params| typed(view, params, |view, params| $handler(view, &params)))),+];
    };
}

handlers! {
    "textDocument/diagnostic" => diagnostic::document,
    "workspace/diagnostic" => diagnostic::workspace,
    "textDocument/hover" => hover::hover,
    "textDocument/completion" => completion::completion,
    "textDocument/codeAction" => code_action::code_action,
    "textDocument/definition" => definition::definition,
    "textDocument/references" => references::references,
    "textDocument/prepareRename" => rename::prepare,
    "textDocument/rename" => rename::rename,
    "workspace/willRenameFiles" => will_rename_files::will_rename_files,
    "textDocument/documentSymbol" => document_symbol::document_symbol,
    "workspace/symbol" => workspace_symbol::workspace_symbol,
    "textDocument/foldingRange" => folding_range::folding_range,
    "textDocument/selectionRange" => selection_range::selection_range,
    "textDocument/documentLink" => document_link::document_link,
    "textDocument/inlayHint" => inlay_hint::inlay_hint,
    "textDocument/semanticTokens/full" => semantic_tokens::semantic_tokens,
    "textDocument/formatting" => formatting::formatting,
}

fn find(method: &str) -> Option<Handler> {
    HANDLERS.iter().find(|(name, _)| *name == method).map(|(_, handler)| *handler)
}

/// Whether a request is offered.
pub(crate) fn is_known(method: &str) -> bool {
    find(method).is_some()
}

/// The answer to a request.
pub(crate) fn answer(view: &View<'_>, method: &str, params: Value) -> Answer {
    let handler = find(method).ok_or_else(Refusal::fault)?;
    handler(view, params)
}
