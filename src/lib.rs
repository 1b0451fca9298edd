//! autofork: background thoughts for coding-agent sessions.
//!
//! The map of the house, one line per room, in the order of the layers: a room uses those above it, never below.
//! `tests/layers` reads the `use` lines and fails on an edge that goes the wrong way.

pub mod platform;
pub mod text;

pub mod diagnostic;
pub mod ir;

pub mod syntax;

pub mod compile;

pub mod db;
pub mod format;
pub mod project;

pub mod engine;

// What needs a daemon, and so Unix: without this feature there is the compiler alone, on every system.
#[cfg(feature = "daemon")]
pub mod host;
#[cfg(feature = "daemon")]
pub mod journal;
#[cfg(feature = "daemon")]
pub mod sim;

#[cfg(feature = "daemon")]
pub mod daemon;

pub mod cli;

#[cfg(all(feature = "daemon", not(unix)))]
compile_error!(
    "the daemon needs Unix; for the compiler and the language server alone, build with --no-default-features"
);
