//! `self-dependency`

use super::ignored_key::lines_of;
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::ir::ForkName;
use crate::syntax::yaml::{Entry, Layout, Node, Place, Value};
use crate::text::Span;

rule! {
    /// A fork that names itself in `after`.
    ///
    /// No fork can wait for its own end; the name is left out.
    ///
    /// Bad:
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// after: [report]
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    ///
    /// Good:
    /// ```markdown report.md
    /// ---
    /// fork: true
    /// ---
    /// Write the report to REPORT.md.
    /// ```
    "self-dependency", Warn, After, Some
}

/// Looks for the fork's own name among the names of its `after`.
pub(crate) fn check(file: &ForkFile, entry: &Entry, names: &[(ForkName, Place)], out: &mut Findings) {
    for (_, place) in names.iter().filter(|(name, _)| *name == file.name) {
        let draft = out
            .report(&RULE, *place, "a fork cannot wait for itself; this name is ignored")
            .label("this fork's own name")
            .help("remove it");
        let cut = match &entry.value.value {
            Value::List(items, Layout::Flow) if items.len() > 1 => cut_out(items, place.span),
            Value::List(items, Layout::Block) if items.len() > 1 => None,
            // Without this key, one that has no effect because of it would get one.
            _ if names.len() == 1 && !super::duplicate_key::occurs(file.entries()) => lines_of(file, entry),
            _ => None,
        };
        if let Some(cut) = cut {
            draft.safe("remove the name", cut, "");
        }
    }
}

/// An item of a flow list with the comma before or after it.
fn cut_out(items: &[Node], item: Span) -> Option<Span> {
    let index = items.iter().position(|node| node.span == item && node.alias.is_none())?;
    match items.get(index + 1) {
        Some(next) => Some(Span::new(item.start(), next.span.start())),
        None => Some(Span::new(items[index - 1].span.end(), item.end())),
    }
}
