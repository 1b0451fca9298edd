//! The server as its clients see it: through the protocol, over the connection in memory and as the real binary.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values")]

mod client;
mod disk;

mod actions;
mod cases;
mod completion;
mod diagnostics;
mod display;
mod lifecycle;
mod meaning;
mod navigation;
mod offers;
mod renames;
mod robustness;
mod taken;
