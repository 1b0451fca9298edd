//! A journal in memory: a snapshot and the entries since, all as text, as they would be on disk.

use std::sync::Arc;

use crate::engine::{Event, State};
use crate::ir::{LaunchDir, Program, Programs, Time};

#[derive(Debug)]
pub(super) struct Journal {
    state: String,
    programs: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Event(Time, String),
    Program(Time, LaunchDir, String),
}

/// Why text that was just written can be read: the types say how they are written.
const READABLE: &str = "what was written can be read";

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data can be written")
}

impl Journal {
    pub(super) fn new(state: &State, programs: &Programs) -> Self {
        let mut journal = Self { state: String::new(), programs: String::new(), entries: Vec::new() };
        journal.snapshot(state, programs);
        journal
    }

    pub(super) fn snapshot(&mut self, state: &State, programs: &Programs) {
        self.state = text(state);
        self.programs = text(&programs.iter().collect::<Vec<(&LaunchDir, &Arc<Program>)>>());
        self.entries.clear();
    }

    pub(super) fn event(&mut self, at: Time, event: &Event) {
        self.entries.push(Entry::Event(at, text(event)));
    }

    pub(super) fn program(&mut self, at: Time, launch: &LaunchDir, program: &Program) {
        self.entries.push(Entry::Program(at, launch.clone(), text(program)));
    }

    /// What the next life of the daemon finds; it must be what this one knows.
    pub(super) fn check(&self, state: &State, programs: &Programs) -> (State, Programs) {
        let mut found: State = serde_json::from_str(&self.state).expect(READABLE);
        let known: Vec<(LaunchDir, Arc<Program>)> = serde_json::from_str(&self.programs).expect(READABLE);
        let mut in_force: Programs = known.into_iter().collect();
        for entry in &self.entries {
            match entry {
                Entry::Event(at, event) => {
                    found.apply(*at, &in_force, serde_json::from_str(event).expect(READABLE));
                }
                Entry::Program(at, launch, program) => {
                    in_force.set(launch.clone(), Arc::new(serde_json::from_str(program).expect(READABLE)));
                    found.apply(*at, &in_force, Event::ProgramChanged(launch.clone()));
                }
            }
        }
        assert_eq!(found, *state, "the journal does not replay to the state");
        assert_eq!(in_force, *programs, "the journal does not replay to the programs");
        let again: State = serde_json::from_str(&text(state)).expect(READABLE);
        assert_eq!(again, *state, "a snapshot is not the state");
        (found, in_force)
    }
}
