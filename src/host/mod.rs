//! The edge to coding agents: the protocol between hooks and daemon, and one adapter per client.
//!
//! An adapter only translates: a client's payloads into facts, the daemon's replies into what the client understands.
//! What to do about a fact is the engine's affair; how a wake is worded is the adapter's. Beside them what every
//! client's hooks need: where things are, who is alive, and how to reach the daemon.

pub mod claude_code;
pub mod client;
pub mod dirs;
pub mod files;
pub mod holder;
pub mod launch;
pub mod process;
pub mod protocol;
