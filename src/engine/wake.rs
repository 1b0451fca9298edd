//! Wakes: when they go out, with which tickets, and what happens to one that does not get through.

use std::sync::Arc;

use super::after;
use super::due::{self, Outlook, View};
use super::effect::Effect;
use super::id::{SessionId, TicketId, WakeId};
use super::session::{Delivery, Held, Session, Wake};
use super::stamps::{Before, Stamps};
use super::ticket::{Ticket, TicketState, Trigger};
use super::{State, Work};
use crate::ir::{Fork, ForkName, Moment, Program, Time};

/// A fork that is due.
struct Due {
    fork: Arc<Fork>,
    trigger: Trigger,
    /// All of its moments that are.
    moments: Vec<Moment>,
}

impl Due {
    /// The stamps and latches as they are before it is issued.
    fn before(&self, session: &Session, stamps: &Stamps) -> Before {
        let (idle, spent): (Vec<Moment>, Vec<Moment>) =
            self.moments.iter().partition(|moment| matches!(moment, Moment::Idle(_)));
        let mut before = stamps.before(&session.conversation, &session.root, &self.fork);
        before.latched_idle = !idle.is_empty();
        before.spent = spent;
        before
    }
}

impl State {
    /// Brings a session to rest after something has changed: ends it if its time is over, wakes it if forks are due
    /// and it can be woken, and reckons when to look again.
    pub(super) fn settle(&mut self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let program = work.program(&session.launch);
        let timeout = program.config().session_timeout;
        if !timeout.is_zero() && session.last_event.after(timeout) <= work.now {
            self.end_session(work, id);
            self.over.may_go_on();
            return;
        }
        if session.orphan_check.is_some_and(|check| check <= work.now) {
            session.orphan_check = None;
            work.effects.push(Effect::Probe { session: id.clone(), client: session.client });
        }
        self.forget_held_without_fork(work, id, &program);
        let next = self.wake_or_wait(work, id, &program);
        self.record_changes(work, id);
        self.reckon_deadline(id, &program, next);
    }

    /// Wakes a parked session if there is a reason to. Returns when to look again.
    fn wake_or_wait(&mut self, work: &mut Work<'_>, id: &SessionId, program: &Program) -> Option<Time> {
        let session = self.sessions.get_mut(id).filter(|session| session.is_parked())?;
        if due::mode_forbids_wakes(session, program.config()) {
            // Not even a wake that was issued before, nor one for forks that were held back.
            return self.consider(work, id, program);
        }
        if let Some(wake) = session.wake_to_offer().map(|wake| wake.id) {
            self.send(work, id, wake);
            return None;
        }
        let released = self.take_released(work.now, id);
        if !released.is_empty() {
            self.issue_released(work, id, released);
            return None;
        }
        let due = self.consider(work, id, program);
        // Woken: the hook is gone, and until the next one there is nothing that could be done.
        self.sessions.get(id).filter(|session| session.is_parked())?;
        [due, self.next_release(work.now, id)].into_iter().flatten().min()
    }

    /// Opens, keeps or closes the window in which due forks gather, and issues the wake at its end. Returns when to
    /// look again.
    fn consider(&mut self, work: &mut Work<'_>, id: &SessionId, program: &Program) -> Option<Time> {
        let session = self.sessions.get(id)?;
        session.pause.as_ref()?;
        let view =
            View { session, config: program.config(), stamps: &self.stamps, windows: &self.windows, now: work.now };
        let mut due: Vec<Due> = Vec::new();
        let mut opens: Option<Time> = None;
        let mut next: Option<Time> = None;
        let mut look = |fork: &Arc<Fork>| {
            let Outlook { due: at, trigger, .. } = view.outlook(fork);
            match (at, trigger) {
                (Some(at), Some(trigger)) if at <= work.now => {
                    due.push(Due { fork: Arc::clone(fork), trigger, moments: view.due_moments(fork) });
                    opens = Some(opens.map_or(at, |opens| opens.min(at)));
                }
                (Some(at), _) => next = Some(next.map_or(at, |next| next.min(at))),
                (None, _) => {}
            }
            next
        };
        for fork in program.with_threshold() {
            look(fork);
        }
        let mut earliest = None;
        for (deadline, fork) in view
            .clock()
            .iter()
            .flat_map(|clock| program.by_deadline().map(|(deadline, fork)| (clock.after(deadline), fork)))
        {
            // Nobody further on can come due before then: no guard makes a fork due earlier than its deadline.
            if deadline > work.now && earliest.is_some_and(|earliest| earliest <= deadline) {
                break;
            }
            earliest = look(fork);
        }
        let pause = self.sessions.get_mut(id)?.pause.as_mut()?;
        // A fork that came due by the mere passing of time did so at that instant, even if nobody looked; one that
        // was held back by something else came due when that went away, which is now.
        let opens = opens.map(|at| if at > pause.evaluated { at } else { work.now });
        pause.evaluated = work.now;
        pause.window = opens.map(|opens| pause.window.unwrap_or(opens));
        let Some(opened) = pause.window else { return next };
        let closes = due::window_closes(opened, program.config().wake_debounce);
        if closes > work.now {
            return Some(closes);
        }
        self.issue(work, id, &due);
        None
    }

    /// Issues a wake for the forks that are due: stamps and latches them all, gives a ticket to each that waits for
    /// no other of them, and holds the rest back.
    fn issue(&mut self, work: &mut Work<'_>, id: &SessionId, due: &[Due]) {
        let Some(session) = self.sessions.get(id) else { return };
        // As they were before the whole batch, so that giving some back does not depend on which.
        let before: Vec<Before> = due.iter().map(|due| due.before(session, &self.stamps)).collect();
        let wake = self.number_wake();
        let mut order = after::predecessors(due.iter().map(|due| &*due.fork));
        for (due, before) in due.iter().zip(before) {
            self.stamp(work.now, id, due);
            let after = order.remove(&due.fork.name).unwrap_or_default();
            let held = Held {
                fork: due.fork.name.clone(),
                batch: wake,
                after,
                trigger: due.trigger,
                issued: work.now,
                before,
            };
            if held.after.is_empty() {
                self.give_ticket(id, wake, held);
            } else if let Some(session) = self.sessions.get_mut(id) {
                session.held.push(held);
            }
        }
        if let Some(pause) = self.sessions.get_mut(id).and_then(|session| session.pause.as_mut()) {
            pause.window = None;
        }
        self.record_and_send(work, id, wake);
        self.unsettle_neighbours(work, id);
    }

    /// Issues a wake for forks that are held back no longer. They were stamped with their batch.
    fn issue_released(&mut self, work: &mut Work<'_>, id: &SessionId, released: Vec<Held>) {
        let wake = self.number_wake();
        for held in released {
            self.give_ticket(id, wake, held);
        }
        self.record_and_send(work, id, wake);
    }

    fn number_wake(&mut self) -> WakeId {
        self.wakes_issued += 1;
        WakeId::new(self.wakes_issued)
    }

    /// Stamps a fork as issued and latches the moments that made it due.
    fn stamp(&mut self, now: Time, id: &SessionId, due: &Due) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        self.stamps.issue(&session.conversation, &session.root, &due.fork, now);
        for moment in &due.moments {
            if let Moment::Idle(_) = moment {
                // By the fork's name, whichever of its idle moments it was: once a pause is once.
                if let Some(pause) = &mut session.pause {
                    pause.fired.insert(due.fork.name.clone());
                }
            } else {
                session.spent.entry(due.fork.name.clone()).or_default().push(*moment);
            }
        }
    }

    fn give_ticket(&mut self, id: &SessionId, wake: WakeId, held: Held) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Held { fork, batch, trigger, issued, before, after: _ } = held;
        // One ticket a fork: an older one that was never redeemed gives way.
        for older in session.open_tickets().filter(|ticket| ticket.fork == fork) {
            older.state = TicketState::Void;
        }
        self.tickets_issued += 1;
        session.tickets.push(Ticket {
            id: TicketId::new(self.tickets_issued),
            wake,
            batch,
            fork,
            trigger,
            issued,
            before,
            failures: 0,
            state: TicketState::Open,
            recorded: None,
        });
    }

    fn record_and_send(&mut self, work: &mut Work<'_>, id: &SessionId, wake: WakeId) {
        if let Some(session) = self.sessions.get_mut(id) {
            let at = work.now;
            session.add_wake(Wake {
                id: wake,
                at,
                offers: 0,
                heard: false,
                answered: false,
                delivery: Delivery::Sent,
            });
        }
        self.send(work, id, wake);
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

    /// The stamps of a session's conversation and project have moved: throttles of other sessions may begin or end.
    pub(super) fn unsettle_neighbours(&self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let tags_matter = work.programs.iter().any(|(_, program)| !program.config().tag_throttles.is_empty());
        let neighbours = self.sessions.values().filter(|other| {
            let shares_tags = tags_matter && other.root == session.root;
            // Two clients can go on with one conversation at the same time.
            other.id != *id && (shares_tags || other.conversation == session.conversation)
        });
        work.unsettled.extend(neighbours.map(|other| other.id.clone()));
    }

    /// Takes a wake back that shows no sign of having arrived: its forks have not fired, and their stamps are as if it
    /// had never been.
    pub(super) fn withdraw_unconfirmed_wake(&mut self, work: &mut Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Some(wake) = session.unconfirmed_wake() else { return };
        wake.delivery = Delivery::Withdrawn;
        let wake = wake.id;
        let mut unspawned = Vec::new();
        for ticket in session.tickets.iter_mut().filter(|ticket| ticket.wake == wake) {
            if ticket.state == TicketState::Open {
                ticket.state = TicketState::Void;
                unspawned.push((ticket.fork.clone(), ticket.issued, ticket.before.clone()));
            }
        }
        // Those that were held back for these were never asked for either.
        let held = session.held.extract_if(.., |held| held.batch == wake);
        unspawned.extend(held.map(|held| (held.fork, held.issued, held.before)));
        self.give_back(id, unspawned);
        self.unsettle_neighbours(work, id);
    }

    /// Gives the stamps and latches back of forks that were issued and never started.
    pub(super) fn give_back(&mut self, id: &SessionId, unspawned: Vec<(ForkName, Time, Before)>) {
        let Self { sessions, stamps, .. } = self;
        let Some(session) = sessions.get_mut(id) else { return };
        let Session { conversation, root, pause, spent, .. } = session;
        for (fork, issued, before) in unspawned {
            stamps.give_back(conversation, root, &fork, issued, &before);
            if before.latched_idle
                && let Some(pause) = pause
            {
                pause.fired.remove(&fork);
            }
            if let Some(spent) = spent.get_mut(&fork) {
                spent.retain(|moment| !before.spent.contains(moment));
            }
        }
    }

    fn reckon_deadline(&mut self, id: &SessionId, program: &Program, next: Option<Time>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let timeout = program.config().session_timeout;
        let times_out = (!timeout.is_zero()).then(|| session.last_event.after(timeout));
        session.deadline = [next, times_out, session.orphan_check].into_iter().flatten().min();
    }
}
