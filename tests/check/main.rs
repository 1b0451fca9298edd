//! What people see of `check`, `forks` and `explain`.
//!
//! Each story runs the program in a project of its own. Snapshots are what somebody at a terminal reads.

#[path = "../support/program.rs"]
mod program;

mod bad_input;
mod by_hand;
mod commands;
mod doctor;
mod formatting;
mod output;
mod reports;
