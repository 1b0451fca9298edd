//! What the client tells.

use std::path::PathBuf;

use gen_lsp_types as lsp;
use lsp_server::{Notification, RequestId};
use serde::de::DeserializeOwned;

use super::Server;
use crate::uri;

impl Server {
    /// A notification changes the state at once. One that cannot be read is passed over, as the protocol has it.
    pub(super) fn notification(&mut self, note: Notification) {
        match note.method.as_str() {
            "initialized" => self.initialized(),
            "$/cancelRequest" => self.cancel(&note),
            "textDocument/didOpen" => {
                if let Some(params) = read::<lsp::DidOpenTextDocumentParams>(note) {
                    let document = params.text_document;
                    let unused = self.world.open(&document.uri, document.version, document.text);
                    if let Some((path, uri)) = unused {
                        self.clear(&path, &uri);
                    }
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = read::<lsp::DidChangeTextDocumentParams>(note) {
                    let document = params.text_document;
                    let uri = &document.text_document_identifier.uri;
                    self.world.edit(uri, document.version, params.content_changes);
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = read::<lsp::DidCloseTextDocumentParams>(note) {
                    let uri = &params.text_document.uri;
                    if let Some(path) = self.world.close(uri) {
                        self.clear(&path, uri);
                    }
                }
            }
            "textDocument/didSave" => self.world.something_changed(),
            "workspace/didChangeWatchedFiles" => {
                if let Some(params) = read::<lsp::DidChangeWatchedFilesParams>(note) {
                    self.world.files_changed(params.changes.iter().map(|change| &change.uri));
                }
            }
            "workspace/didCreateFiles" | "workspace/didRenameFiles" | "workspace/didDeleteFiles" => {
                self.world.something_changed();
            }
            "workspace/didChangeWorkspaceFolders" => {
                if let Some(params) = read::<lsp::DidChangeWorkspaceFoldersParams>(note) {
                    let paths = |folders: Vec<lsp::WorkspaceFolder>| -> Vec<PathBuf> {
                        folders.iter().filter_map(|folder| uri::to_path(&folder.uri)).collect()
                    };
                    self.world.change_folders(paths(params.event.added), &paths(params.event.removed));
                }
            }
            _ => {}
        }
    }

    fn cancel(&mut self, note: &Notification) {
        let id = note.params.get("id");
        let id = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        if let Some(id) = id.filter(|id| self.pending.contains_key(id)) {
            self.cancelled.insert(id);
        }
    }
}

fn read<T: DeserializeOwned>(note: Notification) -> Option<T> {
    serde_json::from_value(note.params).ok()
}
