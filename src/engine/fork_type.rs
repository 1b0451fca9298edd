//! Whether a session's client can spawn forks at all, as far as it has shown.
//!
//! Clients know forks in three ways: by the subagent type `fork`, only as a spawn without any type, or not at all. No
//! event tells which; a spawn that fails does.

use serde::{Deserialize, Serialize};

/// What a session's client has shown of the subagent type `fork`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkType {
    /// Nothing that speaks against it.
    #[default]
    Unquestioned,
    /// It did not know the type: the next spawn may be put in another way.
    Doubted,
    /// It did not know the type, and trying once more did not help: the session is not woken any more.
    Missing,
}

impl ForkType {
    /// A spawn has failed since the client does not know the type.
    pub(super) fn doubt(&mut self) {
        if *self == Self::Unquestioned {
            *self = Self::Doubted;
        }
    }

    /// A fork runs, however it came about. How to put the spawn is still to be told by the next one that fails.
    pub(super) fn seen(&mut self) {
        if *self == Self::Missing {
            *self = Self::Unquestioned;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Play, allow, at, fork};
    use super::super::*;
    use crate::ir::ForkName;

    /// The model makes the call for the session's first open ticket, and the client says that there is no such type.
    fn fails(play: &mut Play) -> Vec<Effect> {
        let ticket = play.tickets("s")[0];
        let (tool_use, effects) = play.redeem("s", ticket);
        play.fact("s", Fact::SpawnFailed { tool_use, failure: SpawnFailure::ForkTypeMissing });
        effects
    }

    fn woken(forks: Vec<Fork>) -> Play {
        let mut play = Play::with(forks);
        play.turn("s");
        play.until(at(10));
        play.prompt("s", Prompt::Wake);
        play
    }

    fn after(name: &str, predecessor: &str) -> Fork {
        Fork { after: vec![ForkName::from(predecessor)], ..fork(name, 10) }
    }

    #[test]
    fn a_client_without_the_type_is_asked_twice_and_then_left_alone() {
        let mut play = woken(vec![fork("a", 10)]);
        let ticket = play.tickets("s")[0];
        assert_eq!(fails(&mut play), [allow(ticket)]);
        assert_eq!(play.reasons("s", "a"), [Reason::Latched, Reason::MidTurn]);
        let doubted = Effect::Allow { ticket, fork_type: ForkType::Doubted };
        assert_eq!(fails(&mut play), [doubted], "the other form may be tried");

        let (_, effects) = play.redeem("s", ticket);
        assert_eq!(effects, [Effect::Deny(Denial::Failed)]);
        play.stop("s");
        play.turn("s");
        play.until(at(10_000));
        assert_eq!(play.woken.len(), 1, "no further pause asks again");
        assert_eq!(play.reasons("s", "a"), [Reason::ForkTypeMissing]);
    }

    #[test]
    fn where_the_other_form_works_it_is_used_from_then_on() {
        let mut play = woken(vec![fork("a", 10)]);
        fails(&mut play);
        let ticket = play.tickets("s")[0];
        let (tool_use, _) = play.redeem("s", ticket);
        play.fact("s", Fact::ForkStarted("agent".into()));
        play.fact("s", Fact::SpawnStarted { tool_use, agent: "agent".into(), ticket: Some(Some(ticket)) });
        play.stop("s");
        play.finish("s", &"agent".into());
        play.until(at(1_000));
        assert_eq!(play.woken.len(), 1);

        play.turn("s");
        play.until(at(1_010));
        play.prompt("s", Prompt::Wake);
        let ticket = play.tickets("s")[0];
        let (_, effects) = play.redeem("s", ticket);
        assert_eq!(effects, [Effect::Allow { ticket, fork_type: ForkType::Doubted }]);
    }

    #[test]
    fn what_waited_for_a_fork_that_cannot_be_spawned_is_not_asked_for() {
        let mut play = woken(vec![fork("a", 10), after("b", "a")]);
        fails(&mut play);
        fails(&mut play);
        play.stop("s");
        play.until(at(10_000));
        assert_eq!(play.names(), [["a"]]);
        assert_eq!(play.state.session(&"s".into()).unwrap().held, []);
    }

    #[test]
    fn a_new_process_or_a_fork_that_runs_after_all_ends_it() {
        let mut play = woken(vec![fork("a", 10)]);
        fails(&mut play);
        fails(&mut play);
        play.fact("s", Fact::ForkStarted("of-the-user".into()));
        play.stop("s");
        assert_eq!(play.reasons("s", "a"), [Reason::Latched], "once a pause is once");
        play.turn("s");
        play.until(at(20));
        play.prompt("s", Prompt::Wake);
        fails(&mut play);
        fails(&mut play);
        play.fact("s", Fact::Started(StartSource::Resume.into()));
        play.turn("s");
        assert_eq!(play.reasons("s", "a"), [Reason::NotYetQuiet { until: at(30) }]);
    }
}
