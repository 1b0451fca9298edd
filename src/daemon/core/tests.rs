//! What a next life of the daemon finds, whenever this one dies.

mod history;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::engine::{
    ClientProcess, Conversation, Evidence, Fact, Mark, Origin, Outcome, PollId, Prompt, PromptId, StartSource,
    TagOverride, TaskId, TaskNotice, ToolUseId, TurnKind,
};
use crate::ir::{Body, Config, Fork, Moment, Overlap, ProjectRoot, Seconds};

fn core(path: &Path) -> Core {
    Core::new(Journal::open(path).unwrap(), Random::open().unwrap())
}

fn launch() -> LaunchDir {
    LaunchDir::new("/project")
}

fn fork(name: &str, idle: u64, body: &str) -> Arc<Fork> {
    Arc::new(Fork {
        name: name.into(),
        path: format!("/project/.autofork/forks/{name}.md").into(),
        description: Some(format!("does {name}")),
        run_on: vec![Moment::Idle(Seconds::new(idle))],
        throttle: Seconds::new(30),
        after: Vec::new(),
        overlap: Overlap::Forbidden,
        tags: vec!["t".into()],
        body: Body { first_line: 6, text: body.into() },
    })
}

fn program(debounce: u64, forks: &[Arc<Fork>]) -> Arc<Program> {
    let config = Config { wake_debounce: Seconds::new(debounce).unwrap(), ..Config::default() };
    Arc::new(Program::new(config, forks.iter().cloned()))
}

fn origin(session: &str) -> Origin {
    Origin {
        session: session.into(),
        conversation: Conversation::from(session),
        launch: launch(),
        client: Some(ClientProcess { pid: 1, start: 1 }),
        transcript: None,
        tags: TagOverride::default(),
    }
}

fn host(session: &str, fact: Fact) -> Event {
    Event::Host { origin: origin(session), root: ProjectRoot::new("/project"), fact }
}

fn mark(turn: u64, at: Time) -> Mark {
    Mark { prompt: Some(PromptId::from(turn.to_string().as_str())), at }
}

fn at(seconds: u64) -> Time {
    Time::from_millis(1_000_000).after(Seconds::new(seconds).unwrap())
}

/// A session that was quiet until its fork fired; returns the wake.
fn wake(core: &mut Core, session: &str, begins: u64, idle: u64) -> Vec<Effect> {
    let began = at(begins);
    core.happened(began, host(session, Fact::Started(StartSource::Startup.into())));
    core.happened(
        began,
        host(session, Fact::Prompt { mark: mark(begins, began), prompt: Prompt::Human, mode: None }),
    );
    let stopped = Fact::Stopped { mark: mark(begins, began), kind: TurnKind::Plain, background: None, mode: None };
    core.happened(began, host(session, stopped));
    core.happened(
        began,
        Event::Parked { session: session.into(), poll: PollId::new(begins), mark: mark(begins, began) },
    );
    let consequences = core.happened(at(begins + idle), Event::Tick);
    assert_eq!(consequences.kept, Kept::Safely);
    consequences.effects
}

#[test]
fn a_wake_is_known_to_the_next_life_with_the_same_tickets_and_the_bodies_of_then() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut first = core(&path);
    let forks = [fork("journal", 2, "Write.\n"), fork("review", 2, "Look.\n"), fork("later", 9, "Wait.\n")];
    first.in_force(at(0), &launch(), program(0, &forks));
    let effects = wake(&mut first, "s", 1, 2);
    let [Effect::Wake { session, wake, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let order = first.order(session, *wake);
    let names: Vec<&str> = order.forks.iter().map(|fork| fork.fork.as_str()).collect();
    assert_eq!(names, ["journal", "review"]);
    assert_eq!(order.forks[0].description.as_deref(), Some("does journal"));
    assert_ne!(order.forks[0].ticket, order.forks[1].ticket);

    // Dropped without a farewell, as by kill -9. Then the fork's file changes.
    drop(first);
    let mut second = core(&path);
    second.in_force(at(4), &launch(), program(0, &[fork("journal", 2, "Other.\n")]));
    second.happened(at(4), Event::Restarted);
    let parked = Event::Parked { session: "s".into(), poll: PollId::new(1), mark: mark(1, at(1)) };
    let effects = second.happened(at(4), parked).effects;
    assert!(
        matches!(effects.as_slice(), [Effect::Wake { wake: again, .. }] if again == wake),
        "offered again: {effects:?}"
    );
    assert_eq!(second.order(session, *wake), order);
    let (ticket, instructions) = second.by_token(&order.forks[0].ticket).unwrap();
    assert_eq!(instructions.body, "Write.\n");
    assert_eq!(second.instructions_of(ticket), Some(instructions));
    assert_eq!(second.by_token(&Token::from_bits(7)), None);
}

#[test]
fn a_hook_that_parks_anew_and_tells_its_stop_anew_still_gets_the_wake_it_missed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut first = core(&path);
    first.in_force(at(0), &launch(), program(0, &[fork("early", 2, "Write.\n"), fork("late", 8, "Look.\n")]));
    wake(&mut first, "s", 1, 2);
    first.happened(at(4), host("s", Fact::Prompt { mark: mark(4, at(4)), prompt: Prompt::Wake, mode: None }));
    // The turn of the first wake ends, and its hook parks.
    let stopped = || Fact::Stopped {
        mark: mark(4, at(5)),
        kind: TurnKind::HookAsked,
        background: Some(Vec::new()),
        mode: None,
    };
    let parked = |poll| Event::Parked { session: "s".into(), poll: PollId::new(poll), mark: mark(4, at(5)) };
    first.happened(at(5), host("s", stopped()));
    first.happened(at(5), parked(50));
    let effects = first.happened(at(9), Event::Tick).effects;
    let [Effect::Wake { wake, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    // The daemon dies before the wake is out.
    drop(first);
    let mut second = core(&path);
    second.in_force(at(9), &launch(), program(0, &[fork("early", 2, "Write.\n"), fork("late", 8, "Look.\n")]));
    second.happened(at(9), Event::Restarted);
    second.happened(at(9), host("s", stopped()));
    let effects = second.happened(at(9), parked(1)).effects;
    assert!(matches!(effects.as_slice(), [Effect::Wake { wake: again, .. }] if again == wake), "{effects:?}");
}

#[test]
fn no_wake_is_safe_while_the_disk_fails_and_nothing_is_missing_once_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut live = core(&path);
    live.in_force(at(0), &launch(), program(0, &[fork("journal", 2, "Write.\n")]));
    // Another connection that writes and does not let go is a disk that fails.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let stopped = host("s", Fact::Started(StartSource::Startup.into()));
    assert_eq!(live.happened(at(1), stopped).kept, Kept::No);
    other.execute_batch("ROLLBACK").unwrap();
    let effects = wake(&mut live, "s", 2, 2);
    let [Effect::Wake { session, wake, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let order = live.order(session, *wake);
    assert_eq!(order.forks.len(), 1);
    let next = core(&path);
    assert_eq!(next.state(), live.state());
    assert_eq!(next.order(session, *wake), order);
}

#[test]
fn a_program_that_is_only_known_from_the_journal_never_wakes_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut first = core(&path);
    assert!(first.in_force(at(0), &launch(), program(0, &[fork("journal", 2, "Write.\n")])).is_some());
    assert!(first.in_force(at(0), &launch(), program(0, &[fork("journal", 2, "Anew.\n")])).is_none());
    assert!(first.not_loaded(at(1), &launch()).is_none(), "what was compiled stays in force");
    first.happened(at(1), host("s", Fact::Started(StartSource::Startup.into())));
    drop(first);
    let mut second = core(&path);
    assert_eq!(second.programs().get(&launch()).map(|program| program.len()), Some(1));
    assert!(second.not_loaded(at(2), &launch()).is_some());
    assert_eq!(second.programs().get(&launch()).map(|program| program.len()), Some(0));
}

#[test]
fn a_dependent_learns_of_an_end_that_was_told_after_its_ticket_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut core = core(&path);
    let heir = Fork { after: vec!["doomed".into()], ..(*fork("heir", 2, "Inherit.\n")).clone() };
    core.in_force(at(0), &launch(), program(0, &[fork("doomed", 2, "Die.\n"), Arc::new(heir)]));
    wake(&mut core, "s", 1, 2);
    let prompt = |turn, prompt| host("s", Fact::Prompt { mark: mark(turn, at(turn)), prompt, mode: None });
    core.happened(at(4), prompt(4, Prompt::Wake));
    let ticket = core.state().session(&"s".into()).unwrap().tickets[0].id;
    let call = ToolUseId::from("call");
    let spawn =
        Fact::SpawnRequested { tool_use: call.clone(), ticket: Some(ticket), caller: crate::engine::Caller::Main };
    core.happened(at(5), host("s", spawn));
    let agent = TaskId::from("agent");
    core.happened(at(5), host("s", Fact::SpawnStarted { tool_use: call, agent: agent.clone(), ticket: None }));

    // The model stops the run in the same turn: at its end the client lists it no more, and that is all it says.
    let background = Some(Vec::new());
    core.happened(
        at(6),
        host("s", Fact::Stopped { mark: mark(4, at(4)), kind: TurnKind::HookAsked, background, mode: None }),
    );
    let parked = Event::Parked { session: "s".into(), poll: PollId::new(6), mark: mark(4, at(4)) };
    let effects = core.happened(at(6), parked).effects;
    let [Effect::Wake { session, wake, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let token = core.order(session, *wake).forks[0].ticket.clone();
    let told = |core: &Core| core.by_token(&token).unwrap().1.predecessors[0].clone();
    assert_eq!(told(&core).outcome, Some(Outcome::Lost));

    // How it ended is told before the wake comes through.
    let notice = TaskNotice {
        task: Some(agent),
        tool_use: None,
        outcome: Outcome::Killed,
        report: Some("Half of it.".to_owned()),
        usage: None,
        evidence: Evidence::Plain,
    };
    core.happened(at(7), prompt(7, Prompt::Tasks(vec![notice])));
    let killed =
        Predecessor { fork: "doomed".into(), outcome: Some(Outcome::Killed), report: Some("Half of it.".to_owned()) };
    assert_eq!(told(&core), killed);
    core.happened(at(8), prompt(8, Prompt::Wake));
    let (ticket, _) = core.by_token(&token).unwrap();
    assert_eq!(core.instructions_of(ticket).unwrap().predecessors, [killed]);
}

/// One thing that happens, some time after the last.
#[derive(Debug, Clone)]
enum Step {
    Start(u8),
    Prompt(u8, bool),
    StopAndPark(u8, bool),
    Tick,
    Gone(u8),
    Notice(u8),
    Spawn(u8),
    Delivered(u8),
    Program(u8),
    Restart,
    End(u8),
    Farewell,
}

fn step() -> impl Strategy<Value = Step> {
    let session = || 0_u8..3;
    prop_oneof![
        1 => session().prop_map(Step::Start),
        3 => (session(), any::<bool>()).prop_map(|(session, human)| Step::Prompt(session, human)),
        6 => (session(), any::<bool>()).prop_map(|(session, asked)| Step::StopAndPark(session, asked)),
        8 => Just(Step::Tick),
        1 => session().prop_map(Step::Gone),
        1 => session().prop_map(Step::Notice),
        2 => session().prop_map(Step::Spawn),
        2 => session().prop_map(Step::Delivered),
        2 => (0_u8..3).prop_map(Step::Program),
        1 => Just(Step::Restart),
        1 => session().prop_map(Step::End),
        1 => Just(Step::Farewell),
    ]
}

/// Plays steps on a core, as a daemon with the world around it would.
struct World {
    core: Core,
    now: u64,
    turn: u64,
}

impl World {
    fn take(&mut self, step: &Step, passed: u64) {
        self.now += passed;
        let now = at(self.now);
        let name = |session: &u8| format!("s{session}");
        match step {
            Step::Start(session) => self.host(&name(session), Fact::Started(StartSource::Startup.into())),
            Step::Prompt(session, human) => {
                self.turn += 1;
                let prompt = if *human { Prompt::Human } else { Prompt::Wake };
                self.host(&name(session), Fact::Prompt { mark: mark(self.turn, now), prompt, mode: None });
            }
            Step::StopAndPark(session, asked) => {
                let mark = mark(self.turn, now);
                let kind = if *asked { TurnKind::HookAsked } else { TurnKind::Plain };
                let session = name(session);
                self.host(
                    &session,
                    Fact::Stopped { mark: mark.clone(), kind, background: Some(Vec::new()), mode: None },
                );
                let poll = PollId::new(self.turn);
                self.core.happened(now, Event::Parked { session: session.as_str().into(), poll, mark });
            }
            Step::Tick => drop(self.core.happened(now, Event::Tick)),
            Step::Gone(session) => {
                let poll = PollId::new(self.turn);
                self.core.happened(now, Event::PollDropped { session: name(session).as_str().into(), poll });
            }
            Step::Notice(session) => {
                let notice = TaskNotice {
                    task: Some(TaskId::from("agent")),
                    tool_use: None,
                    outcome: Outcome::Completed,
                    report: Some("Done.".to_owned()),
                    usage: None,
                    evidence: Evidence::Plain,
                };
                self.turn += 1;
                let prompt = Prompt::Tasks(vec![notice]);
                self.host(&name(session), Fact::Prompt { mark: mark(self.turn, now), prompt, mode: None });
            }
            Step::Spawn(session) => {
                let session = name(session);
                let ticket = self
                    .core
                    .state()
                    .session(&session.as_str().into())
                    .and_then(|session| session.tickets.last().map(|ticket| ticket.id));
                let tool_use = ToolUseId::from("call");
                let caller = crate::engine::Caller::Main;
                self.host(&session, Fact::SpawnRequested { tool_use, ticket, caller });
            }
            Step::Delivered(session) => {
                self.core.happened(now, Event::WakeDelivered(name(session).as_str().into()));
            }
            Step::Program(kind) => {
                let forks = [fork("a", 2, "A"), fork("b", 4, "B"), fork("c", 0, "C")];
                let program = program(u64::from(*kind), &forks[..=usize::from(*kind)]);
                self.core.in_force(now, &launch(), program);
            }
            Step::Restart => drop(self.core.happened(now, Event::Restarted)),
            Step::End(session) => self.host(&name(session), Fact::Ended),
            Step::Farewell => self.core.finish(),
        }
    }

    fn host(&mut self, session: &str, fact: Fact) {
        let consequences = self.core.happened(at(self.now), host(session, fact));
        assert_eq!(consequences.kept, Kept::Safely);
    }
}

fn stripped(core: &Core) -> Vec<(LaunchDir, Program)> {
    core.programs().iter().map(|(launch, program)| (launch.clone(), program.without_bodies())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_folds_to_the_live_state_at_any_point(
        steps in vec((step(), 0_u64..5), 1..60),
        looks in vec(any::<prop::sample::Index>(), 4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut world = World { core: core(&path), now: 0, turn: 0 };
        let looks: Vec<usize> = looks.iter().map(|look| look.index(steps.len())).collect();
        for (index, (step, passed)) in steps.iter().enumerate() {
            world.take(step, *passed);
            if looks.contains(&index) || index + 1 == steps.len() {
                // A copy, since whoever opens a journal takes it over.
                let copy = tempfile::tempdir().unwrap();
                for file in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
                    if !file.path().to_string_lossy().ends_with("-shm") {
                        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
                    }
                }
                let found = core(&copy.path().join("journal.db"));
                prop_assert_eq!(found.state(), world.core.state());
                prop_assert_eq!(stripped(&found), stripped(&world.core));
                for session in found.state().sessions() {
                    for ticket in &session.tickets {
                        prop_assert!(found.instructions_of(ticket.id).is_some(), "ticket {} is lost", ticket.id);
                    }
                }
            }
        }
    }
}
