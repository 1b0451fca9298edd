//! What must hold whatever happens: random schedules of events for two sessions and eight forks, with every invariant
//! checked after every step. What must hold is reckoned here anew, from the events alone.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::testing::{Play, at, fork, launch, notice, seconds, tagged, throttled};
use super::*;
use crate::ir::{Config, ForkName, Moment, Overlap};

/// One thing that happens. Numbers choose among what there is, so that shrinking keeps a schedule meaningful.
#[derive(Debug, Clone)]
enum Step {
    Wait(u64),
    Human(usize),
    OtherHook(usize),
    ForeignTask(usize),
    Stop(usize),
    StopBusy(usize),
    Gauge(usize, u64),
    LateStop(usize),
    Delivered(usize),
    WakeTurn(usize),
    Redeem(usize, usize, u8),
    Link(usize, usize),
    LinkUnasked(usize, usize),
    ForkStarted(usize),
    Fail(usize, usize, SpawnFailure),
    Finish(usize, usize),
    DropPoll(usize),
    Park(usize),
    Restart,
    Edit(u8),
    End(usize),
    Resume(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let session = 0..2_usize;
    let which = 0..4_usize;
    prop_oneof![
        6 => prop_oneof![0..8_u64, 0..100_u64, Just(2_000)].prop_map(Step::Wait),
        4 => session.clone().prop_map(Step::Human),
        1 => session.clone().prop_map(Step::OtherHook),
        1 => session.clone().prop_map(Step::ForeignTask),
        8 => session.clone().prop_map(Step::Stop),
        1 => session.clone().prop_map(Step::StopBusy),
        2 => (session.clone(), prop_oneof![Just(50_u64), Just(100), Just(150), Just(250)]).prop_map(|(s, size)| Step::Gauge(s, size)),
        1 => session.clone().prop_map(Step::LateStop),
        4 => session.clone().prop_map(Step::Delivered),
        4 => session.clone().prop_map(Step::WakeTurn),
        6 => (session.clone(), which.clone(), 0..8_u8).prop_map(|(s, w, how)| Step::Redeem(s, w, how)),
        3 => (session.clone(), which.clone()).prop_map(|(s, w)| Step::Link(s, w)),
        1 => (session.clone(), which.clone()).prop_map(|(s, w)| Step::LinkUnasked(s, w)),
        1 => session.clone().prop_map(Step::ForkStarted),
        1 => (session.clone(), which.clone(), prop_oneof![2 => Just(SpawnFailure::Other), 1 => Just(SpawnFailure::ForkTypeMissing)]).prop_map(|(s, w, failure)| Step::Fail(s, w, failure)),
        3 => (session.clone(), which).prop_map(|(s, w)| Step::Finish(s, w)),
        1 => session.clone().prop_map(Step::DropPoll),
        1 => session.clone().prop_map(Step::Park),
        1 => Just(Step::Restart),
        1 => any::<u8>().prop_map(Step::Edit),
        1 => session.clone().prop_map(Step::End),
        1 => session.prop_map(Step::Resume),
    ]
}

/// The forks in force, some of them only.
fn forks(choice: u8) -> Vec<Fork> {
    let named = |names: &[&str]| names.iter().map(|name| ForkName::from(*name)).collect();
    let threshold = |size: u64| Moment::ContextTokens(size.try_into().unwrap());
    let all = [
        fork("at-once", 0),
        throttled(fork("early", 5), 60),
        tagged(fork("tagged", 7), &["notes"]),
        Fork { overlap: Overlap::Allowed, ..tagged(throttled(fork("late", 30), 10), &["notes"]) },
        Fork { after: named(&["early", "at-once"]), ..tagged(throttled(fork("behind", 5), 20), &["notes"]) },
        Fork { after: named(&["behind", "early"]), ..fork("last", 6) },
        Fork { run_on: vec![threshold(100), threshold(200)], ..fork("full", 0) },
        Fork { run_on: vec![Moment::Idle(Some(seconds(9))), threshold(150)], ..throttled(fork("both", 0), 15) },
    ];
    all.into_iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0).map(|(_, fork)| fork).collect()
}

/// What is reckoned beside the engine.
#[derive(Default)]
struct Ledger {
    /// Forks woken by their idle moments in the pause of each session.
    fired: BTreeMap<SessionId, BTreeSet<ForkName>>,
    /// Thresholds fired in the leg of each session.
    crossed: BTreeMap<SessionId, BTreeSet<(ForkName, u64)>>,
    /// When each fork was issued in a conversation, without what was taken back.
    issued: BTreeMap<(SessionId, ForkName), Vec<Time>>,
    /// How many calls each ticket let through.
    allowed: BTreeMap<TicketId, BTreeSet<ToolUseId>>,
    /// How many spawns with each ticket failed.
    failed: BTreeMap<TicketId, usize>,
    /// Wakes that were seen before: sent again, they count once.
    wakes: BTreeSet<WakeId>,
    /// The names that came due together, by the first wake of the batch.
    batches: BTreeMap<WakeId, BTreeSet<ForkName>>,
}

struct World {
    play: Play,
    ledger: Ledger,
    calls: Vec<(usize, ToolUseId, TicketId)>,
    agents: Vec<(usize, TaskId)>,
    count: u64,
}

const SESSIONS: [&str; 2] = ["s", "t"];
const TAG_THROTTLE: u64 = 40;

impl World {
    fn new(debounce: u64) -> Self {
        let mut config = Config { wake_debounce: seconds(debounce), ..Config::default() };
        config.tag_throttles.insert("notes".into(), seconds(TAG_THROTTLE));
        Self {
            play: Play::under(config, forks(0xFF)),
            ledger: Ledger::default(),
            calls: Vec::new(),
            agents: Vec::new(),
            count: 0,
        }
    }

    fn session(&self, session: usize) -> Option<&Session> {
        self.play.state.session(&SESSIONS[session].into())
    }

    fn ticket(&self, session: usize, which: usize) -> Option<TicketId> {
        let tickets = &self.session(session)?.tickets;
        let place = tickets.len().checked_sub(1 + which)?;
        Some(tickets[place].id)
    }

    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}-{}", self.count)
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Wait(length) => {
                let end = self.play.now.after(seconds(length));
                // Every tick is a step of its own.
                while let Some(deadline) = self.play.state.next_deadline().filter(|deadline| *deadline <= end) {
                    self.play.now = self.play.now.max(deadline);
                    self.apply("tick", None, |play| play.event(Event::Tick));
                }
                self.play.now = end;
            }
            Step::Human(s) => self.apply("genuine", Some(s), |play| play.prompt(SESSIONS[s], Prompt::Human)),
            Step::OtherHook(s) => self.apply("prompt", Some(s), |play| play.prompt(SESSIONS[s], Prompt::OtherHook)),
            Step::ForeignTask(s) => {
                let foreign = vec![notice(&"foreign".into())];
                self.apply("genuine", Some(s), |play| play.prompt(SESSIONS[s], Prompt::Tasks(foreign)));
            }
            Step::Stop(s) => self.stop(s, &[]),
            Step::StopBusy(s) => self.stop(s, &["server"]),
            Step::Gauge(s, size) => {
                let (session, window) = (SESSIONS[s].into(), WindowSign::None);
                let read = Event::GaugeRead { session, tokens: Some(size), window };
                self.apply("gauge", Some(s), |play| play.event(read));
            }
            Step::LateStop(s) => {
                let mark = Mark { prompt: Some(format!("{}-1", SESSIONS[s]).as_str().into()), at: at(0) };
                let fact = Fact::Stopped { mark, kind: TurnKind::Plain, background: None, mode: None };
                self.apply("stop", Some(s), |play| play.fact(SESSIONS[s], fact));
            }
            Step::Delivered(s) => {
                self.apply("ack", Some(s), |play| play.event(Event::WakeDelivered(SESSIONS[s].into())));
            }
            Step::WakeTurn(s) => self.apply("prompt", Some(s), |play| play.prompt(SESSIONS[s], Prompt::Wake)),
            Step::Redeem(s, which, how) => self.redeem(s, which, how),
            Step::Link(s, which) => {
                let Some((_, tool_use, _)) = self.calls.iter().rev().filter(|call| call.0 == s).nth(which).cloned()
                else {
                    return;
                };
                let agent = TaskId::from(self.fresh("agent").as_str());
                self.agents.push((s, agent.clone()));
                let fact = Fact::SpawnStarted { tool_use, agent, ticket: None };
                self.apply("link", Some(s), |play| play.fact(SESSIONS[s], fact));
            }
            Step::LinkUnasked(s, which) => {
                let ticket = self.ticket(s, which);
                let agent = TaskId::from(self.fresh("agent").as_str());
                let tool_use = ToolUseId::from(self.fresh("unasked").as_str());
                self.agents.push((s, agent.clone()));
                let fact = Fact::SpawnStarted { tool_use, agent, ticket: ticket.map(Some) };
                self.apply("link", Some(s), |play| play.fact(SESSIONS[s], fact));
            }
            Step::ForkStarted(s) => {
                let agent = TaskId::from(self.fresh("agent").as_str());
                self.agents.push((s, agent.clone()));
                self.apply("link", Some(s), |play| play.fact(SESSIONS[s], Fact::ForkStarted(agent)));
            }
            Step::Fail(s, which, failure) => {
                let Some((_, tool_use, ticket)) =
                    self.calls.iter().rev().filter(|call| call.0 == s).nth(which).cloned()
                else {
                    return;
                };
                *self.ledger.failed.entry(ticket).or_default() += 1;
                let fact = Fact::SpawnFailed { tool_use, failure };
                let what = if failure == SpawnFailure::ForkTypeMissing { "type missing" } else { "fail" };
                self.apply(what, Some(s), |play| play.fact(SESSIONS[s], fact));
            }
            Step::Finish(s, which) => {
                let Some(place) = self.agents.iter().rposition(|agent| agent.0 == s) else { return };
                let (_, agent) = self.agents.remove(place.saturating_sub(which % 2).min(place));
                let fact = Fact::SubagentStopped { agent, report: None };
                self.apply("finish", Some(s), |play| play.fact(SESSIONS[s], fact));
            }
            Step::DropPoll(s) => {
                let Some(poll) = self.session(s).and_then(|session| session.poll.as_ref()).map(|poll| poll.id) else {
                    return;
                };
                self.apply("drop", Some(s), |play| {
                    play.event(Event::PollDropped { session: SESSIONS[s].into(), poll })
                });
            }
            Step::Park(s) => self.park(s),
            Step::Restart => {
                let text = serde_json::to_string(&self.play.state).unwrap();
                self.play.state = serde_json::from_str(&text).unwrap();
                self.apply("restart", None, |play| play.event(Event::Restarted));
            }
            Step::Edit(choice) => self.apply("edit", None, |play| play.edit(forks(choice))),
            Step::End(s) => {
                self.ledger.crossed.remove(&SESSIONS[s].into());
                self.apply("genuine", Some(s), |play| play.fact(SESSIONS[s], Fact::Ended));
            }
            Step::Resume(s) => {
                self.ledger.crossed.remove(&SESSIONS[s].into());
                self.apply("genuine", Some(s), |play| {
                    play.fact(SESSIONS[s], Fact::Started(StartSource::Resume.into()))
                });
            }
        }
    }

    fn stop(&mut self, s: usize, foreign: &[&str]) {
        let task = |id: &TaskId, kind| BackgroundTask { id: id.clone(), kind, description: String::new() };
        let ours = self.agents.iter().filter(|agent| agent.0 == s).map(|(_, agent)| task(agent, TaskKind::Fork));
        let foreign = foreign.iter().map(|id| task(&TaskId::from(*id), TaskKind::Other));
        let background = Some(ours.chain(foreign).collect());
        let mark = self.play.current_mark(SESSIONS[s]);
        let stopped = Fact::Stopped { mark, kind: TurnKind::Plain, background, mode: None };
        self.apply("stop", Some(s), |play| play.fact(SESSIONS[s], stopped));
        self.park(s);
    }

    fn park(&mut self, s: usize) {
        self.count += 1;
        let poll = PollId::new(1_000_000 + self.count);
        let mark = self.play.current_mark(SESSIONS[s]);
        self.apply("park", Some(s), |play| play.event(Event::Parked { session: SESSIONS[s].into(), poll, mark }));
    }

    fn redeem(&mut self, s: usize, which: usize, how: u8) {
        let Some(ticket) = self.ticket(s, which) else { return };
        let tool_use = ToolUseId::from(self.fresh("call").as_str());
        let presenter = if how == 0 { 1 - s } else { s };
        let caller = if how == 1 { Caller::Subagent } else { Caller::Main };
        self.calls.push((presenter, tool_use.clone(), ticket));
        let fact = Fact::SpawnRequested { tool_use: tool_use.clone(), ticket: Some(ticket), caller };
        let before = self.session(s).unwrap().tickets.iter().find(|t| t.id == ticket).cloned().unwrap();
        let mut effects = Vec::new();
        self.apply("redeem", Some(presenter), |play| {
            effects = play.fact(SESSIONS[presenter], fact);
            effects.clone()
        });
        let allowed = |effect: &Effect| matches!(effect, Effect::Allow { ticket: allowed, .. } if *allowed == ticket);
        if !effects.iter().any(allowed) {
            return;
        }
        assert!(how > 1, "a foreign or nested ticket was redeemed");
        let adopted = before.run().is_some_and(|run| run.tool_use.is_none());
        self.ledger.allowed.entry(ticket).or_default().insert(tool_use);
        let spawns = self.ledger.allowed[&ticket].len();
        let failures = self.ledger.failed.get(&ticket).copied().unwrap_or_default();
        assert!(spawns <= 1 + failures + usize::from(adopted), "{ticket} was redeemed {spawns} times");
        let session = self.session(s).unwrap();
        let fork = &before.fork;
        // A run that had counted as dead when this ticket was issued, and gave a sign again, is nobody's fault.
        let may_be_live = |t: &&Ticket| t.issued.after(RUN_AGES_OUT) > before.issued;
        let others = session.tickets.iter().filter(|t| t.fork == *fork && t.id != ticket).filter(may_be_live);
        let live = others.filter(|t| t.live_run(self.play.now).is_some()).count();
        assert!(live == 0 || fork.as_str() == "late", "{live} more runs of {fork} are live");
    }

    /// Lets something happen, and checks all that must hold then.
    fn apply(&mut self, what: &str, session: Option<usize>, happen: impl FnOnce(&mut Play) -> Vec<Effect>) {
        let before = self.play.state.clone();
        let now = self.play.now;
        let effects = happen(&mut self.play);
        if what == "genuine" {
            self.taken_back(&before, &SESSIONS[session.unwrap()].into());
        }
        self.unheld_taken_back(&before);
        for effect in &effects {
            if let Effect::Wake { session, poll, wake } = effect {
                self.woken(&before, what, session, *poll, *wake, now);
            }
        }
        let woke = effects.iter().any(|effect| matches!(effect, Effect::Wake { .. }));
        if !woke && !["genuine", "edit", "type missing"].contains(&what) {
            assert_eq!(before.stamps(), self.play.state.stamps(), "only a wake stamps, not {what}");
        }
        for session in self.play.state.sessions() {
            assert!(session.held.is_empty() || session.pause.is_some(), "a held fork outlives its pause");
        }
        self.deadline_is_true(now);
    }

    /// The user goes on: a wake that shows no sign of having arrived is taken back, and so is what was held.
    fn taken_back(&mut self, before: &State, id: &SessionId) {
        self.ledger.fired.remove(id);
        let Some(session) = before.session(id) else { return };
        let lost = session.wakes.back().filter(|wake| wake.delivery == Delivery::Sent);
        let unspawned = lost.into_iter().flat_map(|wake| session.tickets_of(wake.id));
        for ticket in unspawned.filter(|ticket| ticket.state == TicketState::Open) {
            self.give_back(id, &ticket.fork, ticket.issued);
        }
    }

    /// What is held no longer and was not started has its stamps back: its file is gone, or its pause is over.
    fn unheld_taken_back(&mut self, before: &State) {
        let mut gone = Vec::new();
        for session in before.sessions() {
            let after = self.play.state.session(&session.id);
            for held in &session.held {
                let still_held = after.is_some_and(|after| after.held.contains(held));
                let started = after.is_some_and(|after| after.ticket_in_batch(held.batch, &held.fork).is_some());
                if !still_held && !started {
                    gone.push((session.id.clone(), held.fork.clone(), held.issued));
                }
            }
        }
        for (session, fork, issued) in gone {
            self.give_back(&session, &fork, issued);
        }
    }

    fn give_back(&mut self, id: &SessionId, fork: &ForkName, issued: Time) {
        self.ledger.issued.entry((id.clone(), fork.clone())).or_default().retain(|at| *at != issued);
        self.ledger.crossed.entry(id.clone()).or_default().retain(|(name, _)| name != fork);
        if let Some(fired) = self.ledger.fired.get_mut(id) {
            fired.remove(fork);
        }
    }

    fn woken(&mut self, before: &State, what: &str, id: &SessionId, poll: PollId, wake: WakeId, now: Time) {
        let session = self.play.state.session(id).unwrap();
        assert!(matches!(session.turn, Turn::Ended { .. }), "woken mid-turn");
        let offered_anew = self.ledger.wakes.contains(&wake);
        assert!(offered_anew || session.fork_type != ForkType::Missing, "woken where nothing can be spawned");
        let was_parked = before.session(id).is_some_and(|s| s.poll.as_ref().is_some_and(|parked| parked.id == poll));
        assert!(was_parked || what == "park", "woken through a hook that was not parked");
        if !self.ledger.wakes.insert(wake) {
            return;
        }
        let tickets: Vec<Ticket> = session.tickets_of(wake).cloned().collect();
        assert!(!tickets.is_empty(), "a wake for nobody");
        let batch: Vec<(ForkName, Trigger)> = tickets
            .iter()
            .filter(|ticket| ticket.batch == wake)
            .map(|ticket| (ticket.fork.clone(), ticket.trigger))
            .chain(
                session.held.iter().filter(|held| held.batch == wake).map(|held| (held.fork.clone(), held.trigger)),
            )
            .collect();
        self.ledger.batches.insert(wake, batch.iter().map(|(name, _)| name.clone()).collect());
        self.predecessors_have_ended(id, &tickets, now);
        let program = self.play.programs.get(&launch()).unwrap().clone();
        let tagged = |name: &ForkName| ["tagged", "late", "behind"].contains(&name.as_str());
        if batch.iter().any(|(name, _)| tagged(name)) {
            let issued = self.ledger.issued.iter().filter(|((_, name), _)| tagged(name));
            if let Some(last) = issued.flat_map(|(_, times)| times).max() {
                assert!(last.after(seconds(TAG_THROTTLE)) <= now, "in spite of the tag's throttle");
            }
        }
        let session = self.play.state.session(id).unwrap();
        for (name, trigger) in &batch {
            match trigger {
                Trigger::Idle(_) => {
                    let fired = self.ledger.fired.entry(id.clone()).or_default();
                    assert!(fired.insert(name.clone()), "{name} twice in one pause");
                }
                Trigger::Context { moment: Moment::ContextTokens(size), .. } => {
                    let crossed = self.ledger.crossed.entry(id.clone()).or_default();
                    assert!(crossed.insert((name.clone(), size.get())), "{name} twice at {size}");
                    assert!(session.gauge.unwrap().tokens >= size.get());
                }
                Trigger::Context { .. } => unreachable!("no fork here has such a moment"),
            }
            let issued = self.ledger.issued.entry((id.clone(), name.clone())).or_default();
            if let (Some(last), Some(throttle)) = (issued.last(), program.fork(name).unwrap().throttle) {
                assert!(last.after(throttle) <= now, "{name} in spite of its throttle");
            }
            issued.push(now);
        }
    }

    /// Whoever starts now waits for nobody of its batch who can still run or is running.
    fn predecessors_have_ended(&self, id: &SessionId, tickets: &[Ticket], now: Time) {
        let session = self.play.state.session(id).unwrap();
        let program = self.play.programs.get(&launch()).unwrap();
        for ticket in tickets {
            let batch = &self.ledger.batches[&ticket.batch];
            for name in program.fork(&ticket.fork).unwrap().after.iter().filter(|name| batch.contains(*name)) {
                assert!(!session.held.iter().any(|held| held.batch == ticket.batch && held.fork == *name));
                let Some(predecessor) = session.ticket_in_batch(ticket.batch, name) else { continue };
                assert!(predecessor.live_run(now).is_none(), "{} starts beside {name}", ticket.fork);
                assert_ne!(predecessor.wake, ticket.wake, "{} is asked for together with {name}", ticket.fork);
            }
        }
    }

    /// Before the next deadline there is nothing to do, and at it there is.
    fn deadline_is_true(&self, now: Time) {
        let state = &self.play.state;
        let deadline = state.next_deadline();
        let just_before =
            deadline.map_or(now.after(seconds(500)), |deadline| Time::from_millis(deadline.as_millis() - 1));
        if just_before > now {
            let (ticked, effects) = ticked(state, &self.play.programs, just_before);
            assert_eq!(effects, [], "something to do before the deadline");
            assert_eq!(without_clocks(&ticked), without_clocks(state), "something changes before the deadline");
        }
        if let Some(deadline) = deadline {
            let (ticked, effects) = ticked(state, &self.play.programs, deadline.max(now));
            let changed = without_clocks(&ticked) != without_clocks(state);
            assert!(changed || !effects.is_empty(), "nothing to do at the deadline");
        }
        // Nobody is due and left waiting.
        for session in state.sessions().filter(|session| session.is_parked()) {
            let program = self.play.programs.get(&session.launch).unwrap();
            for fork in program.forks() {
                let outlook = state.outlook(session, fork, program, state.now());
                let waiting = session.wakes.back().is_some_and(|wake| wake.delivery == Delivery::Sent);
                assert!(!outlook.reasons.is_empty() || waiting, "{} is due and nobody wakes it", fork.name);
            }
        }
    }
}

fn ticked(state: &State, programs: &Programs, now: Time) -> (State, Vec<Effect>) {
    let mut state = state.clone();
    let effects = state.apply(now, programs, Event::Tick);
    (state, effects)
}

/// The state without the instants that every look moves.
fn without_clocks(state: &State) -> State {
    let mut state = state.clone();
    state.now = Time::default();
    for session in state.sessions.values_mut() {
        session.deadline = None;
        if let Some(pause) = &mut session.pause {
            pause.evaluated = Time::default();
        }
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_invariants_hold_whatever_happens(debounce in prop_oneof![Just(0_u64), Just(3)], steps in vec(step(), 1..120)) {
        let mut world = World::new(debounce);
        for step in &steps {
            world.take(step);
        }
    }
}
