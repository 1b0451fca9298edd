//! The gauge: how much of the context window a conversation uses.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::id::Conversation;
use crate::ir::{Moment, Time};

/// The context window of most models, in tokens.
const WINDOW: u64 = 200_000;

/// The context window of the models that have a large one, in tokens.
const LARGE_WINDOW: u64 = 1_000_000;

/// How many tokens the context holds, and when that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge {
    /// Tokens in the context.
    pub tokens: u64,
    /// When it was read.
    pub at: Time,
}

/// Which conversations have a large context window. A conversation that has shown one keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Windows {
    large: BTreeSet<Conversation>,
}

impl Windows {
    /// The size of the conversation's context window, in tokens.
    pub(super) fn size(&self, conversation: &Conversation) -> u64 {
        if self.large.contains(conversation) { LARGE_WINDOW } else { WINDOW }
    }

    /// Takes in what was read of a conversation.
    pub(super) fn observe(&mut self, conversation: &Conversation, tokens: Option<u64>, window: WindowSign) {
        if window == WindowSign::Large || tokens.is_some_and(|tokens| tokens > WINDOW) {
            self.large.insert(conversation.clone());
        }
    }
}

/// What a model's id says about its context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSign {
    /// Nothing.
    None,
    /// That it is large.
    Large,
}

/// How many tokens the context must hold for a threshold to be reached; `None` for a moment that is no threshold.
pub(super) fn threshold(moment: Moment, window: u64) -> Option<u64> {
    match moment {
        Moment::Idle(_) => None,
        Moment::ContextTokens(tokens) => Some(tokens.get()),
        // Rounded up: a percentage is reached, not nearly reached.
        Moment::ContextUsed(percent) => Some((window * u64::from(percent.get())).div_ceil(100)),
        Moment::ContextLeft(tokens) => Some(window.saturating_sub(tokens.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Percent, TokenCount};

    #[test]
    fn a_threshold_is_crossed_when_it_is_reached() {
        let tokens = |tokens| TokenCount::new(tokens).unwrap();
        assert_eq!(threshold(Moment::ContextTokens(tokens(50_000)), WINDOW), Some(50_000));
        assert_eq!(threshold(Moment::ContextUsed(Percent::new(25).unwrap()), WINDOW), Some(50_000));
        assert_eq!(threshold(Moment::ContextLeft(tokens(150_000)), WINDOW), Some(50_000));
        assert_eq!(threshold(Moment::ContextLeft(tokens(300_000)), WINDOW), Some(0));
        assert_eq!(threshold(Moment::ContextUsed(Percent::new(1).unwrap()), 150), Some(2));
        assert_eq!(threshold(Moment::Idle(None), WINDOW), None);
    }

    #[test]
    fn a_large_window_is_kept() {
        let mut windows = Windows::default();
        let conversation = Conversation::from("c");
        windows.observe(&conversation, Some(200_000), WindowSign::None);
        assert_eq!(windows.size(&conversation), WINDOW);
        windows.observe(&conversation, Some(200_001), WindowSign::None);
        windows.observe(&conversation, Some(10), WindowSign::None);
        assert_eq!(windows.size(&conversation), LARGE_WINDOW);
    }
}
