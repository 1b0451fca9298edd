//! The main loop: messages in, one after the other; answers out as the pool finds them.
//!
//! Notifications change the state at once. Requests are computed from a snapshot; an edit that comes meanwhile cancels
//! them, and they are computed again from the new state. Diagnostics are computed when no more messages are waiting, so
//! a burst of edits costs one look.

mod jobs;
mod lifecycle;
mod notifications;
mod publishing;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use autofork::db::{Observer, Workspace};
use autofork::project::{Disk, FileSystem, UserDirs};
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::Value;

use crate::findings::{Changed, Findings};
use crate::pool::Pool;
use crate::world::World;
use jobs::Outcome;
use lifecycle::Phase;

/// What a server works with.
pub struct Options {
    /// Where files are.
    pub fs: Arc<dyn FileSystem>,
    /// Whose forks to look at.
    pub user: UserDirs,
    /// Is told of every query that runs.
    pub observer: Option<Observer>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Options {
    /// This machine's disk.
    pub fn on_disk(user: UserDirs) -> Self {
        Self { fs: Arc::new(Disk), user, observer: None }
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With `shutdown` and then `exit`, as it should.
    InOrder,
    /// With `exit` alone, or because the client went away.
    Abruptly,
}

/// Serves a client until it leaves.
pub fn serve(connection: Connection, options: Options) -> Ended {
    let Options { fs, user, observer } = options;
    let workspace = Workspace::observed(fs.clone(), observer);
    let (report, reports) = unbounded();
    Server {
        phase: Phase::Fresh,
        world: World::new(fs, workspace, user),
        sender: connection.sender,
        pool: Pool::new(),
        report,
        reports,
        pending: HashMap::new(),
        cancelled: HashSet::new(),
        findings: Findings::default(),
        looking: None,
        next_request: 0,
        waiting: Vec::new(),
    }
    .run(&connection.receiver)
}

struct Server {
    phase: Phase,
    world: World,
    sender: Sender<Message>,
    pool: Pool,
    /// Where the pool puts what it finds.
    report: Sender<Outcome>,
    reports: Receiver<Outcome>,
    /// Requests that are not answered yet, with the number of times that they were begun.
    pending: HashMap<RequestId, (Request, usize)>,
    /// Those of them that the client does not want any more.
    cancelled: HashSet<RequestId>,
    /// What was last found.
    findings: Findings,
    /// What the look at diagnostics that is under way covers.
    looking: Option<Changed>,
    /// The number of the next request to the client.
    next_request: u64,
    /// Requests that wait until there is nothing left to do.
    waiting: Vec<RequestId>,
}

/// Answered as soon as everything that was said before it is worked off, diagnostics included.
const SETTLED: &str = "autofork/settled";

/// A request that is cancelled by edits again and again is refused in the end.
const TRIES: usize = 5;

impl Server {
    fn run(mut self, messages: &Receiver<Message>) -> Ended {
        loop {
            let reports = self.reports.clone();
            // Messages first: an answer to an old state is of no use.
            let next = messages.try_recv().ok();
            if let Some(message) = next {
                if let Some(ended) = self.message(message) {
                    return ended;
                }
                continue;
            }
            self.look();
            self.settle();
            select! {
                recv(messages) -> message => match message {
                    Ok(message) => {
                        if let Some(ended) = self.message(message) {
                            return ended;
                        }
                    }
                    Err(_) => return self.end(),
                },
                recv(reports) -> outcome => {
                    if let Ok(outcome) = outcome {
                        self.outcome(outcome);
                    }
                }
            }
        }
    }

    fn message(&mut self, message: Message) -> Option<Ended> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(note) if note.method == "exit" => return Some(self.end()),
            Message::Notification(note) => {
                if self.phase == Phase::Running {
                    self.notification(note);
                }
            }
            // Answers to our own requests carry nothing that we need.
            Message::Response(_) => {}
        }
        None
    }

    fn request(&mut self, request: Request) {
        match (self.phase, request.method.as_str()) {
            (Phase::Fresh, "initialize") => self.initialize(request),
            (Phase::Fresh, _) => {
                self.refuse(request.id, ErrorCode::ServerNotInitialized as i32, "`initialize` comes first");
            }
            (Phase::Over, _) => {
                self.refuse(request.id, ErrorCode::InvalidRequest as i32, "the server was shut down");
            }
            (Phase::Running, "initialize") => {
                self.refuse(request.id, ErrorCode::InvalidRequest as i32, "the server is initialized already");
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::Over;
                // What was asked before is answered before.
                self.waiting.push(request.id);
            }
            (Phase::Running, SETTLED) => self.waiting.push(request.id),
            (Phase::Running, _) if self.pending.contains_key(&request.id) => {
                self.refuse(request.id, ErrorCode::InvalidRequest as i32, "there is a request with this id already");
            }
            (Phase::Running, _) => self.begin(request, 0),
        }
    }

    /// The client is leaving, or gone: what it still waits for is refused.
    fn end(&mut self) -> Ended {
        for (id, _) in std::mem::take(&mut self.pending) {
            self.refuse(id, jobs::REQUEST_CANCELLED, "the server ends");
        }
        for id in std::mem::take(&mut self.waiting) {
            self.send(Response::new_ok(id, Value::Null));
        }
        if self.phase == Phase::Over { Ended::InOrder } else { Ended::Abruptly }
    }

    fn settle(&mut self) {
        if self.looking.is_none() && self.pending.is_empty() {
            for id in std::mem::take(&mut self.waiting) {
                self.send(Response::new_ok(id, Value::Null));
            }
        }
    }

    fn refuse(&self, id: RequestId, code: i32, message: &str) {
        self.send(Response::new_err(id, code, message.to_owned()));
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone is noticed by the main loop.
        let _ = self.sender.send(message.into());
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn ask(&mut self, method: &str, params: Value) {
        let id = RequestId::from(format!("autofork-{}", self.next_request));
        self.next_request += 1;
        self.send(Request { id, method: method.to_owned(), params });
    }
}
