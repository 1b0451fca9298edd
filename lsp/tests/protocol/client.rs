//! The client of the tests: it keeps what the server says, and fails a test that leaves something unread.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use autofork::project::{FileSystem, Memory, UserDirs};
use autofork_lsp::{Ended, Options, serve, uri};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

/// Nothing takes this long on any machine; a test that waits longer has hung.
const PATIENCE: Duration = Duration::from_mins(1);

/// A client with a server.
pub(crate) struct Client {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    server: Server,
    next: i32,
    versions: BTreeMap<PathBuf, i32>,
    /// The last diagnostics of each file.
    published: BTreeMap<PathBuf, Vec<Value>>,
    /// The versions that those are about.
    seen: BTreeMap<PathBuf, i64>,
    /// Files whose last diagnostics were not looked at.
    unread: BTreeSet<PathBuf>,
    /// Requests of the server's, by method.
    pub(crate) asked: Vec<String>,
    /// The patterns of the files that the server asked to be told of.
    pub(crate) watching: Vec<Value>,
    /// How many diagnostics there are at each URI that any were published for.
    pub(crate) spellings: BTreeMap<String, usize>,
    /// Messages for people.
    logged: Vec<String>,
    reads_all: bool,
    over: bool,
}

enum Server {
    Thread(Option<std::thread::JoinHandle<Ended>>),
    Process(Child),
}

/// Capabilities of a client that can do everything, diagnostics pushed.
pub(crate) fn able() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": {
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
        "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
    })
}

/// The same, but it asks for diagnostics.
pub(crate) fn pulling() -> Value {
    let mut able = able();
    able["textDocument"]["diagnostic"] = json!({});
    able["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    able
}

impl Client {
    /// A server in this process, over files in memory or on disk.
    pub(crate) fn in_memory(fs: Arc<dyn FileSystem>, user: UserDirs) -> Self {
        Self::observed(Options { fs, user, observer: None })
    }

    /// A server in this process with these options.
    pub(crate) fn observed(options: Options) -> Self {
        let (own, other) = Connection::memory();
        let thread = std::thread::spawn(move || serve(other, options));
        Self::new(own.sender, own.receiver, Server::Thread(Some(thread)))
    }

    /// The real binary over standard input and output, with a home of its own.
    pub(crate) fn binary(home: &Path) -> Self {
        Self::spawned(Command::new(env!("CARGO_BIN_EXE_autofork-lsp")).arg("--stdio"), home)
    }

    /// A command that starts a server, with a home of its own.
    pub(crate) fn spawned(command: &mut Command, home: &Path) -> Self {
        command.env_clear().env("HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let (to_server, queue) = unbounded::<Message>();
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::spawn(move || queue.iter().try_for_each(|message| message.write(&mut stdin)));
        let (to_test, receiver) = unbounded();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut stdout) {
                if to_test.send(message).is_err() {
                    break;
                }
            }
        });
        Self::new(to_server, receiver, Server::Process(child))
    }

    fn new(sender: Sender<Message>, receiver: Receiver<Message>, server: Server) -> Self {
        Self {
            sender,
            receiver,
            server,
            next: 0,
            versions: BTreeMap::new(),
            published: BTreeMap::new(),
            seen: BTreeMap::new(),
            unread: BTreeSet::new(),
            asked: Vec::new(),
            watching: Vec::new(),
            spellings: BTreeMap::new(),
            logged: Vec::new(),
            reads_all: false,
            over: false,
        }
    }

    /// Begins, with these folders open.
    pub(crate) fn initialize(&mut self, capabilities: &Value, folders: &[&Path]) -> Value {
        let folders: Vec<Value> =
            folders.iter().map(|path| json!({ "uri": uri::of_path(path), "name": "folder" })).collect();
        let params =
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders });
        let answer = self.request("initialize", params).expect("an answer");
        self.notify("initialized", json!({}));
        answer
    }

    /// Does not look at diagnostics.
    pub(crate) fn reads_all(mut self) -> Self {
        self.reads_all = true;
        self
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.sender.send(Notification::new(method.to_owned(), params).into()).expect("a server");
    }

    /// Sends a request; its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.sender.send(Request::new(id.clone(), method.to_owned(), params).into()).expect("a server");
        id
    }

    /// Waits for the answer to a request: its result, or the code and the words of the error.
    pub(crate) fn wait(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            let message = self.receiver.recv_timeout(PATIENCE).expect("an answer in time");
            if let Message::Response(response) = message {
                assert_eq!(response.id, *id, "an answer to something else");
                return response.response_result.map_err(|error| (error.code, error.message));
            }
            self.take(message);
        }
    }

    /// Waits for the answers to all of these requests, in whatever order they come; gives them in that of the requests.
    pub(crate) fn wait_for_all(&mut self, ids: &[RequestId]) -> Vec<Result<Value, (i32, String)>> {
        let mut answers = BTreeMap::new();
        while answers.len() < ids.len() {
            match self.receiver.recv_timeout(PATIENCE).expect("an answer in time") {
                Message::Response(response) => {
                    let at = ids.iter().position(|id| *id == response.id).expect("an answer to one of them");
                    let answer = response.response_result.map_err(|error| (error.code, error.message));
                    assert!(answers.insert(at, answer).is_none(), "two answers to one request");
                }
                message => self.take(message),
            }
        }
        answers.into_values().collect()
    }

    /// Asks and waits.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send(method, params);
        self.wait(&id)
    }

    /// Waits until the server has done everything that it was told.
    pub(crate) fn settle(&mut self) {
        self.request("autofork/settled", Value::Null).expect("the server settles");
        for (path, version) in &self.seen {
            if let Some(own) = self.versions.get(path) {
                assert_eq!(i64::from(*own), *version, "stale: {}", path.display());
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Notification(note) if note.method == "textDocument/publishDiagnostics" => {
                let uri = note.params["uri"].as_str().expect("a URI").to_owned();
                let path = uri::to_path(&uri.clone().into()).expect("a file");
                let found = note.params["diagnostics"].as_array().expect("a list").clone();
                self.spellings.insert(uri.clone(), found.len());
                // A spelling that is of no use any more says nothing of the file.
                let is_path = |other: &String| uri::to_path(&other.clone().into()).as_ref() == Some(&path);
                if found.is_empty() && self.spellings.iter().any(|(other, count)| *count > 0 && is_path(other)) {
                    return;
                }
                // What is under way while we write may be about an older text, but once settled it may not.
                match note.params["version"].as_i64() {
                    Some(version) => self.seen.insert(path.clone(), version),
                    None => self.seen.remove(&path),
                };
                self.published.insert(path.clone(), found);
                self.unread.insert(path);
            }
            Message::Notification(note) if note.method == "window/logMessage" => {
                self.logged.push(note.params["message"].as_str().unwrap_or_default().to_owned());
            }
            Message::Notification(note) => panic!("nobody expects {}", note.method),
            Message::Request(request) => {
                let watchers = request.params.pointer("/registrations/0/registerOptions/watchers");
                let watchers = watchers.and_then(Value::as_array).into_iter().flatten();
                self.watching.extend(watchers.map(|watcher| watcher["globPattern"].clone()));
                self.asked.push(request.method);
                // A server that has ended does not mind.
                let _ = self.sender.send(Response::new_ok(request.id, Value::Null).into());
            }
            Message::Response(response) => panic!("an answer to nothing: {response:?}"),
        }
    }

    pub(crate) fn open(&mut self, path: &Path, text: &str) {
        self.versions.insert(path.to_path_buf(), 1);
        let document = json!({ "uri": uri::of_path(path), "languageId": "markdown", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a whole text.
    pub(crate) fn change(&mut self, path: &Path, text: &str) {
        self.edit(path, json!([{ "text": text }]));
    }

    /// Sends changes as the protocol has them.
    pub(crate) fn edit(&mut self, path: &Path, changes: Value) {
        let version = self.versions.get_mut(path).expect("an open document");
        *version += 1;
        let document = json!({ "uri": uri::of_path(path), "version": *version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub(crate) fn close(&mut self, path: &Path) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri::of_path(path) } }));
        self.versions.remove(path);
        self.settle();
    }

    pub(crate) fn watched(&mut self, paths: &[&Path]) {
        let changes: Vec<Value> = paths.iter().map(|path| json!({ "uri": uri::of_path(path), "type": 2 })).collect();
        self.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    }

    /// The diagnostics of a file as last published, once the server has settled.
    pub(crate) fn found(&mut self, path: &Path) -> Vec<Value> {
        self.settle();
        self.unread.remove(path);
        self.published.get(path).cloned().unwrap_or_default()
    }

    /// The rules that were found in a file.
    pub(crate) fn rules(&mut self, path: &Path) -> Vec<String> {
        self.found(path).iter().map(|found| found["code"].as_str().expect("a rule").to_owned()).collect()
    }

    /// Everything that is published, by file.
    pub(crate) fn everything(&mut self) -> BTreeMap<PathBuf, Vec<Value>> {
        self.settle();
        self.unread.clear();
        self.published
            .iter()
            .filter(|(_, found)| !found.is_empty())
            .map(|(path, found)| (path.clone(), found.clone()))
            .collect()
    }

    /// The files with news that were not looked at.
    pub(crate) fn news(&mut self) -> BTreeSet<PathBuf> {
        self.settle();
        std::mem::take(&mut self.unread)
    }

    /// A request about a place.
    pub(crate) fn at(&mut self, method: &str, path: &Path, line: u32, character: u32) -> Value {
        let params = json!({ "textDocument": { "uri": uri::of_path(path) }, "position": { "line": line, "character": character } });
        self.request(method, params).expect("an answer")
    }

    /// A request about a document.
    pub(crate) fn about(&mut self, method: &str, path: &Path) -> Value {
        self.request(method, json!({ "textDocument": { "uri": uri::of_path(path) } })).expect("an answer")
    }

    /// Ends in order; what was not read by then makes the test fail. How the server ended.
    pub(crate) fn finish(mut self) -> Ended {
        self.end()
    }

    fn end(&mut self) -> Ended {
        self.over = true;
        self.request("shutdown", Value::Null).expect("an answer");
        self.notify("exit", Value::Null);
        self.ended()
    }

    /// Waits for the end.
    pub(crate) fn ended(&mut self) -> Ended {
        self.over = true;
        match &mut self.server {
            Server::Thread(thread) => thread.take().expect("a server").join().expect("no panic"),
            Server::Process(child) => {
                if child.wait().expect("a process").success() {
                    Ended::InOrder
                } else {
                    Ended::Abruptly
                }
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Server::Process(child) = &mut self.server {
                let _ = child.kill();
            }
            return;
        }
        if !self.over {
            assert_eq!(self.end(), Ended::InOrder);
        }
        // All that it ever said: until it has hung up.
        loop {
            match self.receiver.recv_timeout(PATIENCE) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server has ended but not hung up"),
            }
        }
        assert!(self.reads_all || self.unread.is_empty(), "diagnostics that nobody read: {:?}", self.unread);
        assert!(self.logged.is_empty(), "messages for people that nobody read: {:?}", self.logged);
    }
}

/// A project in memory at `/p`, with a user at `/home`.
pub(crate) fn memory(files: &[(&str, &str)]) -> Arc<Memory> {
    Arc::new(project(files))
}

/// The files of such a project.
pub(crate) fn project(files: &[(&str, &str)]) -> Memory {
    let mut memory = Memory::default();
    memory.write("/p/.autofork/forks/.keep", "");
    for (path, text) in files {
        memory.write(fork(path), *text);
    }
    memory
}

/// Where a file of the project at `/p` is.
pub(crate) fn fork(path: &str) -> PathBuf {
    let base = Path::new("/p/.autofork");
    if path == "config.toml" { base.join(path) } else { base.join("forks").join(path) }
}

/// The user at `/home`.
pub(crate) fn user() -> UserDirs {
    UserDirs::new(None, Some("/home".into()), None)
}

/// A client that has the project at `/p` open.
pub(crate) fn started(files: &[(&str, &str)]) -> Client {
    let mut client = Client::in_memory(memory(files), user());
    client.initialize(&able(), &[Path::new("/p")]);
    client
}
