//! Thresholds of the context.

use super::{gauge, tokens};
use crate::engine::testing::{Play, at, fork};
use crate::engine::*;
use crate::ir::Fork;

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
