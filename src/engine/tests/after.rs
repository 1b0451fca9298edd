//! Forks that run one after the other.

use super::{after, debounced};
use crate::engine::testing::{Play, at, fork, seconds, tagged, throttled};
use crate::engine::*;

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
