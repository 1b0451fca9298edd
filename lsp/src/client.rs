//! What the client can do, as far as it matters here.

use serde_json::Value;

use crate::position::Encoding;

/// How diagnostics get to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Delivery {
    /// The server sends them when they change.
    #[default]
    Push,
    /// The client asks for them.
    Pull,
}

/// Whether the client does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Support {
    #[default]
    No,
    Yes,
}

impl Support {
    pub(crate) fn is_there(self) -> bool {
        self == Self::Yes
    }
}

/// What the client said of itself when it began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    pub(crate) delivery: Delivery,
    /// It asks again when told that diagnostics changed.
    pub(crate) refreshes: Support,
    /// It asks again when told that inlay hints changed.
    pub(crate) refreshes_hints: Support,
    /// It tells of files that change on disk, when asked to.
    pub(crate) watches: Support,
    /// It can watch folders outside of the workspace, named with a pattern that is relative to them.
    pub(crate) watches_elsewhere: Support,
    /// It understands snippets.
    pub(crate) snippets: Support,
    /// It understands edits with versions.
    pub(crate) versioned_edits: Support,
    /// It can rename files as a part of an edit.
    pub(crate) renames_files: Support,
}

impl Client {
    /// From the client's capabilities.
    pub(crate) fn new(capabilities: &Value) -> Self {
        let has = |path: &str| match capabilities.pointer(path) {
            Some(Value::Bool(true)) => Support::Yes,
            _ => Support::No,
        };
        let list = |path: &str| -> Vec<String> {
            let values = capabilities.pointer(path).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let pulls = capabilities.pointer("/textDocument/diagnostic").is_some_and(Value::is_object);
        let renames = list("/workspace/workspaceEdit/resourceOperations").iter().any(|kind| kind == "rename");
        Self {
            encoding: Encoding::choose(&list("/general/positionEncodings")),
            delivery: if pulls { Delivery::Pull } else { Delivery::Push },
            refreshes: has("/workspace/diagnostics/refreshSupport"),
            refreshes_hints: has("/workspace/inlayHint/refreshSupport"),
            watches: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            watches_elsewhere: has("/workspace/didChangeWatchedFiles/relativePatternSupport"),
            snippets: has("/textDocument/completion/completionItem/snippetSupport"),
            versioned_edits: has("/workspace/workspaceEdit/documentChanges"),
            renames_files: if renames { Support::Yes } else { Support::No },
        }
    }
}
