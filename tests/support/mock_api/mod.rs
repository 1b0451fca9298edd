//! A Messages API on loopback that records every request and answers as a scripted model would.
//!
//! It serves what the client asks for in a session: `HEAD /`, `POST /v1/messages` (streamed or not) and
//! `POST /v1/messages/count_tokens`. It knows nothing of autofork; a [`Model`] decides what is answered.

mod directions;
pub(crate) mod model;
pub(crate) mod request;
mod stream;

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

pub(crate) use model::{Answer, Block, Conduct, Model, Scripted};
pub(crate) use request::{Kind, Request};

/// A running server. It stops when this is dropped.
pub(crate) struct MockApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Dropping the runtime ends the server's task and its connections.
    _runtime: tokio::runtime::Runtime,
}

struct Shared {
    requests: Mutex<Vec<Request>>,
    arrived: Condvar,
    model: Box<dyn Model>,
}

impl MockApi {
    /// Starts a server on a free port that answers as `model`.
    pub(crate) fn start(model: impl Model + 'static) -> Self {
        let shared =
            Arc::new(Shared { requests: Mutex::new(Vec::new()), arrived: Condvar::new(), model: Box::new(model) });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime needs nothing but memory");
        let listener =
            runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).expect("a free port on loopback");
        let address = listener.local_addr().expect("it is bound");
        let router = Router::new().fallback(handle).with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { address, shared, _runtime: runtime }
    }

    /// The base address for `ANTHROPIC_BASE_URL`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.lock().clone()
    }

    /// What `look` finds among all requests, asked again at each new one, for up to `limit`.
    pub(crate) fn wait_for<T>(&self, limit: Duration, look: impl Fn(&[Request]) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        let mut requests = self.shared.lock();
        loop {
            if let Some(found) = look(&requests) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let woken = self.shared.arrived.wait_timeout(requests, left);
            requests = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The conversation so far, a few lines a request, for the message of a failed test.
    pub(crate) fn transcript(&self) -> String {
        let requests = self.requests();
        requests.iter().map(Request::to_string).collect::<Vec<_>>().join("\n")
    }
}

impl Shared {
    /// A panicking test thread must not hide the requests from the report on its failure.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this many requests of forks have come, but not for longer than a test waits for anything.
    async fn await_forks(&self, count: usize) {
        for _ in 0..1_000 {
            if self.lock().iter().filter(|request| request.kind == Kind::Fork).count() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Records a request and gives it its number.
    fn record(&self, path: &str, body: Value) -> Request {
        let mut requests = self.lock();
        let request = Request::new(requests.len() + 1, path, body);
        requests.push(request.clone());
        self.arrived.notify_all();
        request
    }
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    _headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    if method == Method::HEAD || method == Method::GET && path == "/" {
        return StatusCode::OK.into_response();
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let request = shared.record(path, body);
    match (method, path) {
        (Method::POST, "/v1/messages") => {
            let answer = match request.kind {
                Kind::Parent | Kind::Fork => shared.model.answer(&request),
                Kind::Side | Kind::Other => Answer::text(side_answer(&request)),
            };
            tokio::time::sleep(answer.delay).await;
            shared.await_forks(answer.after_forks).await;
            let message = stream::message(&request, &answer);
            if request.body["stream"] == true {
                let events = stream::events(&message);
                ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
            } else {
                axum::Json(message).into_response()
            }
        }
        (Method::POST, "/v1/messages/count_tokens") => axum::Json(json!({"input_tokens": 1000})).into_response(),
        _ => (StatusCode::NOT_FOUND, axum::Json(json!({"type": "error"}))).into_response(),
    }
}

/// A title, or the verdict "harmless" for the safety check that looks at every finished subagent; without a verdict
/// the client asks again and again, and warns the model of the report.
fn side_answer(request: &Request) -> &'static str {
    if request.body.to_string().contains("<severity>") { "<severity>1</severity>" } else { "A title" }
}
