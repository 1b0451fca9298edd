//! When a session is quiet, and who is woken then.

use super::debounced;
use crate::engine::testing::{Play, at, fork, notice, throttled};
use crate::engine::*;
use crate::ir::{Config, Fork, Moment, Seconds};

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
fn what_a_fork_has_left_running_does_not_have_it_fire_again() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(15));
    let agents = play.obey("s");
    play.prompt("s", Prompt::Tasks(vec![notice(&agents[0])]));
    play.stop_with("s", &[("left", TaskKind::Other, "a server")]);
    play.prompt("s", Prompt::Tasks(vec![notice(&"left".into())]));
    play.stop("s");
    play.until(at(10_000));
    assert_eq!(play.woken.len(), 1);
}

#[test]
fn a_notice_that_names_nothing_begins_no_pause() {
    let mut play = Play::with(vec![fork("journal", 15)]);
    play.turn("s");
    play.until(at(15));
    play.obey("s");
    play.prompt("s", Prompt::Tasks(vec![TaskNotice { task: None, ..notice(&"x".into()) }]));
    play.stop("s");
    play.until(at(10_000));
    assert_eq!(play.woken.len(), 1, "most likely it was the report, in words of tomorrow");
}
