//! The schedule, told as stories: what happens in a session, and who is woken when.

use super::testing::{Play, allow, at, fork, launch, notice, seconds, tagged, throttled};
use super::*;
use crate::ir::{Config, ForkName, Moment, Overlap, Seconds};

fn debounced(debounce: u64) -> Config {
    Config { wake_debounce: seconds(debounce), ..Config::default() }
}

#[test]
fn a_quiet_session_is_woken_once() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(14));
    assert_eq!(play.names(), [[""; 0]; 0]);
    assert_eq!(play.reasons("s", "journal"), [Reason::NotYetQuiet { until: at(15) }]);
    play.until(at(15));
    assert_eq!(play.woken, [(at(15), "s".into(), vec!["journal".to_owned()])]);

    let agents = play.obey("s");
    play.until(at(20));
    play.finish("s", &agents[0]);
    play.until(at(10_000));
    assert_eq!(play.woken.len(), 1, "nothing more fires in this pause");
    assert_eq!(play.reasons("s", "journal"), [Reason::Latched]);
}

#[test]
fn the_user_s_next_turn_begins_a_new_pause() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(15));
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(100));
    play.turn("s");
    play.until(at(114));
    assert_eq!(play.woken.len(), 1);
    play.until(at(115));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn idle_zero_fires_at_the_first_stop() {
    let mut play = Play::with(vec![fork("now", 0)]);
    play.turn("s");
    assert_eq!(play.names(), [["now"]]);
}

#[test]
fn bare_idle_waits_for_the_configured_time_and_can_be_switched_off() {
    let bare = || Fork { run_on: vec![Moment::Idle(None)], ..fork("journal", 0) };
    let mut play = Play::under(Config { wake_debounce: Seconds::ZERO, ..Config::default() }, vec![bare()]);
    play.turn("s");
    play.until(at(600));
    assert_eq!(play.woken.len(), 1, "ten minutes by default");

    let mut play = Play::under(Config { default_idle_deadline: Seconds::ZERO, ..Config::default() }, vec![bare()]);
    play.turn("s");
    play.until(at(10_000));
    assert_eq!(play.names(), [[""; 0]; 0]);
    assert_eq!(play.reasons("s", "journal"), [Reason::IdleSwitchedOff]);
}

#[test]
fn the_clock_of_a_pause_is_not_set_back_by_wakes_and_reports() {
    let mut play = Play::with(vec![fork("early", 10), fork("late", 60)]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(40));
    play.finish("s", &agents[0]);
    play.until(at(59));
    assert_eq!(play.names(), [["early"]]);
    play.until(at(60));
    assert_eq!(play.names(), [["early"], ["late"]]);
}

#[test]
fn the_end_of_foreign_work_begins_a_new_pause() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(15));
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(30));
    play.prompt("s", Prompt::Tasks(vec![notice(&"some-command".into())]));
    play.stop("s");
    play.until(at(45));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn another_hook_s_feedback_does_not_begin_a_new_pause() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    for round in 1..50 {
        play.until(at(15 * round));
        play.prompt("s", Prompt::OtherHook);
        play.stop("s");
    }
    assert_eq!(play.woken.len(), 1, "two tools that wake each other come to rest");
}

#[test]
fn a_quoted_notice_of_a_foreign_task_is_not_believed() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(15));
    let agents = play.obey("s");
    let quoted = TaskNotice { evidence: Evidence::AfterReport, ..notice(&"made-up".into()) };
    play.prompt("s", Prompt::Tasks(vec![notice(&agents[0]), quoted]));
    play.stop("s");
    play.until(at(1_000));
    assert_eq!(play.woken.len(), 1);
}

#[test]
fn forks_that_come_due_within_the_debounce_join_one_wake() {
    let mut play = Play::under(debounced(5), vec![fork("a", 10), fork("b", 14), fork("c", 16)]);
    play.turn("s");
    play.until(at(14));
    assert_eq!(play.reasons("s", "a"), [Reason::Debouncing { until: at(15) }]);
    play.until(at(15));
    assert_eq!(play.woken, [(at(15), "s".into(), vec!["a".to_owned(), "b".to_owned()])]);
}

#[test]
fn a_prompt_inside_the_debounce_stamps_nothing() {
    let mut play = Play::under(debounced(5), vec![throttled(fork("a", 10), 1_000)]);
    play.turn("s");
    play.until(at(12));
    play.turn("s");
    assert_eq!(play.state.stamps(), &Stamps::default());
    play.until(at(27));
    assert_eq!(play.woken.len(), 1, "it fires in the next pause, unthrottled");
    assert_eq!(play.woken[0].0, at(27));
}

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
fn nothing_fires_mid_turn_or_after_an_interruption() {
    let mut play = Play::with(vec![fork("a", 10)]);
    let poll = play.turn("s");
    play.until(at(5));
    play.prompt("s", Prompt::Human);
    assert_eq!(play.released, [poll], "the hook is of no use any more");
    play.until(at(10_000));
    assert!(play.woken.is_empty(), "no Stop came");
    assert_eq!(play.reasons("s", "a"), [Reason::MidTurn]);
}

#[test]
fn a_late_stop_does_not_park_over_a_newer_turn() {
    let mut play = Play::with(vec![fork("a", 0)]);
    play.prompt("s", Prompt::Human);
    let late = Mark { prompt: Some("s-1".into()), at: play.now };
    play.prompt("s", Prompt::Human);
    play.fact("s", Fact::Stopped { mark: late.clone(), kind: TurnKind::Plain, background: None, mode: None });
    let effects = play.event(Event::Parked { session: "s".into(), poll: PollId::new(99), mark: late });
    assert_eq!(effects, [Effect::Release { poll: PollId::new(99) }]);

    // Without ids of turns, the start of the hooks tells.
    let mut play = Play::with(vec![fork("a", 0)]);
    let mark = |seconds| Mark { prompt: None, at: at(seconds) };
    play.fact("s", Fact::Prompt { mark: mark(5), prompt: Prompt::Human, mode: None });
    play.fact("s", Fact::Stopped { mark: mark(4), kind: TurnKind::Plain, background: None, mode: None });
    let effects = play.event(Event::Parked { session: "s".into(), poll: PollId::new(99), mark: mark(4) });
    assert_eq!(effects, [Effect::Release { poll: PollId::new(99) }]);
}

#[test]
fn a_later_hook_takes_the_earlier_one_s_place() {
    let mut play = Play::with(vec![fork("a", 10)]);
    let first = play.turn("s");
    let second = play.stop("s");
    assert_eq!(play.released, [first]);
    play.until(at(10));
    assert_eq!(play.woken.len(), 1);
    assert_ne!(first, second);
}

#[test]
fn a_daemon_s_restart_loses_neither_the_pause_nor_the_session() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(5));
    play.event(Event::Restarted);
    play.until(at(12));
    assert!(play.woken.is_empty(), "nobody is parked");
    assert_eq!(play.reasons("s", "a"), [Reason::NotParked]);
    play.park("s");
    assert_eq!(play.woken.len(), 1, "due since ten seconds; the hook came back and is answered at once");
}

#[test]
fn a_wake_that_did_not_get_through_is_offered_again_with_the_same_tickets() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    let tickets = play.tickets("s");
    play.event(Event::Restarted);
    play.park("s");
    assert_eq!(play.names(), [["a"], ["a"]]);
    assert_eq!(play.tickets("s"), tickets);
    play.event(Event::WakeDelivered("s".into()));
    play.event(Event::Restarted);
    play.park("s");
    assert_eq!(play.woken.len(), 2, "it has arrived");
}

#[test]
fn a_wake_that_never_got_through_is_taken_back_when_the_user_goes_on() {
    let mut play = Play::with(vec![throttled(fork("a", 10), 1_000)]);
    play.turn("s");
    play.until(at(10));
    let tickets = play.tickets("s");
    play.event(Event::Restarted);
    play.turn("s");
    let (_, effects) = play.redeem("s", tickets[0]);
    assert_eq!(effects, [Effect::Deny(Denial::Spent)]);
    play.until(at(20));
    assert_eq!(play.woken.len(), 2, "its throttle was given back");
}

#[test]
fn a_wake_that_was_never_sent_is_offered_as_often_as_it_takes() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    for _ in 0..20 {
        // The disk is full, say: the wake must not go out, and the hook parks anew.
        play.event(Event::WakeWithheld("s".into()));
        play.park("s");
    }
    assert_eq!(play.woken.len(), 21);
    // Sent and never confirmed, it is given up: whoever does not hear it thrice never will.
    for _ in 0..20 {
        play.event(Event::Restarted);
        play.park("s");
    }
    assert_eq!(play.woken.len(), 23);
}

#[test]
fn a_ticket_is_redeemed_once() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.turn("t");
    play.until(at(10));
    play.event(Event::WakeDelivered("s".into()));
    play.prompt("s", Prompt::Wake);
    let ticket = play.tickets("s")[0];

    let nested = Fact::SpawnRequested { tool_use: "n".into(), ticket: Some(ticket), caller: Caller::Subagent };
    assert_eq!(play.fact("s", nested), [Effect::Deny(Denial::Nested)]);
    let (_, effects) = play.redeem("t", ticket);
    assert_eq!(effects, [Effect::Deny(Denial::Foreign)]);
    let unknown = Fact::SpawnRequested { tool_use: "u".into(), ticket: None, caller: Caller::Main };
    assert_eq!(play.fact("s", unknown), [Effect::Deny(Denial::Unknown)]);

    let (call, effects) = play.redeem("s", ticket);
    assert_eq!(effects, [allow(ticket)]);
    let again = Fact::SpawnRequested { tool_use: call, ticket: Some(ticket), caller: Caller::Main };
    assert_eq!(play.fact("s", again), [allow(ticket)], "the very same call asks again");
    let (_, effects) = play.redeem("s", ticket);
    assert_eq!(effects, [Effect::Deny(Denial::Spent)]);
}

#[test]
fn a_failed_spawn_frees_its_ticket_once() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    let ticket = play.tickets("s")[0];
    for _ in 0..2 {
        let (tool_use, effects) = play.redeem("s", ticket);
        assert_eq!(effects, [allow(ticket)]);
        play.fact("s", Fact::SpawnFailed { tool_use, failure: SpawnFailure::Other });
    }
    let (_, effects) = play.redeem("s", ticket);
    assert_eq!(effects, [Effect::Deny(Denial::Failed)]);
}

#[test]
fn a_newer_ticket_takes_the_place_of_one_that_was_never_used() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    let old = play.tickets("s")[0];
    play.stop("s");
    play.until(at(20));
    play.turn("s");
    play.until(at(30));
    let (_, effects) = play.redeem("s", old);
    assert_eq!(effects, [Effect::Deny(Denial::Spent)]);
    let new = play.tickets("s")[0];
    let (_, effects) = play.redeem("s", new);
    assert_eq!(effects, [allow(new)]);
}

#[test]
fn a_spawn_that_nobody_was_asked_about_is_the_run_all_the_same() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    let ticket = play.tickets("s")[0];
    play.fact("s", Fact::ForkStarted("agent".into()));
    play.fact("s", Fact::SpawnStarted { tool_use: "call".into(), agent: "agent".into(), ticket: Some(Some(ticket)) });
    play.stop_with("s", &[("agent", TaskKind::Fork, "autofork: a")]);
    play.prompt("s", Prompt::Tasks(vec![notice(&"agent".into())]));
    play.stop("s");
    play.until(at(1_000));
    assert_eq!(play.woken.len(), 1, "its end is known for ours, so the pause goes on");
    let session = play.state.session(&"s".into()).unwrap();
    let end = session.tickets[0].run().unwrap().end.as_ref().unwrap();
    assert_eq!((end.outcome, end.usage.map(|usage| usage.tokens)), (Outcome::Completed, Some(100)));
}

#[test]
fn a_running_fork_is_known_by_its_description_where_nothing_else_was_told() {
    let mut play = Play::with(vec![fork("a", 10), fork("b", 10)]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    play.stop_with("s", &[("agent", TaskKind::Fork, "autofork: b")]);
    let session = play.state.session(&"s".into()).unwrap();
    let running: Vec<_> =
        session.tickets.iter().filter(|t| t.live_run(play.now).is_some()).map(|t| &t.fork).collect();
    assert_eq!(running, [&"b".into()]);
}

#[test]
fn the_user_s_own_fork_is_not_taken_for_ours() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    let ticket = play.tickets("s")[0];
    play.fact("s", Fact::ForkStarted("their-own".into()));
    let (tool_use, effects) = play.redeem("s", ticket);
    assert_eq!(effects, [allow(ticket)], "the ticket itself is better evidence");
    play.fact("s", Fact::SpawnStarted { tool_use: "theirs".into(), agent: "their-own".into(), ticket: None });
    play.fact("s", Fact::SpawnStarted { tool_use, agent: "ours".into(), ticket: Some(Some(ticket)) });
    let session = play.state.session(&"s".into()).unwrap();
    assert_eq!(session.tickets[0].run().unwrap().agent, Some("ours".into()));
}

#[test]
fn a_run_ends_once_whoever_says_so() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(12));
    play.fact("s", Fact::SubagentStopped { agent: agents[0].clone(), report: Some("first".into()) });
    play.until(at(13));
    play.prompt("s", Prompt::Tasks(vec![notice(&agents[0])]));
    play.stop("s");
    let session = play.state.session(&"s".into()).unwrap();
    let end = session.tickets[0].run().unwrap().end.as_ref().unwrap();
    assert_eq!((end.at, end.report.as_deref()), (at(12), Some("first")));
    assert_eq!(end.usage.map(|usage| usage.tokens), Some(100), "the notice fills in the cost");
}

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

#[test]
fn the_state_survives_being_written_and_read() {
    let mut play = Play::with(vec![throttled(tagged(fork("a", 10), &["t"]), 50), fork("b", 12)]);
    play.turn("s");
    play.until(at(10));
    play.obey("s");
    let text = serde_json::to_string(&play.state).unwrap();
    let read: State = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

fn after(fork: Fork, names: &[&str]) -> Fork {
    Fork { after: names.iter().map(|name| ForkName::from(*name)).collect(), ..fork }
}

fn tokens(tokens: u64) -> Moment {
    Moment::ContextTokens(tokens.try_into().unwrap())
}

fn gauge(play: &mut Play, tokens: u64) {
    play.event(Event::GaugeRead { session: "s".into(), tokens: Some(tokens), window: WindowSign::None });
}

#[test]
fn a_threshold_fires_at_the_stop_that_finds_it_reached_and_once_a_leg() {
    let fork = Fork { run_on: vec![tokens(1_000), tokens(2_000)], ..fork("full", 0) };
    let mut play = Play::with(vec![fork]);
    gauge(&mut play, 5);
    play.turn("s");
    assert_eq!(play.reasons("s", "full"), [Reason::GaugeUnknown], "read before the session was known");
    for (size, wakes) in [(999, 0), (1_000, 1), (1_500, 1), (2_000, 2), (900, 2), (3_000, 2)] {
        play.prompt("s", Prompt::Human);
        gauge(&mut play, size);
        play.stop("s");
        assert_eq!(play.woken.len(), wakes, "at {size}");
        if play.state.session(&"s".into()).unwrap().poll.is_none() {
            let agents = play.obey("s");
            play.finish("s", &agents[0]);
        }
    }
    assert_eq!(play.reasons("s", "full"), [1_000, 2_000].map(|size| Reason::ThresholdSpent(tokens(size))));

    let resume = Start { source: StartSource::Resume, tokens: Some(3_000), window: WindowSign::None };
    play.fact("s", Fact::Started(resume));
    play.turn("s");
    assert_eq!(play.woken.len(), 3, "a resume begins a fresh leg");
    let trigger = play.state.session(&"s".into()).unwrap().tickets.last().unwrap().trigger;
    assert_eq!(trigger, Trigger::Context { moment: tokens(1_000), tokens: 3_000 });
}

#[test]
fn a_spent_threshold_does_not_hide_idle_nor_the_other_way_round() {
    let mut both = fork("both", 10);
    both.run_on.push(tokens(1_000));
    let mut play = Play::with(vec![both]);
    play.prompt("s", Prompt::Human);
    gauge(&mut play, 1_000);
    play.stop("s");
    assert_eq!(play.woken.len(), 1, "the threshold");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(10));
    assert_eq!(play.woken.len(), 2, "and idle, in the same pause");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(1_000));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn a_threshold_below_the_gauge_says_by_how_much() {
    let mut play = Play::with(vec![Fork { run_on: vec![tokens(1_000)], ..fork("full", 0) }]);
    play.turn("s");
    gauge(&mut play, 400);
    assert_eq!(play.reasons("s", "full"), [Reason::BelowThreshold { tokens: 400, threshold: 1_000 }]);
}

#[test]
fn background_work_holds_the_clock_until_it_ends() {
    let mut play = Play::with(vec![fork("a", 10)]);
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[("build", TaskKind::Other, "cargo build")]);
    play.until(at(100));
    let until = at(0).after(Seconds::minutes(30));
    let held = Reason::HeldByTask { task: "build".into(), until: Some(until) };
    assert_eq!(play.reasons("s", "a"), [Reason::NotYetQuiet { until: until.after(seconds(10)) }, held]);
    // Its end is genuine activity, and begins a new pause.
    play.prompt("s", Prompt::Tasks(vec![notice(&"build".into())]));
    play.stop("s");
    play.until(at(110));
    assert_eq!(play.woken.len(), 1);
}

#[test]
fn background_work_holds_the_clock_for_so_long_at_the_most() {
    let config = Config { background_hold_timeout: seconds(60), ..debounced(0) };
    let mut play = Play::under(config, vec![fork("a", 10)]);
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[("server", TaskKind::Other, "npm run dev")]);
    play.until(at(70));
    assert_eq!(play.woken, [(at(70), "s".into(), vec!["a".to_owned()])], "while parked, by a timer of its own");
    // The same task has used up its time.
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[("server", TaskKind::Other, "npm run dev")]);
    play.until(at(80));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn each_piece_of_background_work_has_a_limit_of_its_own() {
    let config = Config { wake_debounce: Seconds::ZERO, background_hold_timeout: seconds(100), ..Config::default() };
    let mut play = Play::under(config, vec![fork("journal", 15)]);
    let task = |name| (name, TaskKind::Other, "");
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[task("old")]);
    play.until(at(60));
    play.prompt("s", Prompt::OtherHook);
    play.stop_with("s", &[task("old"), task("new")]);
    play.until(at(115));
    assert_eq!(play.names(), [[""; 0]; 0], "the newer work still holds");
    play.until(at(174));
    assert_eq!(play.names(), [[""; 0]; 0]);
    play.until(at(175));
    assert_eq!(play.names(), [["journal"]]);
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
fn background_work_can_hold_without_limit_or_not_at_all() {
    let config = Config { background_hold_timeout: Seconds::ZERO, ..debounced(0) };
    let mut play = Play::under(config, vec![fork("a", 10)]);
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[("server", TaskKind::Other, "")]);
    play.until(at(40_000));
    assert!(play.woken.is_empty());
    assert_eq!(play.reasons("s", "a"), [Reason::HeldByTask { task: "server".into(), until: None }]);

    let config = Config { background_hold: false, ..debounced(0) };
    let mut play = Play::under(config, vec![fork("a", 10)]);
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[("server", TaskKind::Other, "")]);
    play.until(at(10));
    assert_eq!(play.woken.len(), 1);
}

#[test]
fn background_work_does_not_hold_thresholds_and_our_forks_hold_nothing() {
    let mut play = Play::with(vec![Fork { run_on: vec![tokens(10)], ..fork("full", 0) }, fork("late", 20)]);
    play.prompt("s", Prompt::Human);
    gauge(&mut play, 10);
    play.stop_with("s", &[("build", TaskKind::Other, "")]);
    assert_eq!(play.names(), [["full"]]);
    play.obey("s");
    play.until(at(20));
    assert_eq!(play.names(), [["full"], ["late"]], "a live fork is no background work");
}

#[test]
fn a_chain_runs_in_order() {
    let forks = || vec![fork("a", 10), after(fork("b", 10), &["a"]), after(fork("c", 10), &["a", "b"])];
    let mut play = Play::with(forks());
    play.turn("s");
    play.until(at(10));
    assert_eq!(play.names(), [["a"]]);
    let waits = Reason::HeldBack { after: ["a".into()].into() };
    assert_eq!(play.reasons("s", "b"), [Reason::Latched, waits, Reason::NotParked]);
    let agents = play.obey("s");
    play.until(at(20));
    play.fact("s", Fact::SubagentStopped { agent: agents[0].clone(), report: Some("done".into()) });
    assert_eq!(play.names(), [["a"], ["b"]], "at once, since a hook is parked");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    assert_eq!(play.names(), [["a"], ["b"], ["c"]]);
    let session = play.state.session(&"s".into()).unwrap();
    let ticket = session.tickets.last().unwrap();
    let report = session.ticket_in_batch(ticket.batch, &"a".into()).and_then(Ticket::run).unwrap().end.clone();
    assert_eq!(report.unwrap().report.as_deref(), Some("done"), "the report is there for the dependent");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    play.until(at(5_000));
    assert_eq!(play.woken.len(), 3);
}

#[test]
fn a_predecessor_that_is_not_in_the_batch_is_no_edge() {
    let mut play = Play::with(vec![fork("a", 100), after(fork("b", 10), &["a", "nobody"])]);
    play.turn("s");
    play.until(at(10));
    assert_eq!(play.names(), [["b"]]);
}

#[test]
fn a_predecessor_that_was_never_spawned_does_not_block() {
    let mut play = Play::with(vec![fork("a", 10), after(fork("b", 10), &["a"])]);
    play.turn("s");
    play.until(at(10));
    play.event(Event::WakeDelivered("s".into()));
    play.prompt("s", Prompt::Wake);
    play.stop("s");
    assert_eq!(play.names(), [["a"], ["b"]], "absent by the Stop that ends the wake turn");
}

#[test]
fn a_turn_between_a_wake_and_its_own_turn_makes_nobody_absent() {
    let forks = || vec![fork("a", 10), after(fork("b", 10), &["a"]), after(fork("c", 10), &["b"])];
    let mut play = Play::with(forks());
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    // The end of a wakes b; the client takes the wake in, and tells the session of the end first.
    play.until(at(20));
    play.finish("s", &agents[0]);
    play.until(at(25));
    assert_eq!(play.names(), [["a"], ["b"]], "b has not had its turn yet");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    assert_eq!(play.names(), [["a"], ["b"], ["c"]]);

    // A wake that got through and that nothing comes of holds nobody for the whole pause.
    let mut play = Play::with(forks());
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(20));
    play.finish("s", &agents[0]);
    play.until(at(49));
    assert_eq!(play.names(), [["a"], ["b"]]);
    play.until(at(50));
    assert_eq!(play.names(), [["a"], ["b"], ["c"]]);
}

#[test]
fn a_wake_that_comes_in_the_middle_of_another_wake_s_turn_is_heard_in_it() {
    let forks = vec![fork("a", 10), after(fork("b", 10), &["a"]), fork("x", 25), after(fork("y", 25), &["x"])];
    let mut play = Play::with(forks);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(20));
    play.finish("s", &agents[0]);
    let of_b = play.tickets("s")[0];
    play.until(at(25));
    assert_eq!(play.names(), [["a"], ["b"], ["x"]]);
    play.event(Event::WakeDelivered("s".into()));
    play.prompt("s", Prompt::Wake);
    let mark = play.current_mark("s");
    play.fact("s", Fact::Prompt { mark: mark.clone(), prompt: Prompt::Wake, mode: None });
    let (_, effects) = play.redeem("s", of_b);
    assert!(matches!(effects.as_slice(), [Effect::Allow { .. }]), "{effects:?}");
    play.fact("s", Fact::Stopped { mark, kind: TurnKind::HookAsked, background: None, mode: None });
    play.park("s");
    assert_eq!(play.names(), [["a"], ["b"], ["x"], ["y"]], "x was asked for, and never spawned");
}

#[test]
fn a_predecessor_whose_spawn_failed_or_whose_end_was_lost_does_not_block() {
    let mut play = Play::with(vec![fork("a", 10), after(fork("b", 10), &["a"])]);
    play.turn("s");
    play.until(at(10));
    play.prompt("s", Prompt::Wake);
    let ticket = play.tickets("s")[0];
    for _ in 0..2 {
        let (tool_use, _) = play.redeem("s", ticket);
        play.fact("s", Fact::SpawnFailed { tool_use, failure: SpawnFailure::Other });
    }
    play.stop("s");
    assert_eq!(play.names(), [["a"], ["b"]]);

    let mut play = Play::with(vec![fork("a", 10), after(fork("b", 10), &["a"])]);
    play.turn("s");
    play.until(at(10));
    play.obey("s");
    play.until(at(10).after(RUN_AGES_OUT));
    assert_eq!(play.names(), [["a"], ["b"]], "no sign of it for half an hour");
}

#[test]
fn a_held_fork_does_not_outlive_its_pause_and_fires_with_the_next() {
    let chain = vec![throttled(fork("a", 10), 5), throttled(after(fork("b", 10), &["a"]), 5_000)];
    let mut play = Play::with(chain);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.until(at(15));
    play.prompt("s", Prompt::Human);
    play.stop_with("s", &[]);
    play.fact("s", Fact::SubagentStopped { agent: agents[0].clone(), report: None });
    play.until(at(24));
    assert_eq!(play.names(), [["a"]]);
    play.until(at(25));
    assert_eq!(play.names(), [["a"], ["a"]], "the whole chain again: b had its stamps back");
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    assert_eq!(play.names(), [["a"], ["a"], ["b"]]);
}

#[test]
fn a_tag_keeps_its_stamp_if_only_the_dependent_was_dropped() {
    let mut config = debounced(0);
    config.tag_throttles.insert("notes".into(), seconds(100));
    let first = tagged(fork("z", 10), &["notes"]);
    let second = tagged(after(fork("a", 10), &["z"]), &["notes"]);
    let mut play = Play::under(config, vec![first, second]);
    play.turn("s");
    play.until(at(10));
    assert_eq!(play.names(), [["z"]]);
    play.obey("s");
    play.turn("s");
    play.until(at(109));
    assert_eq!(play.names(), [["z"]], "z did run");
    play.until(at(110));
    assert_eq!(play.woken.len(), 2);
}

#[test]
fn a_cycle_loses_no_fork() {
    let mut play = Play::with(vec![after(fork("a", 10), &["b"]), after(fork("b", 10), &["a"])]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.finish("s", &agents[0]);
    assert_eq!(play.names(), [["a"], ["b"]]);
}

#[test]
fn a_held_fork_whose_file_is_gone_does_not_start() {
    let mut play = Play::with(vec![fork("a", 10), after(fork("b", 10), &["a"])]);
    play.turn("s");
    play.until(at(10));
    let agents = play.obey("s");
    play.edit(vec![fork("a", 10)]);
    play.finish("s", &agents[0]);
    play.until(at(1_000));
    assert_eq!(play.names(), [["a"]]);
}
