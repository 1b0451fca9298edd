//! The daemon from outside: the real binary, its real socket, real hook processes. Each test has a stage of its own,
//! which ends its processes by their ids and removes its files, also when the test fails.

// The helpers of tests may fail as loudly as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod commands;
mod crash;
mod hooks;
mod life;
mod load;
mod seat;
mod support;
mod upgrade;
mod wire;
