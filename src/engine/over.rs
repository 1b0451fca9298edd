//! Sessions that are over, as far as that must be remembered.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::event::Fact;
use super::id::{PromptId, SessionId};
use crate::ir::{Seconds, Time};

/// How long a hook can take to tell its Stop again: one that loses its daemon looks for another for some minutes.
const REMEMBERED: Seconds = Seconds::minutes(60);

/// Sessions that have ended lately, in the order of their ends.
///
/// A parked hook tells its Stop anew when its daemon has died, and it may have died between the end of the session and
/// letting the hook go. And the hook of the last turn's Stop runs beside the one that tells of the session's end: on a
/// busy machine it may begin later. Taken for the beginning of a session, either Stop would fire every fork once more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Over(VecDeque<Ended>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Ended {
    session: SessionId,
    at: Time,
    /// Its last turn, if that is over with it.
    turn: Option<PromptId>,
}

impl Over {
    /// A session has ended in its last turn, or after it.
    pub(super) fn add(&mut self, session: SessionId, at: Time, turn: Option<PromptId>) {
        self.0.retain(|known| known.session != session && known.at.after(REMEMBERED) > at);
        self.0.push_back(Ended { session, at, turn });
    }

    /// The session that ended last was only given up: its turn may still come to its end.
    pub(super) fn may_go_on(&mut self) {
        if let Some(last) = self.0.back_mut() {
            last.turn = None;
        }
    }

    /// Whether a fact is about a turn of a session that is over.
    pub(super) fn is_straggler(&self, session: &SessionId, fact: &Fact) -> bool {
        let Fact::Stopped { mark, .. } = fact else { return false };
        let is_of_then = |ended: &Ended| mark.at <= ended.at || mark.prompt.is_some() && mark.prompt == ended.turn;
        self.0.iter().any(|ended| ended.session == *session && is_of_then(ended))
    }
}
