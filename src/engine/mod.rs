//! The scheduler: events and the program go in, effects come out.
//!
//! Pure: no I/O, no clock, no randomness, nothing but `ir`, serde and std. Time is a value passed in. The state is the
//! fold of the events, so the journal of events rebuilds it after a crash, `simulate` plays it on a virtual clock, and
//! a test can put it into any situation.
//!
//! - [`State::apply`] takes one event and returns what is to be done about it.
//! - [`State::next_deadline`] says when to come back with [`Event::Tick`] if nothing else happens.
//! - [`State::outlook`] says of one fork in one session when it fires next and what stands in the way.

mod after;
mod due;
mod effect;
mod event;
mod fork_type;
mod gauge;
mod held;
mod id;
mod over;
mod reason;
mod record;
mod session;
mod spawn;
mod stamps;
mod ticket;
mod turn;
mod wake;

#[cfg(any(test, feature = "simulation"))]
pub mod simulation;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ir::{Fork, LaunchDir, Program, Programs, ProjectRoot, Time};

pub use after::predecessors;
pub use due::Outlook;
use due::View;
pub use effect::{Denial, Effect};
pub use event::{
    BackgroundTask, Caller, Event, Evidence, Fact, Mark, Origin, Outcome, PermissionMode, Prompt, SpawnFailure,
    Start, StartSource, TagOverride, TaskKind, TaskNotice, TurnKind, Usage,
};
pub use fork_type::ForkType;
use gauge::Windows;
pub use gauge::{Gauge, WindowSign};
pub use id::{ClientProcess, Conversation, PollId, PromptId, SessionId, TaskId, TicketId, ToolUseId, WakeId};
use over::Over;
pub use reason::Reason;
pub use record::Record;
pub use session::{Delivery, Held, Pause, Poll, Session, Turn, Wake};
pub use stamps::Stamps;
pub use ticket::{CALL_PREFIX, RUN_AGES_OUT, Run, RunEnd, Ticket, TicketState, Trigger, call_description};

/// Everything the scheduler knows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// The latest instant seen: time does not run backwards in here, whatever the clock does.
    now: Time,
    wakes_issued: u64,
    tickets_issued: u64,
    sessions: BTreeMap<SessionId, Session>,
    stamps: Stamps,
    #[serde(default)]
    windows: Windows,
    #[serde(default)]
    over: Over,
}

impl State {
    /// Takes in what happened at `now` under `programs`, and returns what is to be done about it, in this order.
    pub fn apply(&mut self, now: Time, programs: &Programs, event: Event) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut work = Work { now: self.now, programs, effects: Vec::new(), unsettled: Vec::new() };
        match event {
            Event::Restarted => self.restarted(&mut work),
            Event::Tick => self.tick(&mut work),
            Event::ProgramChanged(launch) => self.settle_where(&mut work, |session| session.launch == launch),
            Event::Host { origin, root, fact } => self.host(&mut work, &origin, root, fact),
            Event::GaugeRead { session, tokens, window } => self.gauge_read(&mut work, &session, tokens, window),
            Event::Parked { session, poll, mark } => self.parked(&mut work, &session, poll, mark),
            Event::PollDropped { session, poll } => self.poll_dropped(&mut work, &session, poll),
            Event::WakeWithheld(id) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.wake_withheld();
                    session.orphan_check = Some(work.now.after(session::ORPHAN_GRACE));
                }
                self.settle(&mut work, &id);
            }
            Event::WakeDelivered(id) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.wake_arrived();
                }
                // From now on its turn is awaited, and not for ever.
                self.settle(&mut work, &id);
            }
            Event::ClientGone(session) => self.end_session(&mut work, &session),
            Event::ClientAlive(session) => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.orphan_check = None;
                }
                self.settle(&mut work, &session);
            }
        }
        // A wake moves the tag throttles of its whole project.
        while let Some(id) = work.unsettled.pop() {
            self.settle(&mut work, &id);
        }
        work.effects
    }

    /// The instant at which there is something to do if nothing else happens before; `None` if there never is.
    ///
    /// Between now and then nothing comes due, and an [`Event::Tick`] at that instant changes something.
    pub fn next_deadline(&self) -> Option<Time> {
        self.sessions.values().filter_map(|session| session.deadline).min()
    }

    /// The sessions for which a tick at `now` has something to do.
    pub fn due_at(&self, now: Time) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(move |session| session.deadline.is_some_and(|deadline| deadline <= now))
    }

    /// The latest instant seen.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The sessions that have not ended, by id.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The session with that id, if it has not ended.
    pub fn session(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// When forks were last issued.
    pub fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// The size of the session's context window, in tokens.
    pub fn window_of(&self, session: &Session) -> u64 {
        self.windows.size(&session.conversation)
    }

    /// Until when at the latest background work holds the clock of the session's pause: without limit if that is
    /// `None`. `None` if the clock runs or there is no pause.
    pub fn held_by_background(&self, session: &Session, program: &Program) -> Option<Option<Time>> {
        let pause = session.pause.as_ref().filter(|pause| pause.clock.is_none())?;
        let view =
            View { session, config: program.config(), stamps: &self.stamps, windows: &self.windows, now: self.now };
        match view.clock() {
            Ok(until) if until <= self.now.max(pause.began) => None,
            Ok(until) => Some(Some(until)),
            Err(_) => Some(None),
        }
    }

    /// The fork's next firing in a session at `now`, with every reason that stands in the way, being parked included.
    pub fn outlook(&self, session: &Session, fork: &Fork, program: &Program, now: Time) -> Outlook {
        let view = View { session, config: program.config(), stamps: &self.stamps, windows: &self.windows, now };
        let mut outlook = view.outlook(fork);
        if let (Some(pause), true) = (&session.pause, outlook.reasons.is_empty())
            && let Some(opened) = pause.window
        {
            let until = due::window_closes(opened, program.config().wake_debounce);
            if until > now {
                outlook.reasons.push(Reason::Debouncing { until });
                outlook.due = Some(until);
            }
        }
        if !session.is_parked() {
            let mid_turn = matches!(session.turn, Turn::Running { .. });
            let reason = if mid_turn { Reason::MidTurn } else { Reason::NotParked };
            if !outlook.reasons.contains(&reason) && session.turn != Turn::None {
                outlook.reasons.push(reason);
            }
        }
        outlook
    }

    fn host(&mut self, work: &mut Work<'_>, origin: &Origin, root: ProjectRoot, fact: Fact) {
        let id = &origin.session;
        let place = fact.places_session().then(|| root.clone());
        if let Fact::Started(_) = fact {
            self.end_predecessor(work, origin);
        }
        // A straggler of a session that is over must not bring it back to life.
        let begins = matches!(fact, Fact::Started(_) | Fact::Prompt { .. } | Fact::Stopped { .. });
        if begins && !self.sessions.contains_key(id) && !self.over.is_straggler(id, &fact) {
            self.sessions.insert(id.clone(), Session::new(origin, root, work.now));
        }
        if let Some(session) = self.sessions.get_mut(id) {
            session.last_event = work.now;
            session.orphan_check = None;
            session.client = origin.client.or(session.client);
            if let Some(root) = place {
                session.launch = origin.launch.clone();
                session.root = root;
                session.tags = origin.tags.clone();
            }
        }
        match fact {
            Fact::Started(start) => self.started(work, id, start),
            Fact::Prompt { mark, prompt, mode } => self.prompted(work, id, &mark, prompt, mode),
            Fact::Stopped { mark, kind, background, mode } => self.stopped(work, id, &mark, kind, background, mode),
            Fact::SpawnRequested { tool_use, ticket, caller } => {
                self.spawn_requested(work, id, &tool_use, ticket, caller);
            }
            Fact::SpawnStarted { tool_use, agent, ticket } => {
                self.spawn_started(work, id, &tool_use, &agent, ticket.flatten());
            }
            Fact::SpawnFailed { tool_use, failure } => self.spawn_failed(work, id, &tool_use, failure),
            Fact::ForkStarted(agent) => self.fork_started(work, id, &agent),
            Fact::SubagentStopped { agent, report } => self.subagent_stopped(work, id, &agent, report),
            Fact::Ended => self.end_session(work, id),
        }
        self.settle(work, id);
    }

    fn gauge_read(&mut self, work: &mut Work<'_>, id: &SessionId, tokens: Option<u64>, window: WindowSign) {
        self.set_gauge(work.now, id, tokens, window);
        self.settle(work, id);
    }

    fn set_gauge(&mut self, now: Time, id: &SessionId, tokens: Option<u64>, window: WindowSign) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        self.windows.observe(&session.conversation, tokens, window);
        session.gauge = tokens.map(|tokens| match session.gauge {
            // The same reading again is no news: the threshold was reached when it was first read.
            Some(known) if known.tokens == tokens => known,
            _ => Gauge { tokens, at: now },
        });
    }

    fn restarted(&mut self, work: &mut Work<'_>) {
        for session in self.sessions.values_mut() {
            if session.poll.take().is_some() {
                session.orphan_check = Some(work.now.after(session::ORPHAN_GRACE));
            }
        }
        self.settle_where(work, |_| true);
    }

    fn tick(&mut self, work: &mut Work<'_>) {
        let now = work.now;
        self.settle_where(work, |session| session.deadline.is_some_and(|deadline| deadline <= now));
    }

    fn poll_dropped(&mut self, work: &mut Work<'_>, id: &SessionId, poll: PollId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let was_parked = session.poll.as_ref().is_some_and(|parked| parked.id == poll);
        if was_parked {
            session.poll = None;
        }
        // The hook that a wake was sent to can vanish with it, together with its client.
        if was_parked || session.unconfirmed_wake().is_some() {
            session.orphan_check = Some(work.now.after(session::ORPHAN_GRACE));
        }
        self.settle(work, id);
    }

    /// One client process has one session at a time: another one's start ends the one before.
    fn end_predecessor(&mut self, work: &mut Work<'_>, origin: &Origin) {
        let Some(client) = origin.client else { return };
        let earlier: Vec<SessionId> = self
            .sessions
            .values()
            .filter(|session| session.client == Some(client) && session.id != origin.session)
            .map(|session| session.id.clone())
            .collect();
        for id in earlier {
            self.end_session(work, &id);
        }
    }

    fn end_session(&mut self, work: &mut Work<'_>, id: &SessionId) {
        self.withdraw_unconfirmed_wake(work, id);
        self.drop_held(work, id);
        let Some(session) = self.sessions.remove(id) else { return };
        work.effects.extend(session.last_records(work.now));
        self.over.add(session.id.clone(), work.now, session.newest_turn().cloned());
        if let Some(poll) = session.poll {
            work.effects.push(Effect::Release { poll: poll.id });
        }
    }

    fn settle_where(&mut self, work: &mut Work<'_>, wanted: impl Fn(&Session) -> bool) {
        let ids: Vec<SessionId> =
            self.sessions.values().filter(|session| wanted(session)).map(|session| session.id.clone()).collect();
        for id in ids {
            self.settle(work, &id);
        }
    }
}

/// What one call of [`State::apply`] carries along.
struct Work<'a> {
    now: Time,
    programs: &'a Programs,
    effects: Vec<Effect>,
    /// Sessions that something in another session has changed.
    unsettled: Vec<SessionId>,
}

impl Work<'_> {
    /// The program in force for a launch folder; an empty one with default settings where none was compiled.
    fn program(&self, launch: &LaunchDir) -> Arc<Program> {
        self.programs.get(launch).cloned().unwrap_or_default()
    }
}
