//! The typed program: what fork files and configuration mean, once compiled.
//!
//! Plain data with no behaviour beyond its own invariants: no spans, no I/O, no clock. `compile` makes it, `engine`
//! schedules from it, every command and the language server print it. It is serialised in the journal and as
//! `autofork compile`, so a change of a field's name is a change of a file format.

mod config;
mod fork;
mod lossy;
mod moment;
mod name;
mod program;
mod time;

pub use config::Config;
pub use fork::{Body, Fork, Overlap};
pub use moment::{Moment, Percent, TokenCount};
pub(crate) use name::text_name;
pub use name::{ForkName, LaunchDir, ProjectRoot, Tag};
pub use program::{Program, Programs};
pub use time::{Seconds, Time};
