//! How sessions begin and end.

use super::debounced;
use crate::engine::testing::{Play, at, fork, launch, seconds};
use crate::engine::*;
use crate::ir::{Config, LaunchDir, ProjectRoot};

#[test]
fn one_client_process_has_one_session() {
    let mut play = Play::with(vec![fork("a", 10)]);
    let start = |play: &mut Play, session: &str, source: StartSource| {
        let client = Some(ClientProcess { pid: 7, start: 1 });
        let conversation = session.into();
        let origin = Origin {
            session: session.into(),
            conversation,
            launch: launch(),
            client,
            transcript: None,
            tags: TagOverride::default(),
        };
        let root = ProjectRoot::new("/project");
        play.event(Event::Host { origin, root, fact: Fact::Started(source.into()) });
    };
    start(&mut play, "phantom", StartSource::Startup);
    start(&mut play, "real", StartSource::Resume);
    assert_eq!(play.state.sessions().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["real"]);
}

#[test]
fn a_session_that_is_resumed_elsewhere_is_there_and_has_the_tags_it_was_resumed_with() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    let disable = Some(["ci".into()].into());
    let origin = Origin {
        session: "s".into(),
        conversation: "s".into(),
        launch: LaunchDir::new("/elsewhere"),
        client: None,
        transcript: None,
        tags: TagOverride { disable, ..TagOverride::default() },
    };
    let mut begin = |source: StartSource| {
        let fact = Fact::Started(source.into());
        play.event(Event::Host { origin: origin.clone(), root: ProjectRoot::new("/elsewhere"), fact });
        let session = play.state.session(&"s".into()).unwrap();
        (session.launch.clone(), session.root.clone(), session.tags.clone())
    };
    assert_eq!(begin(StartSource::Compact).0, launch(), "nothing has begun");
    let there = (LaunchDir::new("/elsewhere"), ProjectRoot::new("/elsewhere"), origin.tags.clone());
    assert_eq!(begin(StartSource::Resume), there);
    play.turn("s");
    play.until(at(10_000));
    assert_eq!(play.names(), [[""; 0]; 0], "there is no such fork there");
}

#[test]
fn a_straggler_does_not_bring_a_session_back_to_life() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.fact("s", Fact::Ended);
    play.fact("s", Fact::SubagentStopped { agent: "x".into(), report: None });
    play.fact("s", Fact::Ended);
    play.event(Event::PollDropped { session: "s".into(), poll: PollId::new(1) });
    assert_eq!(play.state.sessions().count(), 0);
    assert_eq!(play.state.next_deadline(), None);
}

#[test]
fn a_stop_that_is_told_after_the_end_of_its_session_lets_its_hook_go_and_fires_nothing() {
    let mut play = Play::with(vec![fork("a", 0)]);
    play.turn("s");
    play.obey("s");
    play.fact("s", Fact::Ended);
    // Told again since the daemon died, or for the first time since its hook began late.
    for hook_started in [at(0), at(60)] {
        play.now = at(60);
        let mark = Mark { at: hook_started, ..play.current_mark("s") };
        play.fact("s", Fact::Stopped { mark, kind: TurnKind::Plain, background: None, mode: None });
        let poll = play.park("s");
        assert_eq!((play.names(), play.released.last()), (vec![vec!["a"]], Some(&poll)), "{hook_started:?}");
        assert_eq!(play.state.sessions().count(), 0);
    }
    // A later turn is a sign of life.
    play.turn("s");
    assert_eq!(play.names(), [["a"], ["a"]]);
}

#[test]
fn a_turn_that_outlasts_the_timeout_of_its_session_still_counts_when_it_ends() {
    let config = Config { session_timeout: seconds(60), ..debounced(0) };
    let mut play = Play::under(config, vec![fork("a", 0)]);
    play.prompt("s", Prompt::Human);
    play.until(at(100));
    assert_eq!(play.state.sessions().count(), 0);
    play.stop("s");
    assert_eq!(play.names(), [["a"]]);
}

#[test]
fn a_session_ends_after_its_timeout_and_its_hook_is_let_go() {
    let config = Config { session_timeout: seconds(60), ..debounced(0) };
    let mut play = Play::under(config, vec![fork("late", 100)]);
    let poll = play.turn("s");
    play.until(at(60));
    assert_eq!((play.state.sessions().count(), play.released.as_slice()), (0, [poll].as_slice()));
}

#[test]
fn a_session_whose_hook_went_away_is_asked_after() {
    let mut play = Play::with(vec![fork("a", 1_000)]);
    let poll = play.turn("s");
    play.event(Event::PollDropped { session: "s".into(), poll });
    assert_eq!(play.state.next_deadline(), Some(at(90)));
    play.now = at(90);
    let probe = Effect::Probe { session: "s".into(), client: None };
    assert_eq!(play.event(Event::Tick), [probe]);
    play.event(Event::ClientGone("s".into()));
    assert_eq!(play.state.sessions().count(), 0);
}

#[test]
fn a_session_whose_hook_vanished_with_a_wake_is_asked_after_too() {
    let mut play = Play::with(vec![fork("a", 10)]);
    let poll = play.turn("s");
    play.until(at(10));
    play.event(Event::PollDropped { session: "s".into(), poll });
    assert_eq!(play.state.next_deadline(), Some(at(100)));
}
