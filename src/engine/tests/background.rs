//! How background work holds the clock of a pause.

use super::{debounced, gauge, tokens};
use crate::engine::testing::{Play, at, fork, notice, seconds};
use crate::engine::*;
use crate::ir::{Config, Fork, Seconds};

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
