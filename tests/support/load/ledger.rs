//! What was told and what came of it, to be compared with the journal.

use std::collections::{BTreeMap, BTreeSet};

use autofork::engine::{Event, Fact, Outcome as RunOutcome};
use autofork::ir::Time;
use autofork::journal::{Entry, PastEnd, Reader, Wanted};
use autofork::sim::Stage;

use super::Outcome;
use super::person::Told;

/// How many faults of one kind are put into words.
const SHOWN: usize = 5;

/// Every event that a hook was run for, and every ticket that a hook has shown.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    told: BTreeSet<Told>,
    /// How many tickets of a fork were shown to a session.
    woken: BTreeMap<(String, String), usize>,
    tickets: BTreeSet<String>,
    faults: Vec<String>,
}

impl Ledger {
    /// Hooks were run for these.
    pub(crate) fn told(&mut self, events: Vec<Told>) {
        for event in events {
            let again = format!("{event:?} was played twice, which is a fault of the play");
            if !self.told.insert(event) {
                self.faults.push(again);
            }
        }
    }

    /// A hook has shown a ticket.
    pub(crate) fn woken(&mut self, session: &str, fork: &str, ticket: &str) {
        *self.woken.entry((session.to_owned(), fork.to_owned())).or_default() += 1;
        if !self.tickets.insert(ticket.to_owned()) {
            self.faults.push(format!("{session}: a ticket was shown twice"));
        }
    }

    /// Looks for all of it in the journal, and for anything else.
    pub(crate) fn compare(&mut self, stage: &Stage, outcome: &mut Outcome) {
        outcome.faults.append(&mut self.faults);
        outcome.events = self.told.len();
        outcome.fired = self.tickets.len();
        let reader = Reader::open(&stage.home().join("journal.db")).expect("the journal can be read");
        let reader = reader.expect("there is a journal");

        let mut kept: BTreeMap<Told, usize> = BTreeMap::new();
        let take = |entry: Entry<'_>| {
            if let Some(told) = told(entry) {
                *kept.entry(told).or_default() += 1;
            }
        };
        reader.entries(take).expect("the journal can be read");
        outcome.told_again = kept.values().map(|times| times - 1).sum();
        let lost: Vec<&Told> = self.told.iter().filter(|told| !kept.contains_key(told)).collect();
        outcome.faults.extend(lost.iter().take(SHOWN).map(|told| format!("lost: {told:?}")));
        outcome.faults.extend((lost.len() > SHOWN).then(|| format!("lost: {} events in all", lost.len())));
        let strange = kept.keys().filter(|told| !self.told.contains(told));
        outcome.faults.extend(strange.take(SHOWN).map(|told| format!("never told: {told:?}")));

        let mut fired: BTreeMap<(String, String), usize> = BTreeMap::new();
        let latest = Time::from_millis(i64::MAX / 2);
        for run in reader.runs(&Wanted::default(), latest).expect("the journal can be read") {
            // A fork of the crowd has run to its end; one that came due at the end of all waits for its turn.
            let is_well = match &run.end {
                PastEnd::Ended { outcome, .. } => run.fork == "at-once" && *outcome == RunOutcome::Completed,
                PastEnd::Waiting => run.fork == "late",
                _ => false,
            };
            if !is_well {
                outcome.faults.push(format!("{}: {} came to {:?}", run.session, run.fork, run.end));
            }
            *fired.entry((run.session, run.fork)).or_default() += 1;
        }
        if fired != self.woken {
            let differs = self.woken.iter().find(|(key, times)| fired.get(key) != Some(times));
            outcome.faults.push(format!("fired otherwise than shown, {differs:?} for one"));
        }
    }
}

/// The event of a hook that an entry of the journal tells of.
fn told(entry: Entry<'_>) -> Option<Told> {
    let Entry::Event { event, .. } = entry else { return None };
    let Event::Host { origin, fact, .. } = *event else { return None };
    let turn =
        |prompt: Option<autofork::engine::PromptId>| prompt.map_or_else(String::new, |id| id.as_str().to_owned());
    let (event, which) = match fact {
        Fact::Started(_) => ("session-start", String::new()),
        Fact::Prompt { mark, .. } => ("user-prompt-submit", turn(mark.prompt)),
        Fact::Stopped { mark, .. } => ("stop", turn(mark.prompt)),
        Fact::SpawnRequested { tool_use, .. } => ("pre-tool-use", tool_use.as_str().to_owned()),
        Fact::SpawnStarted { tool_use, .. } => ("post-tool-use", tool_use.as_str().to_owned()),
        Fact::SpawnFailed { tool_use, .. } => ("post-tool-use-failure", tool_use.as_str().to_owned()),
        Fact::ForkStarted(agent) => ("subagent-start", agent.as_str().to_owned()),
        Fact::SubagentStopped { agent, .. } => ("subagent-stop", agent.as_str().to_owned()),
        Fact::Ended => ("session-end", String::new()),
    };
    Some(Told { session: origin.session.as_str().to_owned(), event, which })
}
