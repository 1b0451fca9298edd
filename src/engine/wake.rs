//! Wakes: when they go out, with which tickets, and what happens to one that does not get through.

use std::sync::Arc;

use super::due::{self, Outlook};
use super::effect::Effect;
use super::id::{SessionId, TicketId, WakeId};
use super::session::{Delivery, Session, Wake};
use super::ticket::{Ticket, TicketState, Trigger};
use super::{State, Work};
use crate::ir::{Fork, Program, Time};

impl State {
    /// Brings a session to rest after something has changed: ends it if its time is over, wakes it if forks are due
    /// and it can be woken, and reckons when to look again.
    pub(super) fn settle(&mut self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let program = work.program(&session.launch);
        let timeout = program.config.session_timeout;
        if !timeout.is_zero() && session.last_event.after(timeout) <= work.now {
            self.end_session(work, id);
            return;
        }
        if session.orphan_check.is_some_and(|check| check <= work.now) {
            session.orphan_check = None;
            work.effects.push(Effect::Probe { session: id.clone(), client: session.client });
        }
        let mut next = None;
        if session.is_parked() {
            if let Some(wake) = session.wake_to_offer().map(|wake| wake.id) {
                self.send(work, id, wake);
            } else {
                next = self.consider(work, id, &program);
            }
        }
        self.reckon_deadline(id, &program, next);
    }

    /// Opens, keeps or closes the window in which due forks gather, and issues the wake at its end. Returns when to
    /// look again.
    fn consider(&mut self, work: &mut Work<'_>, id: &SessionId, program: &Program) -> Option<Time> {
        let Self { sessions, stamps, .. } = self;
        let session = sessions.get_mut(id)?;
        session.pause.as_ref()?;
        let mut due: Vec<(Arc<Fork>, Trigger)> = Vec::new();
        let mut opens: Option<Time> = None;
        let mut next: Option<Time> = None;
        for fork in program.forks() {
            let Outlook { due: at, trigger, .. } = due::outlook(session, fork, &program.config, stamps, work.now);
            match (at, trigger) {
                (Some(at), Some(trigger)) if at <= work.now => {
                    due.push((Arc::clone(fork), trigger));
                    opens = Some(opens.map_or(at, |opens| opens.min(at)));
                }
                (Some(at), _) => next = Some(next.map_or(at, |next| next.min(at))),
                (None, _) => {}
            }
        }
        let pause = session.pause.as_mut()?;
        // A fork that came due by the mere passing of time did so at that instant, even if nobody looked; one that
        // was held back by something else came due when that went away, which is now.
        let opens = opens.map(|at| if at > pause.evaluated { at } else { work.now });
        pause.evaluated = work.now;
        pause.window = opens.map(|opens| pause.window.unwrap_or(opens));
        let Some(opened) = pause.window else { return next };
        let closes = due::window_closes(opened, program.config.wake_debounce);
        if closes > work.now {
            return Some(closes);
        }
        self.issue(work, id, due);
        None
    }

    /// Issues a wake for the forks that are due, and stamps them.
    fn issue(&mut self, work: &mut Work<'_>, id: &SessionId, due: Vec<(Arc<Fork>, Trigger)>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        self.wakes_issued += 1;
        let wake = WakeId::new(self.wakes_issued);
        for (fork, trigger) in due {
            // One ticket a fork: an older one that was never redeemed gives way.
            for older in session.open_tickets().filter(|ticket| ticket.fork == fork.name) {
                older.state = TicketState::Void;
            }
            self.tickets_issued += 1;
            let before = self.stamps.issue(&session.conversation, &session.root, &fork, work.now);
            session.tickets.push(Ticket {
                id: TicketId::new(self.tickets_issued),
                wake,
                fork: fork.name.clone(),
                trigger,
                issued: work.now,
                before,
                failures: 0,
                state: TicketState::Open,
            });
            if let Some(pause) = &mut session.pause {
                pause.fired.insert(fork.name.clone());
                pause.window = None;
            }
        }
        session.add_wake(Wake { id: wake, at: work.now, offers: 0, delivery: Delivery::Sent });
        self.send(work, id, wake);
        self.unsettle_neighbours(work, id);
    }

    /// The stamps of a session's project have moved: tag throttles of other sessions may begin or end.
    fn unsettle_neighbours(&self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let neighbours = self.sessions.values().filter(|other| other.root == session.root && other.id != *id);
        work.unsettled.extend(neighbours.map(|other| other.id.clone()));
    }

    /// Answers the parked hook with a wake.
    fn send(&mut self, work: &mut Work<'_>, id: &SessionId, wake: WakeId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some(wake) = session.unconfirmed_wake() {
            wake.offers = wake.offers.saturating_add(1);
        }
        if let Some(poll) = session.poll.take() {
            work.effects.push(Effect::Wake { session: id.clone(), poll: poll.id, wake });
        }
    }

    /// Takes a wake back that shows no sign of having arrived: its forks have not fired, and their stamps are as if it
    /// had never been.
    pub(super) fn withdraw_unconfirmed_wake(&mut self, work: &mut Work<'_>, id: &SessionId) {
        let Self { sessions, stamps, .. } = self;
        let Some(session) = sessions.get_mut(id) else { return };
        let Some(wake) = session.unconfirmed_wake() else { return };
        wake.delivery = Delivery::Withdrawn;
        let wake = wake.id;
        let Session { conversation, root, pause, tickets, .. } = session;
        for ticket in tickets.iter_mut().rev().filter(|ticket| ticket.wake == wake) {
            if ticket.state == TicketState::Open {
                ticket.state = TicketState::Void;
                stamps.give_back(conversation, root, &ticket.fork, ticket.issued, &ticket.before);
                if let Some(pause) = pause {
                    pause.fired.remove(&ticket.fork);
                }
            }
        }
        self.unsettle_neighbours(work, id);
    }

    fn reckon_deadline(&mut self, id: &SessionId, program: &Program, next: Option<Time>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let timeout = program.config.session_timeout;
        let times_out = (!timeout.is_zero()).then(|| session.last_event.after(timeout));
        session.deadline = [next, times_out, session.orphan_check].into_iter().flatten().min();
    }
}
