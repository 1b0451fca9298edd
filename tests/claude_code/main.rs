//! The real client, in a terminal, against a mock API: what no other test can know about autofork.
//!
//! Each scenario takes half a minute or more of real time, since the client's clock is the machine's. Without the
//! client (`sh tests/claude_code/install`) every scenario skips itself and says so on the terminal.
#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is the failure")]

#[path = "../support/mod.rs"]
mod support;

mod batches;
mod context;
mod disobedience;
mod fallback;
mod firing;
mod guards;
mod harness;
mod life;
mod marketplace;
mod matrix;
mod outages;
mod plugin;
mod scene;
mod standing;
