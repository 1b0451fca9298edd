//! What is kept of each ticket when its session is long forgotten: what `history` shows.
//!
//! Every change of a ticket that a record tells of gives a new record of it, which takes the last one's place. Which
//! changes these are is decided by comparing, here and nowhere else: whoever changes a ticket need not think of it.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::event::Outcome;
use super::id::{Conversation, SessionId};
use super::session::{Delivery, Session};
use super::ticket::{Ticket, TicketState};
use super::{State, Work};
use crate::ir::{ProjectRoot, Time};

/// What became of a ticket, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The session it was issued to.
    pub session: SessionId,
    /// That session's conversation.
    pub conversation: Conversation,
    /// The project's root.
    pub root: ProjectRoot,
    /// The ticket, with its run if it has one.
    pub ticket: Ticket,
    /// Whether its wake was taken back: it never got through to the session.
    pub withdrawn: bool,
    /// When the session ended, if it has: nothing more will be heard of the run.
    pub session_over: Option<Time>,
}

/// As much of a ticket as tells whether its record is up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    Open,
    Void,
    Live { started: Time, last_sign: Time },
    Ended { outcome: Outcome, reported: bool, costed: bool },
}

impl Stage {
    fn of(ticket: &Ticket) -> Self {
        match &ticket.state {
            TicketState::Open => Self::Open,
            TicketState::Void => Self::Void,
            TicketState::Redeemed(run) => match &run.end {
                None => Self::Live { started: run.started, last_sign: run.last_sign },
                Some(end) => {
                    Self::Ended { outcome: end.outcome, reported: end.report.is_some(), costed: end.usage.is_some() }
                }
            },
        }
    }

    /// Whether something can still come of a ticket in this stage.
    fn is_unsettled(self) -> bool {
        matches!(self, Self::Open | Self::Live { .. })
    }
}

impl State {
    /// Asks for a record of every ticket of the session whose record is not up to date.
    pub(super) fn record_changes(&mut self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        for place in 0..session.tickets.len() {
            let stage = Stage::of(&session.tickets[place]);
            if session.tickets[place].recorded != Some(stage) {
                session.tickets[place].recorded = Some(stage);
                let record = session.record(&session.tickets[place], None);
                work.effects.push(Effect::Record(Box::new(record)));
            }
        }
    }
}

impl Session {
    /// The last records of a session that ends `now`.
    pub(super) fn last_records(&self, now: Time) -> impl Iterator<Item = Effect> {
        let concerned = self.tickets.iter().filter(|ticket| {
            let stage = Stage::of(ticket);
            stage.is_unsettled() || ticket.recorded != Some(stage)
        });
        concerned.map(move |ticket| Effect::Record(Box::new(self.record(ticket, Some(now)))))
    }

    fn record(&self, ticket: &Ticket, session_over: Option<Time>) -> Record {
        let wake = self.wakes.iter().rfind(|wake| wake.id == ticket.wake);
        Record {
            session: self.id.clone(),
            conversation: self.conversation.clone(),
            root: self.root.clone(),
            ticket: ticket.clone(),
            withdrawn: wake.is_some_and(|wake| wake.delivery == Delivery::Withdrawn),
            session_over,
        }
    }
}
