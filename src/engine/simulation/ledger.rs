//! What must hold whatever happens, reckoned beside the engine from what it is told and what it asks for.

use std::collections::{BTreeMap, BTreeSet};

use super::checks;
use super::forks::may_overlap;
use crate::engine::{
    Conversation, Delivery, Effect, Event, Evidence, Fact, ForkType, Held, PollId, Prompt, Record, Session,
    SessionId, StartSource, State, Ticket, TicketId, TicketState, ToolUseId, Trigger, Turn, WakeId,
};
use crate::ir::{Fork, ForkName, Moment, Overlap, Program, Programs, ProjectRoot, Seconds, Tag, Time};

/// A fork that was issued, unless it was given back.
#[derive(Debug, Clone)]
struct Issue {
    session: SessionId,
    conversation: Conversation,
    root: ProjectRoot,
    fork: ForkName,
    tags: Vec<Tag>,
    at: Time,
    trigger: Trigger,
    /// Set when the pause or the leg that it was issued in is over: then it only counts for throttles.
    pause_over: bool,
    leg_over: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What was issued and not given back.
    issues: Vec<Issue>,
    /// Hooks that are parked, and whose.
    polls: BTreeMap<PollId, SessionId>,
    /// How often each wake was sent.
    sent: BTreeMap<WakeId, u8>,
    /// The names that came due together and whom each waits for, by the first wake of the batch.
    batches: BTreeMap<WakeId, BTreeMap<ForkName, Vec<ForkName>>>,
    /// Which calls each ticket let through, and how many spawns with it failed.
    allowed: BTreeMap<TicketId, BTreeSet<ToolUseId>>,
    failed: BTreeMap<TicketId, usize>,
    adopted: BTreeMap<TicketId, usize>,
    /// Conversations that have shown a large context window.
    large: BTreeSet<Conversation>,
    records: BTreeMap<TicketId, Record>,
    /// When each session ended last.
    ended: BTreeMap<SessionId, Time>,
}

impl Ledger {
    /// Takes in what happened, and checks all that must hold then.
    pub(super) fn happened(
        &mut self,
        before: &State,
        event: &Event,
        effects: &[Effect],
        after: &State,
        programs: &Programs,
    ) {
        assert!(after.now() >= before.now(), "time runs backwards");
        self.observe_gauge(event, after);
        self.stays_over(before, event, after);
        self.answer_polls(event, effects, after);
        let gave_back = self.give_back_all(before, event, after);
        let mut woke = false;
        for effect in effects {
            match effect {
                Effect::Wake { session, wake, .. } => {
                    woke = true;
                    self.woken(session, *wake, after, programs);
                }
                Effect::Allow { ticket, .. } => self.let_through(*ticket, event, before, after),
                Effect::Record(record) => drop(self.records.insert(record.ticket.id, (**record).clone())),
                Effect::Release { .. } | Effect::Deny(_) | Effect::Probe { .. } => {}
            }
        }
        if let Event::Host { fact: Fact::SpawnFailed { tool_use, .. }, .. } = event {
            let ticket = self.allowed.iter().find(|(_, calls)| calls.contains(tool_use)).map(|(ticket, _)| *ticket);
            if let Some(ticket) = ticket {
                *self.failed.entry(ticket).or_default() += 1;
            }
        }
        assert!(woke || gave_back || before.stamps() == after.stamps(), "only a wake stamps");
        for session in after.sessions() {
            assert!(session.held.is_empty() || session.pause.is_some(), "a held fork outlives its pause");
        }
        checks::deadline_is_true(after, programs);
        checks::nobody_is_forgotten(after, programs);
    }

    fn observe_gauge(&mut self, event: &Event, after: &State) {
        let (id, tokens) = match event {
            Event::GaugeRead { session, tokens: Some(tokens), .. } => (session, *tokens),
            Event::Host { origin, fact: Fact::Started(start), .. } if start.source != StartSource::Compact => {
                (&origin.session, start.tokens.unwrap_or(0))
            }
            _ => return,
        };
        if tokens > 200_000
            && let Some(session) = after.session(id)
        {
            self.large.insert(session.conversation.clone());
        }
    }

    /// No hook that was started before the end of its session brings that back to life by telling its Stop.
    fn stays_over(&mut self, before: &State, event: &Event, after: &State) {
        if let Event::Host { origin, fact: Fact::Stopped { mark, .. }, .. } = event
            && let (None, Some(_)) = (before.session(&origin.session), after.session(&origin.session))
        {
            let ended = self.ended.get(&origin.session);
            let forgotten = |ended: &Time| ended.after(Seconds::minutes(60)) <= after.now();
            assert!(
                ended.is_none_or(|ended| mark.at > *ended || forgotten(ended)),
                "a session is back from the dead"
            );
        }
        let over = before.sessions().filter(|session| after.session(&session.id).is_none());
        self.ended.extend(over.map(|session| (session.id.clone(), after.now())));
    }

    /// A parked hook is answered once, is whose it is, and is never forgotten.
    fn answer_polls(&mut self, event: &Event, effects: &[Effect], after: &State) {
        match event {
            Event::Restarted => self.polls.clear(),
            Event::PollDropped { poll, .. } => drop(self.polls.remove(poll)),
            Event::Parked { session, poll, .. } => drop(self.polls.insert(*poll, session.clone())),
            _ => {}
        }
        for effect in effects {
            match effect {
                Effect::Wake { session, poll, .. } => {
                    assert_eq!(
                        self.polls.remove(poll).as_ref(),
                        Some(session),
                        "woken through no parked hook of its own"
                    );
                }
                Effect::Release { poll } => assert!(self.polls.remove(poll).is_some(), "no such hook is parked"),
                _ => {}
            }
        }
        let parked: BTreeMap<PollId, SessionId> =
            after.sessions().filter_map(|session| Some((session.poll.as_ref()?.id, session.id.clone()))).collect();
        assert_eq!(parked, self.polls, "parked hooks are forgotten");
    }

    /// What comes to nothing by this event: its stamps and latches are as if it had never been issued. Whether there
    /// was any.
    fn give_back_all(&mut self, before: &State, event: &Event, after: &State) -> bool {
        let mut back: Vec<(SessionId, ForkName, Time)> = Vec::new();
        let ended = before.sessions().filter(|session| after.session(&session.id).is_none());
        let ended: Vec<SessionId> = ended.map(|session| session.id.clone()).collect();
        let turned = ends_pause(before, event).map(|(id, _)| id);
        for id in ended.iter().chain(&turned) {
            let Some(session) = before.session(id) else { continue };
            let lost = session.wakes.back().filter(|wake| wake.delivery == Delivery::Sent);
            let open = lost.into_iter().flat_map(|wake| session.tickets_of(wake.id));
            let open = open.filter(|ticket| ticket.state == TicketState::Open);
            back.extend(open.map(|ticket| (id.clone(), ticket.fork.clone(), ticket.issued)));
        }
        for session in before.sessions() {
            let after = after.session(&session.id);
            let lost = |held: &&Held| {
                let still = after.is_some_and(|after| after.held.contains(held));
                let started = after.is_some_and(|after| after.ticket_in_batch(held.batch, &held.fork).is_some());
                !still && !started
            };
            let lost = session.held.iter().filter(lost);
            back.extend(lost.map(|held| (session.id.clone(), held.fork.clone(), held.issued)));
        }
        for (session, fork, at) in &back {
            self.issues.retain(|issue| !(issue.session == *session && issue.fork == *fork && issue.at == *at));
        }
        let over: BTreeSet<&SessionId> = ended.iter().collect();
        let leg = ends_pause(before, event).filter(|(_, leg)| *leg).map(|(id, _)| id);
        for issue in &mut self.issues {
            issue.pause_over |= over.contains(&issue.session) || turned.as_ref() == Some(&issue.session);
            issue.leg_over |= over.contains(&issue.session) || leg.as_ref() == Some(&issue.session);
        }
        !back.is_empty()
    }

    fn woken(&mut self, id: &SessionId, wake: WakeId, after: &State, programs: &Programs) {
        let now = after.now();
        let session = after.session(id).expect("a session that is woken is there");
        assert!(matches!(session.turn, Turn::Ended { .. }), "woken mid-turn");
        assert!(session.pause.is_some(), "woken outside a pause");
        let program = programs.get(&session.launch).expect("every launch folder has a program");
        checks::mode_allows_wakes(session, program);
        let sent_before = self.sent.contains_key(&wake);
        assert!(sent_before || session.fork_type != ForkType::Missing, "woken where nothing can be spawned");
        let offers = self.sent.entry(wake).or_default();
        *offers += 1;
        assert!(*offers <= 3, "a wake is offered {offers} times");
        if *offers > 1 {
            return;
        }
        let tickets: Vec<&Ticket> = session.tickets_of(wake).collect();
        assert!(!tickets.is_empty(), "a wake for nobody");
        let first = tickets.iter().filter(|ticket| ticket.batch == wake).map(|ticket| (&ticket.fork, ticket.trigger));
        let held = session.held.iter().filter(|held| held.batch == wake).map(|held| (&held.fork, held.trigger));
        let batch: Vec<(&ForkName, Trigger)> = first.chain(held).collect();
        let names: BTreeMap<ForkName, Vec<ForkName>> = batch
            .iter()
            .map(|(name, _)| ((*name).clone(), program.fork(name).expect("it is in the program").after.clone()))
            .collect();
        assert_eq!(names.len(), batch.len(), "a fork is twice in one batch");
        if !batch.is_empty() {
            self.batches.insert(wake, names);
        }
        self.predecessors_have_ended(session, &tickets, now);
        let issued = self.issues.len();
        for (name, trigger) in batch {
            let fork = program.fork(name).expect("it is in the program");
            checks::tags_pass(session, program, fork);
            self.moment_has_come(session, fork, trigger, now);
            self.throttles_allow(session, program, fork, issued, now);
            if fork.overlap == Overlap::Forbidden {
                let mut runs = session.tickets.iter().filter(|ticket| ticket.fork == *name);
                assert!(!runs.any(|ticket| ticket.live_run(now).is_some()), "{name} is due and runs");
            }
            self.issues.push(Issue {
                session: id.clone(),
                conversation: session.conversation.clone(),
                root: session.root.clone(),
                fork: name.clone(),
                tags: fork.tags.clone(),
                at: now,
                trigger,
                pause_over: false,
                leg_over: false,
            });
        }
    }

    /// Its moment is here, and was not spent.
    fn moment_has_come(&self, session: &Session, fork: &Fork, trigger: Trigger, now: Time) {
        let name = &fork.name;
        let mine = |issue: &&Issue| issue.session == session.id && issue.fork == *name;
        match trigger {
            Trigger::Idle(length) => {
                let began = session.pause.as_ref().map(|pause| pause.began);
                assert!(began.is_some_and(|began| began.after(length) <= now), "{name} too early");
                let again = self.issues.iter().filter(mine).filter(|issue| !issue.pause_over);
                let again = again.filter(|issue| matches!(issue.trigger, Trigger::Idle(_)));
                assert_eq!(again.count(), 0, "{name} twice in one pause");
            }
            Trigger::Context { moment, tokens } => {
                let large = self.large.contains(&session.conversation);
                let window = if large { 1_000_000 } else { 200_000 };
                let reached = match moment {
                    Moment::ContextTokens(least) => tokens >= least.get(),
                    Moment::ContextLeft(most) => window - tokens.min(window) <= most.get(),
                    Moment::Idle(_) | Moment::ContextUsed(_) => unreachable!("no fork here has such a threshold"),
                };
                assert!(reached && session.gauge.is_some_and(|gauge| gauge.tokens == tokens), "{name}: {moment}");
                let again = self.issues.iter().filter(mine).filter(|issue| !issue.leg_over);
                let again = again.filter(
                    |issue| matches!(issue.trigger, Trigger::Context { moment: fired, .. } if fired == moment),
                );
                assert_eq!(again.count(), 0, "{name} twice at {moment} in one leg");
            }
        }
    }

    /// Neither throttle is in the way. Only what was issued before this batch counts: the first `issued`.
    fn throttles_allow(&self, session: &Session, program: &Program, fork: &Fork, issued: usize, now: Time) {
        let earlier = &self.issues[..issued];
        if let Some(gap) = fork.throttle {
            let same = |issue: &&Issue| issue.conversation == session.conversation && issue.fork == fork.name;
            let last = earlier.iter().filter(same).map(|issue| issue.at).max();
            assert!(last.is_none_or(|last| last.after(gap) <= now), "{} in spite of its throttle", fork.name);
        }
        for tag in &fork.tags {
            let Some(gap) = program.config().tag_throttles.get(tag) else { continue };
            let same = |issue: &&Issue| issue.root == session.root && issue.tags.contains(tag);
            let last = earlier.iter().filter(same).map(|issue| issue.at).max();
            assert!(last.is_none_or(|last| last.after(*gap) <= now), "{} in spite of its tag's throttle", fork.name);
        }
    }

    /// Whoever starts now waits for nobody of its batch who can still run or is running.
    fn predecessors_have_ended(&self, session: &Session, tickets: &[&Ticket], now: Time) {
        for ticket in tickets {
            let batch = &self.batches[&ticket.batch];
            for name in batch[&ticket.fork].iter().filter(|name| batch.contains_key(*name)) {
                assert!(!session.held.iter().any(|held| held.batch == ticket.batch && held.fork == *name));
                let Some(predecessor) = session.ticket_in_batch(ticket.batch, name) else { continue };
                assert!(predecessor.live_run(now).is_none(), "{} starts beside {name}", ticket.fork);
                assert_ne!(predecessor.wake, ticket.wake, "{} is asked for together with {name}", ticket.fork);
            }
        }
    }

    /// A ticket lets one call through, and one more for each spawn that failed; and no two runs of one fork are live.
    fn let_through(&mut self, id: TicketId, event: &Event, before: &State, after: &State) {
        let Event::Host { fact: Fact::SpawnRequested { tool_use, .. }, .. } = event else {
            panic!("a spawn is let through that nobody asked for");
        };
        let ticket = before.sessions().flat_map(|session| &session.tickets).find(|ticket| ticket.id == id);
        let ticket = ticket.expect("it was issued before it was presented");
        if ticket.run().is_some_and(|run| run.tool_use.is_none()) {
            *self.adopted.entry(id).or_default() += 1;
        }
        let calls = self.allowed.entry(id).or_default();
        calls.insert(tool_use.clone());
        let excused = self.failed.get(&id).unwrap_or(&0) + self.adopted.get(&id).unwrap_or(&0);
        assert!(calls.len() <= 1 + excused, "{id} was redeemed {} times", calls.len());
        if may_overlap(&ticket.fork) == Overlap::Allowed {
            return;
        }
        // A run that had counted as dead when this ticket was issued, and gave a sign again, is nobody's fault.
        let holder = after.sessions().find(|session| session.tickets.iter().any(|held| held.id == id));
        let others = holder.into_iter().flat_map(|session| &session.tickets);
        let others = others.filter(|other| other.fork == ticket.fork && other.id != id);
        let others = others.filter(|other| other.issued.after(crate::engine::RUN_AGES_OUT) > ticket.issued);
        let live = others.filter(|other| other.live_run(after.now()).is_some()).count();
        assert_eq!(live, 0, "more runs of {} are live", ticket.fork);
    }

    /// What is kept of each ticket says what became of it.
    pub(super) fn records_are_true(&self, state: &State) {
        for session in state.sessions() {
            for ticket in &session.tickets {
                let record = self.records.get(&ticket.id).expect("every ticket is recorded");
                let told = (record.ticket.run(), record.ticket.state == TicketState::Open);
                let known = (ticket.run(), ticket.state == TicketState::Open);
                let essence = |run: Option<&crate::engine::Run>| {
                    run.map(|run| {
                        (run.started, run.end.as_ref().map(|end| (end.outcome, end.report.clone(), end.usage)))
                    })
                };
                assert_eq!((essence(told.0), told.1), (essence(known.0), known.1), "the record is not true");
            }
        }
        let lost = self.records.values().filter(|record| state.session(&record.session).is_none());
        for record in lost {
            let unsettled =
                record.ticket.state == TicketState::Open || record.ticket.run().is_some_and(|run| run.end.is_none());
            assert!(!unsettled || record.session_over.is_some(), "a record waits for a session that is over");
        }
    }
}

/// Whose pause this event ends, by what is told: genuine activity, or another beginning; and whether it is the latter,
/// a fresh leg.
fn ends_pause(before: &State, event: &Event) -> Option<(SessionId, bool)> {
    let Event::Host { origin, fact, .. } = event else { return None };
    let session = before.session(&origin.session)?;
    let known = |task: &Option<crate::engine::TaskId>| {
        let runs = session.tickets.iter().filter_map(Ticket::run);
        task.is_some() && runs.into_iter().any(|run| run.agent == *task)
    };
    let (ends, leg) = match fact {
        Fact::Prompt { prompt: Prompt::Human, .. } => (true, false),
        Fact::Prompt { prompt: Prompt::Tasks(notices), .. } => {
            (notices.iter().any(|notice| notice.evidence == Evidence::Plain && !known(&notice.task)), false)
        }
        Fact::Started(start) => (start.source != StartSource::Compact, true),
        _ => (false, false),
    };
    ends.then(|| (origin.session.clone(), leg))
}
