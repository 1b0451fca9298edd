//! What happened, line by line: made from what the engine is told and what it asks for, so that a scenario and a real
//! session read alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{
    Effect, Event, Evidence, Fact, Outcome, PermissionMode, Prompt, Reason, SessionId, StartSource, State, TaskKind,
    TaskNotice, Ticket, TicketId, TicketState, Trigger, WakeId,
};
use crate::ir::{ForkName, Programs, Seconds, Time};

/// What happened.
#[derive(Debug, Default)]
pub struct Timeline {
    /// In the order in which it happened.
    pub lines: Vec<Line>,
    /// Tickets whose runs have been told of: begun, and ended.
    told: BTreeMap<TicketId, (bool, bool)>,
    wakes: BTreeSet<WakeId>,
    /// Sessions in a turn that is not of our making.
    turns: BTreeSet<SessionId>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When.
    pub at: Time,
    /// In which session; none if it concerns all.
    pub session: Option<String>,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The session began, or went on.
    Began(StartSource),
    /// A turn of the user's began.
    UserTurn {
        /// In plan mode.
        planning: bool,
    },
    /// A hook that is not ours made the session go on.
    HookTurn,
    /// Background work that is not ours ended, and the session was told.
    TaskEnded(Vec<String>),
    /// A turn ended, with this background work unfinished.
    TurnEnded(Vec<String>),
    /// A turn was interrupted.
    Interrupted,
    /// The parked hook went away.
    HookGone,
    /// The size of the context was read.
    Gauge(Option<u64>),
    /// Forks fired.
    Woken {
        /// Which, and why.
        forks: Vec<(ForkName, Trigger)>,
        /// Those that wait for them.
        held: Vec<ForkName>,
        /// It did not get through the last time.
        again: bool,
    },
    /// A fork's run began.
    RunBegan(ForkName),
    /// A fork's run ended.
    RunEnded(ForkName, Outcome),
    /// A fork's wake came to nothing.
    NeverRan(ForkName),
    /// A pause has ended, or the play, and the fork has not fired in it.
    DidNotFire {
        /// The fork.
        fork: ForkName,
        /// Why.
        reasons: Vec<Reason>,
        /// When it would have come due.
        due: Option<Time>,
    },
    /// Files changed.
    Files(Change),
    /// Another program came into force.
    Program {
        /// How many forks it has.
        forks: usize,
    },
    /// The daemon was started anew.
    Restarted,
    /// The session ended.
    Ended,
}

/// What changed on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A fork was written.
    Written(String),
    /// A fork was removed.
    Removed(String),
    /// The configuration was written.
    Configured,
}

/// A length from the beginning, to the second.
pub(super) fn offset(length: Seconds) -> String {
    let all = length.get();
    let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60);
    let mut parts = Vec::new();
    for (number, unit) in [(hours, "h"), (minutes, "m"), (seconds, "s")] {
        if number > 0 {
            parts.push(format!("{number}{unit}"));
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.concat() }
}

impl Timeline {
    pub(super) fn say(&mut self, at: Time, session: Option<&SessionId>, what: What) {
        self.lines.push(Line { at, session: session.map(|session| session.as_str().to_owned()), what });
    }

    /// Takes in what the engine was told and what came of it. `before` is the state as it was.
    pub(super) fn observe(
        &mut self,
        before: &State,
        event: &Event,
        effects: &[Effect],
        after: &State,
        programs: &Programs,
    ) {
        let at = after.now();
        if let Some(id) = ends_pause(before, event) {
            self.unfired(before, &id, programs);
        }
        match event {
            Event::Host { origin, fact, .. } => self.fact(before, &origin.session, fact, at),
            Event::GaugeRead { session, tokens, .. } => {
                let known = before.session(session).and_then(|session| session.gauge).map(|gauge| gauge.tokens);
                if known != *tokens && before.session(session).is_some() {
                    self.say(at, Some(session), What::Gauge(*tokens));
                }
            }
            Event::PollDropped { session, .. } => self.say(at, Some(session), What::HookGone),
            Event::Restarted => self.say(at, None, What::Restarted),
            _ => {}
        }
        // What has ended comes before whom that released.
        for effect in effects {
            if let Effect::Record(record) = effect {
                self.ticket(at, &record.session, &record.ticket);
            }
        }
        for effect in effects {
            let Effect::Wake { session, wake, .. } = effect else { continue };
            let Some(woken) = after.session(session) else { continue };
            let forks = woken.tickets_of(*wake).map(|ticket| (ticket.fork.clone(), ticket.trigger)).collect();
            let held = woken.held.iter().map(|held| held.fork.clone()).collect();
            let again = !self.wakes.insert(*wake);
            self.say(at, Some(session), What::Woken { forks, held, again });
        }
        for session in before.sessions().filter(|session| after.session(&session.id).is_none()) {
            self.say(at, Some(&session.id), What::Ended);
        }
    }

    /// Every fork of the session that has not fired in its pause, and why.
    pub(super) fn unfired(&mut self, state: &State, id: &SessionId, programs: &Programs) {
        let Some(session) = state.session(id) else { return };
        let (Some(pause), Some(program)) = (&session.pause, programs.get(&session.launch)) else { return };
        for fork in program.forks() {
            let fired = session.tickets.iter().any(|ticket| ticket.fork == fork.name && ticket.issued >= pause.began);
            if !fired {
                let outlook = state.outlook(session, fork, program, state.now());
                let (reasons, due) = (outlook.reasons, outlook.due);
                self.say(state.now(), Some(id), What::DidNotFire { fork: fork.name.clone(), reasons, due });
            }
        }
    }

    fn fact(&mut self, before: &State, id: &SessionId, fact: &Fact, at: Time) {
        let known = before.session(id);
        match fact {
            Fact::Started(start) => self.say(at, Some(id), What::Began(start.source)),
            Fact::Prompt { prompt, mode, .. } => {
                let what = match prompt {
                    Prompt::Human => What::UserTurn { planning: *mode == Some(PermissionMode::Plan) },
                    Prompt::OtherHook => What::HookTurn,
                    Prompt::Wake => return,
                    Prompt::Tasks(notices) => {
                        let foreign = foreign(known, notices);
                        if foreign.is_empty() {
                            return;
                        }
                        What::TaskEnded(foreign)
                    }
                };
                self.turns.insert(id.clone());
                self.say(at, Some(id), what);
            }
            // The end of a wake's turn or of a report's is no news.
            Fact::Stopped { background, .. } if self.turns.remove(id) || known.is_none() => {
                let tasks = background.iter().flatten().filter(|task| task.kind == TaskKind::Other);
                let tasks = tasks.map(|task| task.description.clone()).collect();
                self.say(at, Some(id), What::TurnEnded(tasks));
            }
            _ => {}
        }
    }

    fn ticket(&mut self, at: Time, session: &SessionId, ticket: &Ticket) {
        let told = self.told.entry(ticket.id).or_default();
        let fork = ticket.fork.clone();
        let mut news = Vec::new();
        match &ticket.state {
            TicketState::Void if !told.1 => {
                told.1 = true;
                news.push(What::NeverRan(fork));
            }
            TicketState::Open | TicketState::Void => {}
            TicketState::Redeemed(run) => {
                if !std::mem::replace(&mut told.0, true) {
                    news.push(What::RunBegan(fork.clone()));
                }
                if let Some(end) = &run.end
                    && !std::mem::replace(&mut told.1, true)
                {
                    news.push(What::RunEnded(fork, end.outcome));
                }
            }
        }
        for what in news {
            self.say(at, Some(session), what);
        }
    }
}

/// The tasks among the notices that are none of our runs.
fn foreign(session: Option<&crate::engine::Session>, notices: &[TaskNotice]) -> Vec<String> {
    let ours = |notice: &TaskNotice| {
        let mut runs = session.into_iter().flat_map(|session| &session.tickets).filter_map(Ticket::run);
        runs.any(|run| run.agent.is_some() && run.agent == notice.task)
    };
    let foreign = notices.iter().filter(|notice| notice.evidence == Evidence::Plain && !ours(notice));
    foreign.map(|notice| notice.task.as_ref().map(ToString::to_string).unwrap_or_default()).collect()
}

/// Whose pause this event ends.
fn ends_pause(before: &State, event: &Event) -> Option<SessionId> {
    let Event::Host { origin, fact, .. } = event else { return None };
    let session = before.session(&origin.session)?;
    let ends = match fact {
        Fact::Prompt { prompt: Prompt::Human, .. } | Fact::Ended => true,
        Fact::Prompt { prompt: Prompt::Tasks(notices), .. } => !foreign(Some(session), notices).is_empty(),
        Fact::Started(start) => start.source != StartSource::Compact,
        _ => false,
    };
    ends.then(|| origin.session.clone())
}
