//! How a conversation begins.

use std::path::PathBuf;

use gen_lsp_types::Uri;
use lsp_server::{Request, Response};
use serde_json::{Value, json};

use super::Server;
use crate::capabilities;
use crate::client::Client;
use crate::uri;

/// Where a conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The client has not said `initialize`.
    Fresh,
    /// Everything is answered.
    Running,
    /// The client has said `shutdown`.
    Over,
}

impl Server {
    pub(super) fn initialize(&mut self, request: Request) {
        let params = &request.params;
        let client = Client::new(params.get("capabilities").unwrap_or(&Value::Null));
        let answer = capabilities::initialized(&client);
        self.world.begin(client, folders(params));
        self.phase = Phase::Running;
        self.send(Response::new_ok(request.id, answer));
    }

    /// The client is ready to be asked for things.
    pub(super) fn initialized(&mut self) {
        if self.world.shared.client.watches.is_there() {
            let options = json!({ "watchers": self.world.watched() });
            let method = "workspace/didChangeWatchedFiles";
            let registration = json!({ "id": "autofork-files", "method": method, "registerOptions": options });
            self.ask("client/registerCapability", json!({ "registrations": [registration] }));
        }
    }
}

/// The folders that the client has open: by name, or as older clients say it.
fn folders(params: &Value) -> Vec<PathBuf> {
    let path = |uri: &Value| uri::to_path(&Uri(uri.as_str()?.to_owned()));
    let named = params.get("workspaceFolders").and_then(Value::as_array);
    let named: Vec<PathBuf> = named.into_iter().flatten().filter_map(|folder| path(folder.get("uri")?)).collect();
    if !named.is_empty() {
        return named;
    }
    let root = params.get("rootUri").and_then(path);
    let old = || params.get("rootPath").and_then(Value::as_str).map(PathBuf::from);
    root.or_else(old).filter(|path| path.is_absolute()).into_iter().collect()
}
