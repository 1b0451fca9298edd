//! What keeps a fork that is due from firing: throttles, tags, plan mode, a run that is under way.

use super::{after, debounced};
use crate::engine::testing::{Play, at, fork, launch, seconds, tagged, throttled};
use crate::engine::*;
use crate::ir::{Config, Fork, Overlap, Seconds};

#[test]
fn a_throttle_holds_within_the_conversation_and_its_end_is_noticed_mid_pause() {
    let mut play = Play::with(vec![throttled(fork("a", 10), 100)]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(20));
    play.turn("s");
    play.until(at(50));
    assert_eq!(play.woken.len(), 1);
    assert_eq!(play.reasons("s", "a"), [Reason::Throttled { until: at(110) }]);
    play.until(at(110));
    assert_eq!(play.woken.len(), 2, "the throttle ended while the fork was otherwise due");
}

#[test]
fn throttles_outlive_the_session() {
    let mut play = Play::with(vec![throttled(fork("a", 10), 100)]);
    play.turn("s");
    play.until(at(10));
    play.obey("s");
    play.fact("s", Fact::Ended);
    assert_eq!(play.state.sessions().count(), 0);
    play.fact("s", Fact::Started(StartSource::Resume.into()));
    play.turn("s");
    play.until(at(109));
    assert_eq!(play.woken.len(), 1);
    play.until(at(110));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn two_sessions_of_one_conversation_share_its_throttles() {
    let mut play = Play::with(vec![throttled(fork("journal", 15), 60)]);
    let origin = |session: &str| Origin {
        session: session.into(),
        conversation: "shared".into(),
        launch: launch(),
        client: None,
        transcript: None,
        tags: TagOverride::default(),
    };
    for (session, turn) in [("s", 1), ("t", 2)] {
        let mark = Mark { prompt: Some(format!("{session}-{turn}").as_str().into()), at: play.now };
        let root = ProjectRoot::new("/project");
        let (kind, background, mode) = (TurnKind::Plain, Some(Vec::new()), None);
        let fact = Fact::Stopped { mark: mark.clone(), kind, background, mode };
        play.event(Event::Host { origin: origin(session), root, fact });
        play.event(Event::Parked { session: session.into(), poll: PollId::new(turn), mark });
        play.until(at(turn));
    }
    play.until(at(15));
    assert_eq!(play.woken.len(), 1);
    // The other one's next deadline is no longer its own idle time.
    assert_eq!(play.reasons("t", "journal").last(), Some(&Reason::Throttled { until: at(75) }));
    play.until(at(74));
    assert_eq!(play.woken.len(), 1);
    play.until(at(75));
    assert_eq!(play.woken[1..], [(at(75), "t".into(), vec!["journal".to_owned()])]);
}

#[test]
fn a_tag_throttle_holds_for_all_sessions_of_the_project() {
    let mut config = Config { wake_debounce: Seconds::ZERO, ..Config::default() };
    config.tag_throttles.insert("notes".into(), seconds(100));
    let mut play = Play::under(config, vec![tagged(fork("a", 10), &["notes"])]);
    play.turn("s");
    play.turn("t");
    play.until(at(50));
    assert_eq!(play.woken, [(at(10), "s".into(), vec!["a".to_owned()])]);
    assert_eq!(play.reasons("t", "a"), [Reason::TagThrottled { tag: "notes".into(), until: at(110) }]);
    play.until(at(110));
    assert_eq!(play.woken[1], (at(110), "t".into(), vec!["a".to_owned()]));
}

#[test]
fn what_was_issued_in_the_same_instant_by_another_session_keeps_its_stamp() {
    let mut play = Play::with(vec![tagged(fork("notes", 15), &["t"])]);
    play.turn("s");
    play.turn("u");
    play.until(at(15));
    assert_eq!(play.woken.len(), 2);
    play.event(Event::WakeDelivered("u".into()));
    // The first one's wake never got through, and is taken back.
    play.prompt("s", Prompt::Human);
    let stamp = play.state.stamps().tag(&ProjectRoot::new("/project"), &"t".into());
    assert_eq!(stamp, Some(at(15)));
}

#[test]
fn tags_filter_and_the_session_s_environment_has_the_last_word() {
    let config = Config { disable_tags: ["noisy".into()].into(), ..debounced(0) };
    let mut play = Play::under(config, vec![tagged(fork("a", 10), &["noisy"])]);
    play.turn("s");
    play.until(at(20));
    assert_eq!(play.reasons("s", "a"), [Reason::TagDisabled("noisy".into())]);
    assert!(play.woken.is_empty());

    let config = Config { enable_tags: ["ci".into()].into(), ..debounced(0) };
    let mut play = Play::under(config, vec![fork("untagged", 10)]);
    play.turn("s");
    play.until(at(20));
    assert_eq!(play.reasons("s", "untagged"), [Reason::NoEnabledTag]);

    let config = Config { disable_tags: ["noisy".into()].into(), ..debounced(0) };
    let mut play = Play::under(config, vec![tagged(fork("a", 10), &["noisy"])]);
    let origin = Origin {
        session: "s".into(),
        conversation: "s".into(),
        launch: launch(),
        client: None,
        transcript: None,
        tags: TagOverride { enable: None, disable: Some([].into()) },
    };
    let root = ProjectRoot::new("/project");
    play.event(Event::Host { origin, root, fact: Fact::Started(StartSource::Startup.into()) });
    play.turn("s");
    play.until(at(20));
    assert_eq!(play.woken.len(), 1, "set but empty: nothing is disabled");
}

#[test]
fn a_session_in_plan_mode_is_left_alone() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.prompt("s", Prompt::Human);
    let mark = Mark { prompt: Some("s-1".into()), at: play.now };
    let mode = Some(PermissionMode::Plan);
    play.fact("s", Fact::Stopped { mark, kind: TurnKind::Plain, background: None, mode });
    play.park("s");
    play.until(at(100));
    assert!(play.woken.is_empty());
    assert_eq!(play.reasons("s", "a"), [Reason::PlanMode]);
}

#[test]
fn a_session_that_plans_is_not_even_woken_for_what_was_held_back_or_did_not_get_through() {
    let mut play = Play::with(vec![fork("first", 15), after(fork("second", 15), &["first"])]);
    play.turn("s");
    play.until(at(15));
    let agents = play.obey("s");
    // The user changes the mode while the session is quiet, and a hook that is not ours makes it go on.
    play.prompt("s", Prompt::OtherHook);
    let mark = play.current_mark("s");
    let (kind, background, mode) = (TurnKind::Plain, None, Some(PermissionMode::Plan));
    play.fact("s", Fact::Stopped { mark, kind, background, mode });
    play.park("s");
    play.fact("s", Fact::SubagentStopped { agent: agents[0].clone(), report: None });
    play.until(at(1_000));
    assert_eq!(play.names(), [["first"]]);
    assert!(play.reasons("s", "second").contains(&Reason::PlanMode));
}

#[test]
fn a_live_run_keeps_its_fork_from_starting_again() {
    let mut play = Play::with(vec![fork("slow", 10)]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(20));
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[(agents[0].as_str(), TaskKind::Fork, "")]);
    play.until(at(100));
    assert_eq!(play.woken.len(), 1);
    let until = at(20).after(RUN_AGES_OUT);
    assert_eq!(play.reasons("s", "slow"), [Reason::Running { until }]);
    play.until(until);
    assert_eq!(play.woken.len(), 2, "a run without a sign for half an hour counts as dead");
}

#[test]
fn a_run_that_the_client_no_longer_lists_has_ended() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    play.obey("s");
    play.until(at(20));
    play.turn("s");
    play.until(at(30));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn overlap_allows_a_second_run() {
    let slow = Fork { overlap: Overlap::Allowed, ..fork("slow", 10) };
    let mut play = Play::with(vec![slow]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[(agents[0].as_str(), TaskKind::Fork, "")]);
    play.until(at(20));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn forks_come_and_go_while_the_session_is_parked() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(5));
    play.edit(vec![fork("b", 7)]);
    play.until(at(100));
    assert_eq!(play.woken, [(at(7), "s".into(), vec!["b".to_owned()])]);
    play.edit(vec![fork("b", 7), fork("c", 7)]);
    assert_eq!(play.woken.len(), 1, "the wake was not obeyed: no hook is parked");
    play.obey("s");
    assert_eq!(play.names(), [["b"], ["c"]]);
}
