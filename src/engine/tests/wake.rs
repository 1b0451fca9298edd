//! Wakes that do not get through.

use crate::engine::testing::{Play, at, fork, tagged, throttled};
use crate::engine::*;

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
fn the_state_survives_being_written_and_read() {
    let mut play = Play::with(vec![throttled(tagged(fork("a", 10), &["t"]), 50), fork("b", 12)]);
    play.turn("s");
    play.until(at(10));
    play.obey("s");
    let text = serde_json::to_string(&play.state).unwrap();
    let read: State = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}
