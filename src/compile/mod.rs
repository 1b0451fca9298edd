//! From syntax trees to the typed program, with diagnostics.
//!
//! Compiling never fails. Where a value is bad its default stands in for it, and a rule says so; a file that cannot be
//! read is a broken fork and every other file goes on. No I/O in here: texts come in, values go out.

mod body;
mod config;
mod file;
mod findings;
mod graph;
mod input;
mod keys;
mod lower;
mod near;
mod places;
mod program;
pub mod rules;
pub mod schema;
mod suppress;

use std::path::Path;
use std::sync::Arc;

pub use config::{ConfigLayer, Layer, Merged, Origin, merge};
pub use file::{FileKind, ForkFile, Lookalike};
pub use input::{Contents, MAX_BYTES};
pub use lower::{fork_name, spell};
pub use near::nearest;
pub use places::WrittenMoment;
pub use program::{Linked, Linking, Listed, Placed, Purpose, State, link};

use crate::diagnostic::Diagnostic;
use crate::ir::ForkName;

/// A fork file compiled by itself, and what was found in it.
#[derive(Debug)]
pub struct CompiledFile {
    /// What it is and comes to.
    pub file: ForkFile,
    /// What was found in it alone, in the order of its places.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompiledFile {
    /// Whether nothing but what others never see differs from another form of the same file: the words of its body.
    /// What they say about files and agents is seen, and so is everything up to the closing fence.
    pub fn looks_like(&self, other: &Self) -> bool {
        self.file.looks_like(&other.file) && self.diagnostics == other.diagnostics
    }
}

/// Compiles the file that goes by `name` by itself.
pub fn fork_file(name: &ForkName, path: &Arc<Path>, contents: &Contents) -> CompiledFile {
    let (file, diagnostics) = file::compile(name, path, contents);
    CompiledFile { file, diagnostics }
}

/// A configuration file compiled by itself.
#[derive(Debug)]
pub struct CompiledConfig {
    /// Its values with their places.
    pub layer: ConfigLayer,
    /// What was found in it alone, in the order of its places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles a `config.toml` by itself.
pub fn config_file(layer: Layer, path: &Arc<Path>, contents: &Contents) -> CompiledConfig {
    let (layer, diagnostics) = config::compile(layer, path, contents);
    CompiledConfig { layer, diagnostics }
}

/// Something about a folder that is worth a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderFault {
    /// It is nested too deep to be looked into.
    TooDeep,
    /// It, or a link in its place, cannot be read, for this reason.
    Unreadable(String),
    /// It belongs to another user.
    Foreign,
    /// It is a link to a folder that its root lies in.
    Circle,
    /// It is not looked into, because there are more files and folders than this below its root.
    TooMuch(usize),
}

/// What to say about a folder.
pub fn folder(path: &Arc<Path>, fault: &FolderFault) -> Vec<Diagnostic> {
    let mut out = findings::Findings::new(path.clone());
    match fault {
        FolderFault::TooDeep => rules::too_deep::check(&mut out),
        FolderFault::Unreadable(reason) => rules::unreadable::check_folder(reason, &mut out),
        FolderFault::Foreign => rules::unreadable::check_foreign(&mut out),
        FolderFault::Circle => rules::unreadable::check_circle(&mut out),
        FolderFault::TooMuch(entries) => rules::unreadable::check_too_much(*entries, &mut out),
    }
    out.into_sorted()
}
