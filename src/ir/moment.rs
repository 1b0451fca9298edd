//! The moments at which a fork comes due.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::Seconds;

/// A moment at which a fork comes due: one entry of its `run_on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// The session has been quiet for so long; `None` is bare `idle`, quiet for the configured default.
    Idle(Option<Seconds>),
    /// The context holds at least so many tokens.
    ContextTokens(TokenCount),
    /// At least so much of the context window is used.
    ContextUsed(Percent),
    /// At most so many tokens of the context window are left.
    ContextLeft(TokenCount),
}

/// A whole percentage from 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Percent(u8);

impl Percent {
    /// `percent` per cent, or `None` outside 1 to 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The number, 1 to 100.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Percent {
    type Error = String;

    fn try_from(percent: u8) -> Result<Self, Self::Error> {
        Self::new(percent).ok_or_else(|| format!("{percent} is not a percentage from 1 to 100"))
    }
}

impl From<Percent> for u8 {
    fn from(percent: Percent) -> Self {
        percent.0
    }
}

/// A positive number of tokens.
pub type TokenCount = NonZeroU64;

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Idle(None) => f.write_str("idle"),
            Self::Idle(Some(length)) => write!(f, "idle: {length}"),
            Self::ContextTokens(tokens) => write!(f, "context_tokens: {tokens}"),
            Self::ContextUsed(percent) => write!(f, "context_used: {}%", percent.get()),
            Self::ContextLeft(tokens) => write!(f, "context_left: {tokens}"),
        }
    }
}
