//! A real session, played again from the entries of the journal.

use super::timeline::{Timeline, What};
use crate::engine::{SessionId, State};
use crate::ir::Programs;
use crate::journal::Entry;

/// Folds the entries, oldest first, and tells what happened in one session. `programs` are those in force before the
/// first entry, as far as is known.
pub fn replay(
    entries: impl IntoIterator<Item = Entry<'static>>,
    programs: Programs,
    session: &SessionId,
) -> Timeline {
    let mut state = State::default();
    let mut programs = programs;
    let mut timeline = Timeline::default();
    for entry in entries {
        match entry {
            Entry::Event { at, event } => {
                let before = state.clone();
                let event = *event;
                let effects = state.apply(at, &programs, event.clone());
                timeline.observe(&before, &event, &effects, &state, &programs);
            }
            Entry::Program { at, launch, program } => {
                let launch = launch.into_owned();
                let before = state.clone();
                let forks = program.len();
                programs.set(launch.clone(), program);
                if state.session(session).is_some_and(|session| session.launch == launch) {
                    timeline.say(at, Some(session), What::Program { forks });
                }
                let event = crate::engine::Event::ProgramChanged(launch);
                let effects = state.apply(at, &programs, event.clone());
                timeline.observe(&before, &event, &effects, &state, &programs);
            }
        }
    }
    timeline.unfired(&state, session, &programs);
    let all = |line: &super::Line| line.session.is_none() || line.session.as_deref() == Some(session.as_str());
    timeline.lines.retain(all);
    // What happened to all before and after the session is not its story.
    let of_it = |line: &super::Line| line.session.is_some();
    let first = timeline.lines.iter().position(of_it).unwrap_or(timeline.lines.len());
    timeline.lines.drain(..first);
    let last = timeline.lines.iter().rposition(of_it).map_or(0, |last| last + 1);
    timeline.lines.truncate(last);
    timeline
}
