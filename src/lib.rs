//! autofork: background thoughts for coding-agent sessions.
//!
//! The map of the house, one line per room, in the order of the layers: a room uses those above it, never below.
//! `tests/layers` reads the `use` lines and fails on an edge that goes the wrong way.

pub mod text;

pub mod diagnostic;
pub mod ir;

pub mod syntax;

pub mod compile;

pub mod db;
pub mod format;
pub mod project;

pub mod engine;

pub mod host;
pub mod journal;
pub mod sim;

pub mod daemon;

pub mod cli;
