//! Scenarios: a session's day written down, played by the real compiler and the real engine on a virtual clock.
//!
//! [`Scenario::parse`] reads the file, [`play()`] plays it, and [`replay()`] plays a real session from its journal. Both
//! give a [`Timeline`]. Nothing here touches a disk or a clock: forks come from the file or from a folder that the
//! caller has read. The format is described in `docs/simulate.md`.

mod client;
mod expect;
mod file;
mod play;
mod replay;
mod timeline;

pub use expect::{Expectation, Unmet};
pub use file::{Fault, Scenario};
pub use play::{Played, Texts, play};
pub use replay::replay;
pub use timeline::{Change, Line, Timeline, What};
