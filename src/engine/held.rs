//! Forks that are held back: they came due together with others and start when those have ended.

use super::id::{SessionId, WakeId};
use super::session::{Delivery, Held, Session, Turn, WAKE_UNHEARD};
use super::ticket::{Ticket, TicketState};
use super::{State, Work};
use crate::ir::{ForkName, Program, Time};

impl State {
    /// Takes out the forks of a session that nobody is waited for any more.
    pub(super) fn take_released(&mut self, now: Time, id: &SessionId) -> Vec<Held> {
        let Some(session) = self.sessions.get_mut(id) else { return Vec::new() };
        if session.held.is_empty() {
            return Vec::new();
        }
        let waits: Vec<bool> = session.held.iter().map(|held| session.waits(held, now)).collect();
        let mut waits = waits.into_iter();
        session.held.extract_if(.., |_| waits.next() == Some(false)).collect()
    }

    /// When time alone releases a held fork: a run that it waits for and that gives no sign counts as ended then.
    pub(super) fn next_release(&self, now: Time, id: &SessionId) -> Option<Time> {
        let session = self.sessions.get(id)?;
        session.held.iter().filter_map(|held| session.released_by_time(held, now)).min()
    }

    /// The pause is over: what was held back in it does not start any more, and has its stamps back.
    pub(super) fn drop_held(&mut self, work: &mut Work<'_>, id: &SessionId) {
        self.drop_held_where(work, id, |_| true);
    }

    /// A held fork whose file is gone does not start.
    pub(super) fn forget_held_without_fork(&mut self, work: &mut Work<'_>, id: &SessionId, program: &Program) {
        self.drop_held_where(work, id, |held| program.fork(&held.fork).is_none());
    }

    fn drop_held_where(&mut self, work: &mut Work<'_>, id: &SessionId, gone: impl Fn(&Held) -> bool) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let dropped: Vec<Held> = session.held.extract_if(.., |held| gone(held)).collect();
        if dropped.is_empty() {
            return;
        }
        self.give_back(id, dropped.into_iter().map(|held| (held.fork, held.issued, held.before)).collect());
        self.unsettle_neighbours(work, id);
    }
}

impl Session {
    /// Whether a held fork still waits for one of its predecessors.
    fn waits(&self, held: &Held, now: Time) -> bool {
        held.after.iter().any(|name| {
            let itself_held = self.held.iter().any(|other| other.batch == held.batch && other.fork == *name);
            itself_held || self.ticket_in_batch(held.batch, name).is_some_and(|ticket| self.is_awaited(ticket, now))
        })
    }

    /// When the last of those that a held fork waits for is waited for no longer if nothing is heard of it; `None` if
    /// something else must happen first.
    fn released_by_time(&self, held: &Held, now: Time) -> Option<Time> {
        let mut latest = None;
        for name in &held.after {
            if self.held.iter().any(|other| other.batch == held.batch && other.fork == *name) {
                return None;
            }
            let Some(ticket) = self.ticket_in_batch(held.batch, name).filter(|ticket| self.is_awaited(ticket, now))
            else {
                continue;
            };
            let until = match &ticket.state {
                TicketState::Open => self.given_up_on(ticket)?,
                TicketState::Redeemed(_) | TicketState::Void => ticket.live_run(now)?.ages_out(),
            };
            latest = latest.max(Some(until));
        }
        latest
    }

    /// Whether something can still come of a ticket, or is going on with it.
    fn is_awaited(&self, ticket: &Ticket, now: Time) -> bool {
        match &ticket.state {
            // Not spawned by the end of the turn that was to spawn it: absent.
            TicketState::Open => {
                let answered = self.wakes.iter().all(|wake| wake.id != ticket.wake || wake.answered);
                !answered && self.given_up_on(ticket).is_none_or(|until| now < until)
            }
            TicketState::Redeemed(_) => ticket.live_run(now).is_some(),
            TicketState::Void => false,
        }
    }

    /// When a ticket that is open is waited for no longer, if no turn begins that could redeem it.
    fn given_up_on(&self, ticket: &Ticket) -> Option<Time> {
        let wake = self.wakes.iter().find(|wake| wake.id == ticket.wake)?;
        match self.turn {
            Turn::Ended { at } if wake.delivery == Delivery::Arrived => Some(at.max(wake.at).after(WAKE_UNHEARD)),
            _ => None,
        }
    }

    /// The ticket that a fork was given as a member of a batch.
    pub fn ticket_in_batch(&self, batch: WakeId, fork: &ForkName) -> Option<&Ticket> {
        self.tickets.iter().rfind(|ticket| ticket.batch == batch && ticket.fork == *fork)
    }
}
