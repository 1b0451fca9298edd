//! What `autofork status --json` says of the scenario's sessions.

use std::thread::sleep;
use std::time::{Duration, Instant};

use autofork::engine::{Outcome, Reason};
use autofork::host::protocol::{RunState, RunStatus, SessionStatus};
use serde_json::Value;

use crate::scene::Scene;
use crate::support::client::SOON;

impl Scene {
    /// All sessions that the daemon knows, oldest first.
    #[track_caller]
    pub(crate) fn sessions(&self) -> Vec<SessionStatus> {
        let output = self.sandbox.autofork(&["status", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        serde_json::from_value(status["sessions"].clone()).unwrap()
    }

    /// The only session there is.
    #[track_caller]
    pub(crate) fn session(&self) -> SessionStatus {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:#?}");
        sessions.remove(0)
    }

    /// The only session, once there is one alone and it is as `look` wants it.
    #[track_caller]
    pub(crate) fn wait_for_session(&self, what: &str, look: impl Fn(&SessionStatus) -> bool) -> SessionStatus {
        let end = Instant::now() + SOON;
        loop {
            let sessions = self.sessions();
            if let [session] = sessions.as_slice()
                && look(session)
            {
                return session.clone();
            }
            assert!(Instant::now() < end, "{what} was awaited and never came: {sessions:#?}");
            sleep(Duration::from_millis(200));
        }
    }

    /// The runs of the only session, once this many have ended and none is under way.
    #[track_caller]
    pub(crate) fn wait_for_ended_runs(&self, count: usize) -> Vec<Ran> {
        let all_ended = |session: &SessionStatus| {
            runs(session).len() == count && runs(session).iter().all(|run| run.outcome.is_some())
        };
        runs(&self.wait_for_session("the end of the runs", all_ended))
    }
}

/// A run of a fork, or a ticket for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) fork: String,
    /// As a person reads it.
    pub(crate) trigger: String,
    /// How it ended, if it has.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) report: String,
}

/// The runs of a session's latest wakes, oldest first.
pub(crate) fn runs(session: &SessionStatus) -> Vec<Ran> {
    let ran = |run: &RunStatus| {
        let (outcome, report) = match &run.state {
            RunState::Ended { outcome, report, .. } => (Some(*outcome), report.clone()),
            RunState::Waiting | RunState::Void | RunState::Live { .. } => (None, None),
        };
        let trigger = run.trigger.to_string();
        Ran { fork: run.fork.to_string(), trigger, outcome, report: report.unwrap_or_default() }
    };
    session.wakes.iter().flat_map(|wake| &wake.runs).map(ran).collect()
}

/// The names of the forks that ran, in the order of their wakes.
pub(crate) fn names(runs: &[Ran]) -> Vec<&str> {
    runs.iter().map(|run| run.fork.as_str()).collect()
}

/// What stands in the way of a fork in a session.
#[track_caller]
pub(crate) fn reasons<'a>(session: &'a SessionStatus, fork: &str) -> &'a [Reason] {
    let of_fork = session.forks.iter().find(|status| status.fork.as_str() == fork);
    &of_fork.expect("status names all forks of a session").reasons
}
