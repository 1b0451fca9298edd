//! Tickets, and the runs that they become.

use crate::engine::testing::{Play, allow, at, fork, notice};
use crate::engine::*;

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
