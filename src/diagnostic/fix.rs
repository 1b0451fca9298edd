//! Fixes: edits that mend what a diagnostic found.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Diagnostic;
use crate::text::{Sources, Span};

/// Whether a fix may be made without a person looking at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Applicability {
    /// It says the same as before, only rightly: what a file that works compiles to does not change.
    Safe,
    /// It is what was probably meant, but a guess.
    Unsafe,
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: Arc<Path>,
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// Edits that belong together: all are made or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Whether it may be made unseen.
    pub applicability: Applicability,
    /// What it does, as an order: "write `30m`".
    pub message: String,
    /// The edits, in the order of their places.
    pub edits: Vec<Edit>,
}

/// Fixes make room for other fixes, but not for ever: so many rounds of [`apply`] are enough.
pub const ROUNDS: usize = 10;

/// The files that the diagnostics' fixes change, with their new texts, and how many fixes were made. Of fixes that touch
/// the same words only the first is made; another round finds out whether the others are still wanted.
pub fn apply(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    at_most: Applicability,
) -> (Vec<(Arc<Path>, String)>, usize) {
    let mut by_file: BTreeMap<&Arc<Path>, Vec<&Edit>> = BTreeMap::new();
    let mut made = 0;
    let fixes = diagnostics.iter().filter_map(|found| found.fix.as_ref());
    for fix in fixes.filter(|fix| fix.applicability <= at_most) {
        let free =
            |edit: &Edit| by_file.get(&edit.path).is_none_or(|taken| !taken.iter().any(|other| clash(other, edit)));
        if fix.edits.iter().all(free) {
            made += 1;
            for edit in &fix.edits {
                by_file.entry(&edit.path).or_default().push(edit);
            }
        }
    }
    let mut changed = Vec::new();
    for (path, mut edits) in by_file {
        let Some(source) = sources.get(path) else { continue };
        edits.sort_by_key(|edit| edit.span);
        changed.push((path.clone(), edited(source.text(), &edits)));
    }
    (changed, made)
}

/// Whether two edits touch the same words. Two that insert at one place do: their order is not known.
fn clash(left: &Edit, right: &Edit) -> bool {
    let (left, right) = (left.span, right.span);
    left == right || (left.start < right.end && right.start < left.end)
}

fn edited(text: &str, edits: &[&Edit]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        result.push_str(text.get(at..edit.span.start()).unwrap_or(""));
        result.push_str(&edit.text);
        at = edit.span.end();
    }
    result.push_str(text.get(at..).unwrap_or(""));
    result
}
