//! What is found goes to the client.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;
use serde_json::{Value, json};

use super::Server;
use crate::client::Delivery;
use crate::findings::Look;

impl Server {
    /// Takes what is found now: tells the client what is new.
    pub(super) fn found(&mut self, look: Look, edited: &HashSet<PathBuf>) {
        let Look { findings, news, reconfigured } = look;
        self.findings = findings;
        let client = self.world.shared.client.clone();
        if client.delivery == Delivery::Push {
            for path in &news {
                self.publish(path);
            }
            // The client may wait for word on a version, also if there is nothing new in it.
            let silent = edited.iter().filter(|path| !news.iter().any(|new| **new == ***path));
            for path in silent.filter(|path| self.world.document(path).is_some()) {
                self.publish(path);
            }
        } else if client.refreshes.is_there() && news.iter().any(|path| !edited.contains(&**path)) {
            // What the client edits it asks about by itself.
            self.ask("workspace/diagnostic/refresh", Value::Null);
        }
        // Hints are made of their own file and the configuration.
        if reconfigured && client.refreshes_hints.is_there() {
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
    }

    fn publish(&self, path: &Path) {
        let open = self.world.document(path);
        let spellings = open.map_or_else(|| vec![self.world.shared.uri(path)], |open| open.uris.clone());
        for uri in spellings {
            let mut params = json!({ "uri": uri, "diagnostics": self.findings.of(path) });
            if let Some(open) = open {
                params["version"] = open.version.into();
            }
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Takes back what was said of a file under a spelling that is of no use any more.
    pub(super) fn clear(&self, path: &Path, uri: &Uri) {
        let client = &self.world.shared.client;
        if client.delivery == Delivery::Push && !self.findings.of(path).is_empty() {
            self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
        }
    }
}
