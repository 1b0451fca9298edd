//! The daemon from outside: the real binary, its real socket, real hook processes. Each test has a stage of its own,
//! which ends its processes by their ids and removes its files, also when the test fails.
//!
//! Faults that must never come back have a list in `never_again.rs`; what happens to sessions in each kind of trouble is
//! in `troubles.rs`, `crash.rs` and `seat.rs`.

// The helpers of tests may fail as loudly as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod commands;
mod crash;
mod hooks;
mod life;
mod load;
mod never_again;
mod seat;
mod strangers;
mod support;
mod troubles;
mod upgrade;
mod wire;
