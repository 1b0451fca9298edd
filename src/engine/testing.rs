//! A stage for the engine's tests: sessions played on a virtual clock, as a host and a daemon would.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::ir::{Body, Config, Fork, ForkName, LaunchDir, Moment, Overlap, Program, Programs, Seconds, Tag};

/// A length of so many seconds.
pub(super) fn seconds(seconds: u64) -> Seconds {
    Seconds::new(seconds).unwrap()
}

/// The instant so many seconds after the beginning of the play.
pub(super) fn at(seconds: u64) -> Time {
    Time::from_millis(1_000_000).after(self::seconds(seconds))
}

/// A fork that comes due after so many quiet seconds.
pub(super) fn fork(name: &str, idle: u64) -> Fork {
    Fork {
        name: name.into(),
        path: format!("/project/.autofork/forks/{name}.md").into(),
        description: None,
        run_on: vec![Moment::Idle(Some(seconds(idle)))],
        throttle: None,
        after: Vec::new(),
        overlap: Overlap::Forbidden,
        tags: Vec::new(),
        body: Body::default(),
    }
}

/// The same fork with a throttle.
pub(super) fn throttled(fork: Fork, throttle: u64) -> Fork {
    Fork { throttle: Some(seconds(throttle)), ..fork }
}

/// The same fork with tags.
pub(super) fn tagged(fork: Fork, tags: &[&str]) -> Fork {
    Fork { tags: tags.iter().map(|tag| Tag::from(*tag)).collect(), ..fork }
}

/// A play: the engine, and what has come out of it.
pub(super) struct Play {
    pub(super) state: State,
    pub(super) programs: Programs,
    pub(super) now: Time,
    /// The wakes issued, with the instant and the names of their forks.
    pub(super) woken: Vec<(Time, SessionId, Vec<String>)>,
    /// The hooks released without a wake.
    pub(super) released: Vec<PollId>,
    /// What is kept of each ticket.
    pub(super) records: BTreeMap<TicketId, Record>,
    polls: u64,
    turns: BTreeMap<SessionId, u64>,
    calls: u64,
}

impl Play {
    /// A play with these forks, under the default configuration but without debounce.
    pub(super) fn with(forks: Vec<Fork>) -> Self {
        Self::under(Config { wake_debounce: Seconds::ZERO, ..Config::default() }, forks)
    }

    /// A play with these forks under this configuration.
    pub(super) fn under(config: Config, forks: Vec<Fork>) -> Self {
        let program = Program::new(config, forks.into_iter().map(Arc::new));
        Self {
            state: State::default(),
            programs: Programs::from_iter([(launch(), Arc::new(program))]),
            now: at(0),
            woken: Vec::new(),
            released: Vec::new(),
            records: BTreeMap::new(),
            polls: 0,
            turns: BTreeMap::new(),
            calls: 0,
        }
    }

    /// Puts other forks in force, under the same configuration.
    pub(super) fn edit(&mut self, forks: Vec<Fork>) -> Vec<Effect> {
        let config = self.programs.get(&launch()).unwrap().config().clone();
        let program = Program::new(config, forks.into_iter().map(Arc::new));
        self.programs.set(launch(), Arc::new(program));
        self.event(Event::ProgramChanged(launch()))
    }

    /// Lets time pass, with a tick at each deadline on the way.
    pub(super) fn until(&mut self, time: Time) {
        while let Some(deadline) = self.state.next_deadline().filter(|deadline| *deadline <= time) {
            self.now = self.now.max(deadline);
            self.event(Event::Tick);
        }
        self.now = time;
    }

    /// Something happens now.
    pub(super) fn event(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.state.apply(self.now, &self.programs, event);
        effects.retain(|effect| {
            let Effect::Record(record) = effect else { return true };
            self.records.insert(record.ticket.id, (**record).clone());
            false
        });
        for effect in &effects {
            match effect {
                Effect::Wake { session, wake, .. } => {
                    let forks = self.state.session(session).unwrap().tickets_of(*wake);
                    let names = forks.map(|ticket| ticket.fork.to_string()).collect();
                    self.woken.push((self.now, session.clone(), names));
                }
                Effect::Release { poll } => self.released.push(*poll),
                Effect::Allow { .. } | Effect::Deny(_) | Effect::Probe { .. } | Effect::Record(_) => {}
            }
        }
        effects
    }

    /// The host reports a fact.
    pub(super) fn fact(&mut self, session: &str, fact: Fact) -> Vec<Effect> {
        let origin = Origin {
            session: session.into(),
            conversation: session.into(),
            launch: launch(),
            client: None,
            transcript: None,
            tags: TagOverride::default(),
        };
        self.event(Event::Host { origin, root: ProjectRoot::new("/project"), fact })
    }

    /// The turn that is under way or has ended last.
    pub(super) fn current_mark(&self, session: &str) -> Mark {
        let turn = self.turns.get(&SessionId::from(session)).copied().unwrap_or_default();
        Mark { prompt: Some(format!("{session}-{turn}").as_str().into()), at: self.now }
    }

    /// A turn begins.
    pub(super) fn prompt(&mut self, session: &str, prompt: Prompt) -> Vec<Effect> {
        *self.turns.entry(session.into()).or_default() += 1;
        let mark = self.current_mark(session);
        self.fact(session, Fact::Prompt { mark, prompt, mode: None })
    }

    /// The turn ends with this background work unfinished, and its hook parks.
    pub(super) fn stop_with(&mut self, session: &str, background: &[(&str, TaskKind, &str)]) -> PollId {
        let task = |(id, kind, description): &(&str, TaskKind, &str)| BackgroundTask {
            id: (*id).into(),
            kind: *kind,
            description: (*description).into(),
        };
        let mark = self.current_mark(session);
        let background = Some(background.iter().map(task).collect());
        self.fact(session, Fact::Stopped { mark, kind: TurnKind::Plain, background, mode: None });
        self.park(session)
    }

    /// The turn ends and its hook parks.
    pub(super) fn stop(&mut self, session: &str) -> PollId {
        self.stop_with(session, &[])
    }

    /// The hook of the last Stop parks, again perhaps.
    pub(super) fn park(&mut self, session: &str) -> PollId {
        self.polls += 1;
        let poll = PollId::new(self.polls);
        let mark = self.current_mark(session);
        self.event(Event::Parked { session: session.into(), poll, mark });
        poll
    }

    /// A turn of the user's, from prompt to parked hook.
    pub(super) fn turn(&mut self, session: &str) -> PollId {
        self.prompt(session, Prompt::Human);
        self.stop(session)
    }

    /// The tickets of the session's last wake.
    pub(super) fn tickets(&self, session: &str) -> Vec<TicketId> {
        let session = self.state.session(&session.into()).unwrap();
        let wake = session.wakes.back().unwrap().id;
        session.tickets_of(wake).map(|ticket| ticket.id).collect()
    }

    /// The model presents a ticket.
    pub(super) fn redeem(&mut self, session: &str, ticket: TicketId) -> (ToolUseId, Vec<Effect>) {
        self.calls += 1;
        let tool_use = ToolUseId::from(format!("call-{}", self.calls).as_str());
        let fact = Fact::SpawnRequested { tool_use: tool_use.clone(), ticket: Some(ticket), caller: Caller::Main };
        let effects = self.fact(session, fact);
        (tool_use, effects)
    }

    /// The model obeys the session's last wake: a wake turn in which every ticket is redeemed and its fork started.
    /// Returns the agents.
    pub(super) fn obey(&mut self, session: &str) -> Vec<TaskId> {
        self.event(Event::WakeDelivered(session.into()));
        self.prompt(session, Prompt::Wake);
        let mut agents = Vec::new();
        for ticket in self.tickets(session) {
            let (tool_use, effects) = self.redeem(session, ticket);
            assert_eq!(effects, [allow(ticket)]);
            let agent = TaskId::from(format!("agent-{tool_use}").as_str());
            self.fact(session, Fact::SpawnStarted { tool_use, agent: agent.clone(), ticket: Some(Some(ticket)) });
            agents.push(agent);
        }
        let background: Vec<_> = agents.iter().map(|agent| (agent.as_str(), TaskKind::Fork, "")).collect();
        self.stop_with(session, &background);
        agents
    }

    /// A fork finishes, and its report's turn goes by.
    pub(super) fn finish(&mut self, session: &str, agent: &TaskId) {
        let report = Some("done".to_owned());
        self.fact(session, Fact::SubagentStopped { agent: agent.clone(), report });
        // Whatever that released has arrived before the client tells the session of the end.
        self.event(Event::WakeDelivered(session.into()));
        self.prompt(session, Prompt::Tasks(vec![notice(agent)]));
        self.stop(session);
    }

    /// The names woken so far, one list a wake.
    pub(super) fn names(&self) -> Vec<Vec<&str>> {
        self.woken.iter().map(|(_, _, names)| names.iter().map(String::as_str).collect()).collect()
    }

    /// Why a fork does not fire now; empty if it would.
    pub(super) fn reasons(&self, session: &str, fork: &str) -> Vec<Reason> {
        let program = self.programs.get(&launch()).unwrap();
        let fork = program.fork(&ForkName::from(fork)).unwrap();
        let session = self.state.session(&session.into()).unwrap();
        self.state.outlook(session, fork, program, self.now).reasons
    }
}

/// The folder all sessions of the play are launched in.
pub(super) fn launch() -> LaunchDir {
    LaunchDir::new("/project")
}

/// The answer to a spawn that goes ahead, in a session whose client has shown no trouble with forks.
pub(super) fn allow(ticket: TicketId) -> Effect {
    Effect::Allow { ticket, fork_type: ForkType::Unquestioned }
}

/// The client's word that a task has finished.
pub(super) fn notice(task: &TaskId) -> TaskNotice {
    TaskNotice {
        task: Some(task.clone()),
        tool_use: None,
        outcome: Outcome::Completed,
        report: Some("done".to_owned()),
        usage: Some(Usage { tokens: 100, tool_uses: 1, duration_ms: 10 }),
        evidence: Evidence::Plain,
    }
}
