//! Transcripts that are looked at once more, some time after the turn's end at which they were read first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::SessionId;

/// How long after. A client writes its transcript late: a turn's Stop hook was seen to run a tenth of a second before the
/// turn's last record was in the file.
const AFTER: Duration = Duration::from_secs(2);

/// The looks that are due some time, one a session.
#[derive(Debug, Default)]
pub(super) struct SecondLooks {
    pending: BTreeMap<SessionId, (Instant, PathBuf)>,
}

impl SecondLooks {
    /// A session's transcript is read now, and is to be looked at once more.
    pub(super) fn expect(&mut self, session: &SessionId, transcript: &Path) {
        self.pending.insert(session.clone(), (Instant::now() + AFTER, transcript.to_owned()));
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.pending.values().map(|(at, _)| *at).min()
    }

    /// Takes out those that are due.
    pub(super) fn take_due(&mut self, now: Instant) -> impl Iterator<Item = (SessionId, PathBuf)> {
        let due = self.pending.extract_if(.., move |_, (at, _)| *at <= now);
        due.map(|(session, (_, transcript))| (session, transcript))
    }
}
