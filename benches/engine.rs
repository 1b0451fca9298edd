//! How many events a second the engine takes, with 100 sessions and 200 forks; and what 2 000 forks at once cost. Run
//! with `cargo bench --bench engine`.

use std::sync::Arc;

use autofork::engine::{
    Conversation, Event, Fact, Mark, Origin, PollId, Prompt, PromptId, SessionId, State, TagOverride, TurnKind,
};
use autofork::ir::{
    Body, Config, Fork, ForkName, LaunchDir, Moment, Overlap, Program, Programs, ProjectRoot, Seconds, Tag, Time,
};
use divan::Bencher;
use divan::counter::ItemsCount;

const SESSIONS: u64 = 100;
const FORKS: u64 = 200;
const ROUNDS: u64 = 50;

fn main() {
    divan::main();
}

fn fork(number: u64) -> Fork {
    Fork {
        name: ForkName::from(format!("fork-{number}").as_str()),
        path: format!("/project/.autofork/forks/fork-{number}.md").into(),
        description: None,
        run_on: vec![Moment::Idle(Seconds::new(300 + 10 * number))],
        throttle: number.is_multiple_of(3).then(|| Seconds::minutes(60)),
        after: Vec::new(),
        overlap: Overlap::Forbidden,
        tags: if number.is_multiple_of(4) { vec![Tag::from("notes")] } else { Vec::new() },
        body: Body::default(),
    }
}

fn programs() -> Programs {
    let program = Program::new(Config::default(), (0..FORKS).map(|number| Arc::new(fork(number))));
    Programs::from_iter([(LaunchDir::new("/project"), Arc::new(program))])
}

/// A morning of work: every session has turn after turn, ten seconds apart, and rests after each tenth for long enough
/// that forks fire.
fn events() -> Vec<(Time, Event)> {
    let mut events = Vec::new();
    let mut now = Time::from_millis(0);
    let mut polls = 0;
    for round in 0..ROUNDS {
        for number in 0..SESSIONS {
            let session = SessionId::from(format!("session-{number}").as_str());
            let mark = Mark { prompt: Some(PromptId::from(format!("{number}-{round}").as_str())), at: now };
            let host = |fact| Event::Host {
                origin: Origin {
                    session: session.clone(),
                    conversation: Conversation::from(session.as_str()),
                    launch: LaunchDir::new("/project"),
                    client: None,
                    transcript: None,
                    tags: TagOverride::default(),
                },
                root: ProjectRoot::new("/project"),
                fact,
            };
            events.push((now, host(Fact::Prompt { mark: mark.clone(), prompt: Prompt::Human, mode: None })));
            let (kind, background, mode) = (TurnKind::Plain, Some(Vec::new()), None);
            events.push((now, host(Fact::Stopped { mark: mark.clone(), kind, background, mode })));
            polls += 1;
            events.push((now, Event::Parked { session, poll: PollId::new(polls), mark }));
        }
        now = now.after(Seconds::new(if round % 10 == 9 { 600 } else { 10 }).unwrap_or(Seconds::ZERO));
    }
    events
}

#[divan::bench]
fn apply(bencher: Bencher<'_, '_>) {
    let programs = programs();
    bencher
        .counter(ItemsCount::new(SESSIONS * ROUNDS * 3))
        .with_inputs(|| (State::default(), events()))
        .bench_local_values(|(mut state, events)| {
            for (now, event) in events {
                while let Some(deadline) = state.next_deadline().filter(|deadline| *deadline <= now) {
                    divan::black_box(state.apply(deadline, &programs, Event::Tick));
                }
                divan::black_box(state.apply(now, &programs, event));
            }
            state
        });
}

/// How many forks a large project has.
const MANY: u64 = 2000;

/// A session in which so many forks, all with tags, come due at the first Stop: told of up to the moment before the
/// hook parks, and the event with which it does.
fn crowded() -> (State, Programs, Event) {
    let config = Config { wake_debounce: Seconds::ZERO, ..Config::default() };
    let forks = (0..MANY).map(|number| {
        let idle = vec![Moment::Idle(Some(Seconds::ZERO))];
        Arc::new(Fork { run_on: idle, tags: vec![Tag::from("notes")], ..fork(number) })
    });
    let programs = Programs::from_iter([(LaunchDir::new("/project"), Arc::new(Program::new(config, forks)))]);
    let mut state = State::default();
    let mark = Mark { prompt: Some(PromptId::from("p")), at: Time::from_millis(0) };
    let (kind, background, mode) = (TurnKind::Plain, Some(Vec::new()), None);
    let stopped = of_crowd(Fact::Stopped { mark: mark.clone(), kind, background, mode });
    state.apply(Time::from_millis(0), &programs, stopped);
    (state, programs, Event::Parked { session: SessionId::from("s"), poll: PollId::new(1), mark })
}

fn of_crowd(fact: Fact) -> Event {
    let origin = Origin {
        session: SessionId::from("s"),
        conversation: Conversation::from("c"),
        launch: LaunchDir::new("/project"),
        client: None,
        transcript: None,
        tags: TagOverride::default(),
    };
    Event::Host { origin, root: ProjectRoot::new("/project"), fact }
}

/// From the first Stop to the wake, with 2 000 forks that are all due.
#[divan::bench]
fn wake_of_2000(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(crowded)
        .bench_local_values(|(mut state, programs, parked)| state.apply(Time::from_millis(1), &programs, parked));
}

/// The end of a session whose wake for 2 000 forks never got through: all of it is taken back.
#[divan::bench]
fn end_with_2000(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| {
            let (mut state, programs, parked) = crowded();
            state.apply(Time::from_millis(1), &programs, parked);
            (state, programs)
        })
        .bench_local_values(|(mut state, programs)| {
            state.apply(Time::from_millis(2), &programs, of_crowd(Fact::Ended))
        });
}
