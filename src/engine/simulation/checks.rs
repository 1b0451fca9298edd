//! What must hold of a state by itself.

use crate::engine::{Delivery, Effect, Event, PermissionMode, Session, State};
use crate::ir::{Fork, Program, Programs, Seconds, Time};

/// Before the next deadline there is nothing to do, and at it there is.
pub(super) fn deadline_is_true(state: &State, programs: &Programs) {
    let now = state.now();
    let deadline = state.next_deadline();
    let a_while = now.after(Seconds::minutes(8));
    let just_before = deadline.map_or(a_while, |deadline| Time::from_millis(deadline.as_millis() - 1));
    if just_before > now {
        let mut ticked = state.clone();
        // A tick at which no session is due looks at none: everybody is looked at here.
        let effects = ticked.look_at_everybody(just_before, programs);
        assert_eq!(effects, [], "something to do before the deadline");
        assert!(same_but_for_clocks(&ticked, state), "something changes before the deadline");
    }
    if let Some(deadline) = deadline {
        let mut ticked = state.clone();
        let effects = ticked.apply(deadline.max(now), programs, Event::Tick);
        let changed = !same_but_for_clocks(&ticked, state);
        assert!(changed || !effects.is_empty(), "nothing to do at the deadline");
    }
}

/// Nobody is due and left waiting without a reason.
pub(super) fn nobody_is_forgotten(state: &State, programs: &Programs) {
    // Where the deadline has passed, the tick that is on its way finds whoever is due.
    let waits = |session: &&Session| session.deadline.is_none_or(|deadline| deadline > state.now());
    for session in state.sessions().filter(|session| session.is_parked()).filter(waits) {
        let Some(program) = programs.get(&session.launch) else { continue };
        let waiting = session.wakes.back().is_some_and(|wake| wake.delivery == Delivery::Sent);
        for fork in program.forks() {
            let outlook = state.outlook(session, fork, program, state.now());
            assert!(!outlook.reasons.is_empty() || waiting, "{} is due and nobody wakes it", fork.name);
        }
    }
}

pub(super) fn mode_allows_wakes(session: &Session, program: &Program) {
    let planning = session.mode == Some(PermissionMode::Plan);
    assert!(!planning || program.config().wake_in_plan_mode, "woken in plan mode");
}

pub(super) fn tags_pass(session: &Session, program: &Program, fork: &Fork) {
    let disabled = session.tags.disable.as_ref().unwrap_or(&program.config().disable_tags);
    let enabled = session.tags.enable.as_ref().unwrap_or(&program.config().enable_tags);
    assert!(!fork.tags.iter().any(|tag| disabled.contains(tag)), "{} is switched off by a tag", fork.name);
    let on = enabled.is_empty() || fork.tags.iter().any(|tag| enabled.contains(tag));
    assert!(on, "{} is not switched on by a tag", fork.name);
}

/// The same state, the instants aside that every look moves.
fn same_but_for_clocks(one: &State, other: &State) -> bool {
    let stripped = |state: &State| {
        let mut state = state.clone();
        state.now = Time::default();
        for session in state.sessions.values_mut() {
            session.deadline = None;
            if let Some(pause) = &mut session.pause {
                pause.evaluated = Time::default();
            }
        }
        state
    };
    stripped(one) == stripped(other)
}

impl State {
    /// Settles every session, whether it has something to do or not.
    fn look_at_everybody(&mut self, now: Time, programs: &Programs) -> Vec<Effect> {
        let mut effects = Vec::new();
        let launches: Vec<_> = self.sessions().map(|session| session.launch.clone()).collect();
        for launch in launches {
            effects.extend(self.apply(now, programs, Event::ProgramChanged(launch)));
        }
        effects
    }
}
