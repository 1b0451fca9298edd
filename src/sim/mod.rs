//! Playing a host: a stage with real processes, and a client that behaves on it as Claude Code does.
//!
//! Used by `autofork demo` and by the tests of the daemon. Only the client and its model are played here; hooks and
//! daemon are this program's own processes over the real socket.

mod client;
#[cfg(test)]
mod faults;
pub mod scenario;
mod stage;

pub use client::{AgentCall, FakeClient, Finished, HookAsked, StopHook};
pub use stage::{Player, Stage, StageError};
