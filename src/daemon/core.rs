//! State and journal as one: what happens is taken into both or, if the disk fails, nothing of it is acted on that
//! must not be forgotten.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{Effect, Event, Outcome, Session, SessionId, State, Ticket, TicketId, TicketState, WakeId};
use crate::host::protocol::{DueFork, Instructions, Predecessor, Token, WakeOrder, shorten_description};
use crate::ir::{ForkName, LaunchDir, Program, Programs, Time};
use crate::journal::{Entry, Issued, Journal, Opened};

use super::random::Random;

/// What is to be done about something that happened.
#[derive(Debug)]
pub(super) struct Consequences {
    pub(super) effects: Vec<Effect>,
    pub(super) kept: Kept,
}

/// Whether what happened is safe on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Safely,
    /// It is not: a wake that it caused must not go out.
    No,
}

#[derive(Debug)]
pub(super) struct Core {
    state: State,
    programs: Programs,
    journal: Journal,
    random: Random,
    /// The last ticket that a token was made for.
    last_ticket: TicketId,
    /// Launch folders whose programs have their bodies: those in the journal have none.
    whole: BTreeSet<LaunchDir>,
    notes: Vec<String>,
    /// Why the last entry is not on disk, in a whole sentence.
    trouble: Option<String>,
}

impl Core {
    pub(super) fn new(opened: Opened, random: Random) -> Self {
        let Opened { journal, state, programs, notes } = opened;
        let tickets = state.sessions().flat_map(|session| session.tickets.iter().map(|ticket| ticket.id));
        let last_ticket = tickets.max().unwrap_or_default();
        Self { state, programs, journal, random, last_ticket, whole: BTreeSet::new(), notes, trouble: None }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn programs(&self) -> &Programs {
        &self.programs
    }

    /// What a person should know, in whole sentences: what has happened, and what is wrong now.
    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.iter().chain(&self.trouble).cloned().collect()
    }

    /// What keeps every fork from firing now, in a whole sentence.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Something that a person should know has happened. Logged each time, and told in `status` from now on.
    pub(super) fn note(&mut self, note: String) {
        tracing::warn!("{note}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether another daemon has taken over the journal.
    pub(super) fn is_overtaken(&self) -> bool {
        self.journal.is_overtaken()
    }

    /// Something happened.
    pub(super) fn happened(&mut self, at: Time, event: Event) -> Consequences {
        let entry = Entry::Event { at, event: Box::new(event.clone()) };
        let effects = self.state.apply(at, &self.programs, event);
        self.keep(&entry, effects)
    }

    /// `program` is in force at `launch`; nothing happens if it was before, its bodies aside.
    pub(super) fn in_force(&mut self, at: Time, launch: &LaunchDir, program: Arc<Program>) -> Option<Consequences> {
        // By far the most common: nobody has touched a file. A program is compared as a whole, or is the very same.
        if self.programs.get(launch).is_some_and(|known| Arc::ptr_eq(known, &program) || *known == program) {
            self.whole.insert(launch.clone());
            return None;
        }
        // Programs of folders where nobody is are forgotten, or a long life would gather them.
        let state = &self.state;
        self.programs.retain(|known| known == launch || state.sessions().any(|session| session.launch == *known));
        self.whole.insert(launch.clone());
        self.whole.retain(|known| self.programs.get(known).is_some() || known == launch);
        let stripped = Arc::new(program.without_bodies());
        let as_before = self.programs.get(launch).is_some_and(|known| known.without_bodies() == *stripped);
        self.programs.set(launch.clone(), program);
        if as_before {
            return None;
        }
        let entry = Entry::Program { at, launch: Cow::Borrowed(launch), program: stripped };
        let effects = self.state.apply(at, &self.programs, Event::ProgramChanged(launch.clone()));
        Some(self.keep(&entry, effects))
    }

    /// Whether the size of a session's context matters at `launch`: not if no fork there has a threshold.
    pub(super) fn wants_gauge(&self, launch: &LaunchDir) -> bool {
        self.programs.get(launch).is_none_or(|program| program.with_threshold().next().is_some())
    }

    /// The program at `launch` could not be compiled. One that was stays in force; one that is only known from the
    /// journal has no bodies, so there is none.
    pub(super) fn not_loaded(&mut self, at: Time, launch: &LaunchDir) -> Option<Consequences> {
        if self.whole.contains(launch) { None } else { self.in_force(at, launch, Arc::default()) }
    }

    fn keep(&mut self, entry: &Entry<'_>, mut effects: Vec<Effect>) -> Consequences {
        let mut records = Vec::new();
        effects.retain_mut(|effect| {
            let Effect::Record(record) = effect else { return true };
            records.push((**record).clone());
            false
        });
        let outcome = match self.new_tickets(&effects) {
            Ok(tickets) => {
                if let Some((last, _)) = tickets.last() {
                    self.last_ticket = *last;
                }
                self.journal
                    .commit(entry, Issued { tickets, records }, &self.state, &self.programs)
                    .map_err(|error| format!("The journal cannot be written ({error}): no fork fires until it can."))
            }
            Err(error) => Err(format!("There is no randomness for a ticket ({error}): no fork fires.")),
        };
        let kept = match outcome {
            Ok(()) => Kept::Safely,
            Err(_) => Kept::No,
        };
        self.note_trouble(outcome.err());
        for note in self.journal.take_notes() {
            self.note(note);
        }
        Consequences { effects, kept }
    }

    /// Tells of trouble when it comes and when it goes, and not with every event in between.
    fn note_trouble(&mut self, trouble: Option<String>) {
        match &trouble {
            Some(trouble) if self.trouble.is_none() => tracing::error!("{trouble}"),
            None if self.trouble.is_some() => tracing::info!("the journal can be written again"),
            _ => {}
        }
        self.trouble = trouble;
    }

    /// Instructions for the tickets that were just issued, in their order.
    fn new_tickets(&mut self, effects: &[Effect]) -> std::io::Result<Vec<(TicketId, Instructions)>> {
        let mut tickets = Vec::new();
        for effect in effects {
            let Effect::Wake { session, wake, .. } = effect else { continue };
            let Some(session) = self.state.session(session) else { continue };
            for ticket in session.tickets_of(*wake).filter(|ticket| ticket.id > self.last_ticket) {
                let token = self.random.token()?;
                tickets.push((ticket.id, self.instructions(session, ticket, token)));
            }
        }
        tickets.sort_by_key(|(id, _)| *id);
        Ok(tickets)
    }

    fn instructions(&self, session: &Session, ticket: &Ticket, token: Token) -> Instructions {
        let fork = self.programs.get(&session.launch).and_then(|program| program.fork(&ticket.fork));
        Instructions {
            ticket: token,
            fork: ticket.fork.clone(),
            // As text, like everywhere else in the journal and on the wire: JSON knows no other path.
            path: fork.map(|fork| PathBuf::from(fork.path.to_string_lossy().into_owned())).unwrap_or_default(),
            description: fork.and_then(|fork| fork.description.as_deref().map(shorten_description)),
            body: fork.map(|fork| fork.body.text.to_string()).unwrap_or_default(),
            trigger: ticket.trigger,
            session: session.id.clone(),
            conversation: session.conversation.clone(),
            root: session.root.clone(),
            issued: ticket.issued,
            predecessors: fork.map(|fork| predecessors(session, ticket, &fork.after)).unwrap_or_default(),
            fork_type: session.fork_type,
        }
    }

    /// What to tell a session about a wake: its tickets that can still be redeemed.
    pub(super) fn order(&self, session: &SessionId, wake: WakeId) -> WakeOrder {
        let tickets = self.state.session(session).into_iter().flat_map(|session| session.tickets_of(wake));
        let open = tickets.filter(|ticket| ticket.state == TicketState::Open);
        let mut forks: Vec<DueFork> =
            open.filter_map(|ticket| self.instructions_of(ticket.id)).map(|known| DueFork::from(&known)).collect();
        forks.sort_by(|one, other| one.fork.cmp(&other.fork));
        let held = self.state.session(session).into_iter().flat_map(|session| &session.held);
        let held = held.map(|held| held.fork.clone()).collect();
        WakeOrder { wake, forks, held }
    }

    /// What a ticket stands for.
    pub(super) fn instructions_of(&self, ticket: TicketId) -> Option<Instructions> {
        let written = self.journal.by_ticket(ticket).unwrap_or_else(|error| {
            tracing::error!("cannot read the journal: {error}");
            None
        });
        written.map(|written| self.with_latest_ends(ticket, written))
    }

    /// The ticket that a token stands for.
    pub(super) fn by_token(&self, token: &Token) -> Option<(TicketId, Instructions)> {
        let written = self.journal.by_token(token).unwrap_or_else(|error| {
            tracing::error!("cannot read the journal: {error}");
            None
        });
        written.map(|(ticket, written)| (ticket, self.with_latest_ends(ticket, written)))
    }

    /// Instructions with what is known by now of the forks that theirs waited for. The client often takes a run off its
    /// list before it tells how that run ended, and by then the ticket is written.
    fn with_latest_ends(&self, ticket: TicketId, mut written: Instructions) -> Instructions {
        if !written.predecessors.is_empty()
            && let Some(session) = self.state.session(&written.session)
            && let Some(ticket) = session.tickets.iter().find(|known| known.id == ticket)
        {
            for told in &mut written.predecessors {
                if let Some(predecessor) = session.ticket_in_batch(ticket.batch, &told.fork) {
                    *told = became(predecessor);
                }
            }
        }
        written
    }

    /// Leaves the journal so that the next life begins quickly.
    pub(super) fn finish(&mut self) {
        if let Err(error) = self.journal.snapshot(&self.state, &self.programs) {
            tracing::error!("cannot write the journal: {error}");
        }
    }
}

/// What became of the forks of the same batch that a ticket's fork waited for. One that was in the batch and has no run
/// is told too: its dependent may rest on what it did not do.
fn predecessors(session: &Session, ticket: &Ticket, after: &[ForkName]) -> Vec<Predecessor> {
    let in_batch = after.iter().filter_map(|name| session.ticket_in_batch(ticket.batch, name));
    in_batch.filter(|predecessor| predecessor.wake < ticket.wake).map(became).collect()
}

fn became(predecessor: &Ticket) -> Predecessor {
    let end = predecessor.run().and_then(|run| run.end.as_ref());
    Predecessor {
        fork: predecessor.fork.clone(),
        outcome: predecessor.run().map(|_| end.map_or(Outcome::Lost, |end| end.outcome)),
        report: end.and_then(|end| end.report.clone()),
    }
}

#[cfg(test)]
mod tests;
