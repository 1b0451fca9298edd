//! The language server for fork files and configuration.
//!
//! One thread takes the client's messages in order and owns all state (`server`); answers are computed by a small
//! pool from snapshots of the compiler's database, and given up as soon as an edit makes them out of date. What is
//! wrong with a file is said by the compiler of the crate `autofork`, the same that `autofork check` asks; this crate
//! only translates. It reads files through that crate alone, and writes none: fixes and renames are edits that the
//! client makes.
//!
//! One file per request lies in `requests`.

mod capabilities;
mod client;
mod findings;
mod pool;
pub mod position;
mod requests;
mod server;
pub mod transport;
pub mod uri;
mod view;
mod world;

pub use server::{Ended, Options, serve};
