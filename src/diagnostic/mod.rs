//! Diagnostics: what was found in a file, as data, and one renderer file per output format.
//!
//! The model knows no rule and no file system. Rules are defined by `compile`, texts come in as
//! [`Sources`](crate::text::Sources); a renderer turns both into one output and decides nothing.

pub mod concise;
mod fingerprint;
mod fix;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
mod model;
mod report;
mod rule;
pub mod sarif;

pub use fix::{Applicability, Edit, Fix, ROUNDS, apply};
pub use model::{Diagnostic, Label};
pub use report::{Report, Summary};
pub use rule::{Category, Fixes, Level, Rule};
