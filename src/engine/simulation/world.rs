//! The world of a schedule: sessions with their clients, hooks on their way, fork files, a clock, and a daemon that
//! dies now and then.

use std::sync::Arc;

use super::forks;
use super::journal::Journal;
use super::ledger::Ledger;
use super::step::{Fate, Mode, Step};
use crate::engine::{
    BackgroundTask, Caller, ClientProcess, Delivery, Denial, Effect, Event, Evidence, Fact, Mark, Origin, Outcome,
    PermissionMode, PollId, Prompt, Session, SessionId, Start, StartSource, State, TagOverride, TaskId, TaskKind,
    TaskNotice, TicketId, ToolUseId, TurnKind, Usage, WindowSign,
};
use crate::ir::{LaunchDir, Programs, ProjectRoot, Time};

/// Two projects; in one of them sessions are launched in two folders.
const LAUNCHES: [(&str, &str); 3] = [("/a", "/a"), ("/a/sub", "/a"), ("/b", "/b")];

/// The sessions: id, conversation, launch folder, client. The third goes on with the first one's conversation, in the
/// same client; the last has tag sets of its own.
const SESSIONS: [(&str, &str, usize, u32); 4] =
    [("s0", "c0", 0, 1), ("s1", "c1", 1, 2), ("s2", "c0", 0, 1), ("s3", "c3", 2, 4)];

/// How many ticks in a row there may be before time moves on.
const MOST_TICKS: usize = 500;

/// A hook on its way to the daemon.
#[derive(Debug, Clone)]
struct Hook {
    slot: usize,
    fact: Fact,
    /// It parks, for this turn.
    parks: Option<Mark>,
}

/// What is known of one session outside the daemon.
#[derive(Debug, Default, Clone)]
struct Client {
    turn: u64,
    /// Calls that were made: the ticket presented, and the call.
    calls: Vec<(TicketId, ToolUseId)>,
    agents: Vec<(ToolUseId, TaskId)>,
    last_stop: Option<Hook>,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) state: State,
    pub(super) programs: Programs,
    clock: Time,
    ledger: Ledger,
    journal: Journal,
    clients: [Client; 4],
    late: Vec<Hook>,
    count: u64,
}

impl World {
    pub(super) fn new(choice: u64) -> Self {
        let program = Arc::new(forks::program(choice));
        let programs: Programs =
            LAUNCHES.iter().map(|(launch, _)| (LaunchDir::new(*launch), Arc::clone(&program))).collect();
        let state = State::default();
        let journal = Journal::new(&state, &programs);
        Self {
            state,
            programs,
            clock: Time::from_millis(1_000_000_000),
            ledger: Ledger::default(),
            journal,
            clients: Default::default(),
            late: Vec::new(),
            count: 0,
        }
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Wait(length) => self.wait(length),
            Step::ClockJump(length) => self.clock = Time::from_millis(self.clock.as_millis() + length),
            Step::Start(slot, source, fate) => self.start(index(slot), source, fate),
            Step::Human(slot, mode, fate) => self.prompt(slot, Prompt::Human, mode, fate),
            Step::WakeTurn(slot, mode, fate) => self.prompt(slot, Prompt::Wake, mode, fate),
            Step::OtherHook(slot, fate) => self.prompt(slot, Prompt::OtherHook, Mode::Untold, fate),
            Step::Notices(slot, ours, foreign, fate) => self.notices(slot, ours, foreign, fate),
            Step::Stop(slot, foreign, mode, fate) => self.stop(index(slot), foreign, mode, fate),
            Step::ParkAgain(slot) => {
                if let Some(hook) = self.clients[index(slot)].last_stop.clone() {
                    self.arrive(hook);
                }
            }
            Step::DropPoll(slot) => {
                if let Some(poll) = self.session(slot).and_then(|session| session.poll.as_ref()).map(|poll| poll.id) {
                    self.apply(Event::PollDropped { session: id(slot), poll });
                }
            }
            Step::Delivered(slot) => drop(self.apply(Event::WakeDelivered(id(slot)))),
            Step::Gauge(slot, tokens) => {
                let (tokens, window) = ((tokens > 0).then_some(tokens), WindowSign::None);
                self.apply(Event::GaugeRead { session: id(slot), tokens, window });
            }
            Step::Redeem(slot, which, how, fate) => self.redeem(slot, which, how, fate),
            Step::Link(slot, which, fate) => {
                let calls = &self.clients[index(slot)].calls;
                let Some((_, tool_use)) = nth_last(calls, which).cloned() else { return };
                let agent = self.new_agent(slot, &tool_use);
                self.send(index(slot), Fact::SpawnStarted { tool_use, agent, ticket: None }, fate);
            }
            Step::LinkUnasked(slot, which) => {
                let ticket = self.ticket(slot, which);
                let tool_use = ToolUseId::from(self.fresh("unasked").as_str());
                let agent = self.new_agent(slot, &tool_use);
                let fact = Fact::SpawnStarted { tool_use, agent, ticket: ticket.map(Some) };
                self.send(index(slot), fact, Fate::Arrives);
            }
            Step::ForkStarted(slot) => {
                let agent = self.new_agent(slot, &"untold".into());
                self.send(index(slot), Fact::ForkStarted(agent), Fate::Arrives);
            }
            Step::Fail(slot, which, failure, fate) => {
                let calls = &self.clients[index(slot)].calls;
                let Some((_, tool_use)) = nth_last(calls, which).cloned() else { return };
                self.send(index(slot), Fact::SpawnFailed { tool_use, failure }, fate);
            }
            Step::Finish(slot, which, fate) => {
                let agents = &mut self.clients[index(slot)].agents;
                if agents.is_empty() {
                    return;
                }
                let place = index(which) % agents.len();
                let (_, agent) = agents.remove(agents.len() - 1 - place);
                let report = (which % 2 == 0).then(|| "done".to_owned());
                self.send(index(slot), Fact::SubagentStopped { agent, report }, fate);
            }
            Step::End(slot, fate) => self.send(index(slot), Fact::Ended, fate),
            Step::ClientGone(slot) => drop(self.apply(Event::ClientGone(id(slot)))),
            Step::ClientAlive(slot) => drop(self.apply(Event::ClientAlive(id(slot)))),
            Step::Arrive(which) => {
                if !self.late.is_empty() {
                    let place = index(which) % self.late.len();
                    let hook = self.late.remove(place);
                    self.arrive(hook);
                }
            }
            Step::Edit(place, choice) => self.edit(&LaunchDir::new(LAUNCHES[index(place)].0), choice),
            Step::Snapshot => self.journal.snapshot(&self.state, &self.programs),
            Step::Crash => self.crash(),
        }
    }

    /// The end of a schedule: what is on disk must be what is in memory.
    pub(super) fn finish(&self) {
        self.journal.check(&self.state, &self.programs);
        self.ledger.records_are_true(&self.state);
    }

    fn wait(&mut self, length: u64) {
        let end = Time::from_millis(self.clock.as_millis() + i64::try_from(length).unwrap_or(0));
        for _ in 0..MOST_TICKS {
            let Some(deadline) = self.state.next_deadline().filter(|deadline| *deadline <= end) else {
                self.clock = end;
                return;
            };
            self.clock = self.clock.max(deadline);
            self.apply(Event::Tick);
        }
        panic!("ticks without an end");
    }

    fn crash(&mut self) {
        let (state, programs) = self.journal.check(&self.state, &self.programs);
        (self.state, self.programs) = (state, programs);
        self.apply(Event::Restarted);
    }

    fn edit(&mut self, launch: &LaunchDir, choice: u64) {
        let program = Arc::new(forks::program(choice));
        self.journal.program(self.clock, launch, &program);
        let before = self.state.clone();
        self.programs.set(launch.clone(), program);
        let event = Event::ProgramChanged(launch.clone());
        let effects = self.state.apply(self.clock, &self.programs, event.clone());
        self.ledger.happened(&before, &event, &effects, &self.state, &self.programs);
    }

    /// Something reaches the engine. Everything that must hold is checked after it.
    #[expect(clippy::needless_pass_by_value, reason = "every step makes the event that it hands over")]
    fn apply(&mut self, event: Event) -> Vec<Effect> {
        self.journal.event(self.clock, &event);
        let before = self.state.clone();
        let effects = self.state.apply(self.clock, &self.programs, event.clone());
        self.ledger.happened(&before, &event, &effects, &self.state, &self.programs);
        effects
    }

    fn send(&mut self, slot: usize, fact: Fact, fate: Fate) {
        self.dispatch(Hook { slot, fact, parks: None }, fate);
    }

    fn dispatch(&mut self, hook: Hook, fate: Fate) {
        match fate {
            Fate::Arrives => self.arrive(hook),
            Fate::ArrivesTwice => {
                self.arrive(hook.clone());
                self.arrive(hook);
            }
            Fate::ArrivesLater => self.late.push(hook),
            Fate::IsLost => {}
        }
    }

    fn arrive(&mut self, hook: Hook) {
        let Hook { slot, fact, parks } = hook;
        let (session, conversation, launch, client) = SESSIONS[slot];
        let (launch, root) = LAUNCHES[launch];
        let tags = TagOverride { disable: (slot == 3).then(|| ["noisy".into()].into()), ..TagOverride::default() };
        let origin = Origin {
            session: session.into(),
            conversation: conversation.into(),
            launch: LaunchDir::new(launch),
            client: Some(ClientProcess { pid: client, start: 1 }),
            transcript: None,
            tags,
        };
        let presented = match &fact {
            Fact::SpawnRequested { ticket: Some(ticket), tool_use, caller } => {
                Some((*ticket, tool_use.clone(), *caller))
            }
            _ => None,
        };
        let effects = self.apply(Event::Host { origin, root: ProjectRoot::new(root), fact });
        if let Some((ticket, tool_use, caller)) = presented {
            self.answered(slot, ticket, &tool_use, caller, &effects);
        }
        if let Some(mark) = parks {
            self.count += 1;
            self.apply(Event::Parked { session: session.into(), poll: PollId::new(self.count), mark });
        }
    }

    fn answered(&mut self, slot: usize, ticket: TicketId, tool_use: &ToolUseId, caller: Caller, effects: &[Effect]) {
        let allows = |effect: &Effect| matches!(effect, Effect::Allow { ticket: allowed, .. } if *allowed == ticket);
        let allowed = effects.iter().any(allows);
        let denied = effects.iter().any(|effect| matches!(effect, Effect::Deny(_)));
        assert_ne!(allowed, denied, "a spawn call is either let through or refused");
        assert!(caller == Caller::Main || effects.contains(&Effect::Deny(Denial::Nested)), "a nested spawn");
        if allowed {
            let holder = self.state.sessions().find(|session| session.tickets.iter().any(|held| held.id == ticket));
            assert_eq!(holder.map(|session| session.id.as_str()), Some(SESSIONS[slot].0), "a foreign ticket");
            self.clients[slot].calls.push((ticket, tool_use.clone()));
        }
    }

    fn start(&mut self, slot: usize, source: u64, fate: Fate) {
        let source = match source {
            0 | 1 => StartSource::Startup,
            2 | 3 => StartSource::Compact,
            4 => StartSource::Clear,
            _ => StartSource::Resume,
        };
        let tokens = (source == StartSource::Resume).then_some(120);
        self.send(slot, Fact::Started(Start { source, tokens, window: WindowSign::None }), fate);
    }

    fn prompt(&mut self, slot: u64, prompt: Prompt, mode: Mode, fate: Fate) {
        let slot = index(slot);
        self.clients[slot].turn += 1;
        let mark = self.mark(slot);
        self.send(slot, Fact::Prompt { mark, prompt, mode: told(mode) }, fate);
    }

    fn notices(&mut self, slot: u64, ours: u64, foreign: u64, fate: Fate) {
        let agents = &mut self.clients[index(slot)].agents;
        let ours = agents.split_off(agents.len().saturating_sub(index(ours)));
        let mut notices: Vec<TaskNotice> = ours.into_iter().map(|(_, agent)| notice(agent)).collect();
        for number in 0..foreign {
            notices.push(notice(format!("foreign-{number}").as_str().into()));
        }
        if !notices.is_empty() {
            self.prompt(slot, Prompt::Tasks(notices), Mode::Untold, fate);
        }
    }

    fn stop(&mut self, slot: usize, foreign: u64, mode: Mode, fate: Fate) {
        let task = |id: TaskId, kind| BackgroundTask { id, kind, description: String::new() };
        let ours = self.clients[slot].agents.iter().map(|(_, agent)| task(agent.clone(), TaskKind::Fork));
        let others = (0..foreign).map(|number| task(format!("foreign-{number}").as_str().into(), TaskKind::Other));
        let background = Some(ours.chain(others).collect());
        let mark = self.mark(slot);
        let fact = Fact::Stopped { mark: mark.clone(), kind: TurnKind::Plain, background, mode: told(mode) };
        let hook = Hook { slot, fact, parks: Some(mark) };
        self.clients[slot].last_stop = Some(hook.clone());
        self.dispatch(hook, fate);
    }

    fn redeem(&mut self, slot: u64, which: u64, how: u64, fate: Fate) {
        let Some(ticket) = self.ticket(slot, which) else { return };
        let presenter = if how == 0 { (slot + 1) % 4 } else { slot };
        let caller = if how == 1 { Caller::Subagent } else { Caller::Main };
        let tool_use = ToolUseId::from(self.fresh("call").as_str());
        self.send(index(presenter), Fact::SpawnRequested { tool_use, ticket: Some(ticket), caller }, fate);
    }

    fn new_agent(&mut self, slot: u64, tool_use: &ToolUseId) -> TaskId {
        let agent = TaskId::from(self.fresh("agent").as_str());
        self.clients[index(slot)].agents.push((tool_use.clone(), agent.clone()));
        agent
    }

    /// A recent ticket of the session, of an unconfirmed wake too: the confirmation may have been lost.
    fn ticket(&self, slot: u64, which: u64) -> Option<TicketId> {
        let session = self.session(slot)?;
        let told = |ticket: &&crate::engine::Ticket| {
            let wake = session.wakes.iter().find(|wake| wake.id == ticket.wake);
            wake.is_none_or(|wake| wake.delivery != Delivery::Withdrawn)
        };
        let tickets: Vec<TicketId> = session.tickets.iter().filter(told).map(|ticket| ticket.id).collect();
        nth_last(&tickets, which).copied()
    }

    fn session(&self, slot: u64) -> Option<&Session> {
        self.state.session(&id(slot))
    }

    fn mark(&self, slot: usize) -> Mark {
        let turn = format!("{}-{}", SESSIONS[slot].0, self.clients[slot].turn);
        Mark { prompt: Some(turn.as_str().into()), at: self.clock }
    }

    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}-{}", self.count)
    }
}

fn id(slot: u64) -> SessionId {
    SESSIONS[index(slot)].0.into()
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

fn nth_last<T>(items: &[T], which: u64) -> Option<&T> {
    items.iter().rev().nth(index(which))
}

fn told(mode: Mode) -> Option<PermissionMode> {
    match mode {
        Mode::Untold => None,
        Mode::Plan => Some(PermissionMode::Plan),
        Mode::Other => Some(PermissionMode::Other),
    }
}

fn notice(task: TaskId) -> TaskNotice {
    TaskNotice {
        task: Some(task),
        tool_use: None,
        outcome: Outcome::Completed,
        report: Some("done".to_owned()),
        usage: Some(Usage { tokens: 100, tool_uses: 1, duration_ms: 10 }),
        evidence: Evidence::Plain,
    }
}
