//! The adapter for Claude Code: hook payloads into facts, the daemon's replies into what the client understands.
//!
//! Input comes from the client's hooks (one JSON object on standard input, some environment variables) and is hostile
//! until checked; anything that cannot be made sense of is no fact, never an error. What is said here of the client's
//! behaviour was observed with version 2.1.332 and some older ones, from 2.1.117 on.

mod by_hand;
mod directive;
mod notification;
mod payload;
mod transcript;
mod wake_text;

#[cfg(test)]
mod tests;

pub use by_hand::{ByHand, spawn_text};
pub use directive::{allow, deny};
pub use payload::{Call, ForkSwitch, HookEnv, translate};
pub use transcript::{Reading, Transcript};
pub use wake_text::{FORKS_NEED, MARKER, wake_text};
