//! What the pool does for the main loop.

use std::panic::{AssertUnwindSafe, catch_unwind};

use autofork::db::Cancelled;
use lsp_server::{ErrorCode, Request, RequestId, Response};

use super::{Server, TRIES};
use crate::findings::{Changed, Look};
use crate::requests::{self, Refusal};
use crate::view::View;

/// What came of a job.
pub(super) enum Outcome {
    /// A request was answered.
    Answered(RequestId, Result<serde_json::Value, Refusal>),
    /// An edit came while a request was computed.
    Overtaken(RequestId),
    /// Diagnostics were computed.
    Looked(Look),
    /// An edit came while diagnostics were computed.
    Interrupted,
    /// The look failed: a fault of ours, and no reason to stop serving.
    Failed,
}

/// The client does not want an answer any more.
pub(super) const REQUEST_CANCELLED: i32 = -32800;

impl Server {
    /// Begins a request.
    pub(super) fn begin(&mut self, request: Request, tries: usize) {
        if !requests::is_known(&request.method) {
            let message = format!("`{}` is not offered", request.method);
            self.refuse(request.id, ErrorCode::MethodNotFound as i32, &message);
            return;
        }
        self.world.refresh();
        let snapshot = self.world.workspace.snapshot();
        let shared = self.world.shared.clone();
        let report = self.report.clone();
        self.pending.insert(request.id.clone(), (request.clone(), tries));
        self.pool.spawn(move || {
            let Request { id, method, params } = request;
            let work = AssertUnwindSafe(|| {
                snapshot.compute(|snapshot| requests::answer(&View { snapshot, shared: &shared }, &method, params))
            });
            let outcome = match catch_unwind(work) {
                Ok(Ok(answer)) => Outcome::Answered(id, answer),
                Ok(Err(Cancelled)) => Outcome::Overtaken(id),
                Err(_) => Outcome::Answered(id, Err(Refusal::fault())),
            };
            // The receiver is gone only when the server is.
            let _ = report.send(outcome);
        });
    }

    /// Takes what came of a job.
    pub(super) fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered(id, answer) => {
                self.pending.remove(&id);
                if self.cancelled.remove(&id) {
                    self.refuse(id, REQUEST_CANCELLED, "cancelled");
                    return;
                }
                match answer {
                    Ok(value) => self.send(Response::new_ok(id, value)),
                    Err(refusal) => self.refuse(id, refusal.code, &refusal.message),
                }
            }
            Outcome::Overtaken(id) => {
                let Some((request, tries)) = self.pending.remove(&id) else { return };
                if self.cancelled.remove(&id) {
                    self.refuse(id, REQUEST_CANCELLED, "cancelled");
                } else if tries >= TRIES {
                    self.refuse(id, ErrorCode::ContentModified as i32, "the text changes faster than it can be read");
                } else {
                    self.begin(request, tries + 1);
                }
            }
            // What was found in an older text must not be shown under the newer one's version.
            Outcome::Looked(look) if self.world.changed.is_none() => {
                let covered = self.looking.take().unwrap_or_default();
                self.found(look, &covered.texts);
            }
            Outcome::Looked(_) | Outcome::Interrupted => {
                if let Some(covered) = self.looking.take() {
                    let changed = self.world.changed.get_or_insert_default();
                    changed.texts.extend(covered.texts);
                    changed.disk |= covered.disk;
                }
            }
            Outcome::Failed => self.looking = None,
        }
    }

    /// Looks for what is wrong now, if anything changed since the last time.
    pub(super) fn look(&mut self) {
        if self.looking.is_some() || self.world.changed.is_none() {
            return;
        }
        self.world.refresh();
        let changed: Changed = self.world.changed.take().unwrap_or_default();
        let snapshot = self.world.workspace.snapshot();
        let shared = self.world.shared.clone();
        let before = self.findings.clone();
        let report = self.report.clone();
        self.looking = Some(changed.clone());
        self.pool.spawn(move || {
            let work = AssertUnwindSafe(move || {
                snapshot.compute(|snapshot| before.update(&View { snapshot, shared: &shared }, &changed))
            });
            let outcome = match catch_unwind(work) {
                Ok(Ok(findings)) => Outcome::Looked(findings),
                Ok(Err(Cancelled)) => Outcome::Interrupted,
                Err(_) => Outcome::Failed,
            };
            let _ = report.send(outcome);
        });
    }
}
