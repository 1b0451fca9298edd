//! `same-file`

use std::collections::BTreeMap;

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::text::{Span, brief};

rule! {
    /// Two forks that come due together and say that they write the same file.
    ///
    /// They run at the same time, and the later one may overwrite what the other wrote. With `after` one waits for the
    /// other. Understood are the verbs write, add, append, save, update, bring, put, record, create, log, note, store,
    /// edit, sort, tidy, rewrite, replace and extend before a path.
    ///
    /// Bad:
    /// ```markdown changes.md
    /// ---
    /// fork: true
    /// ---
    /// Write one line for each change to CHANGES.md.
    /// ```
    /// ```markdown summary.md
    /// ---
    /// fork: true
    /// ---
    /// Add a summary of the session to CHANGES.md.
    /// ```
    ///
    /// Good:
    /// ```markdown changes.md
    /// ---
    /// fork: true
    /// ---
    /// Write one line for each change to CHANGES.md.
    /// ```
    /// ```markdown summary.md
    /// ---
    /// fork: true
    /// after: [changes]
    /// ---
    /// Add a summary of the session to CHANGES.md.
    /// ```
    "same-file", Hint, Body, None
}

/// So many forks that write one file are each compared with all others; beyond, only with the first.
const MANY: usize = 20;

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    let mut writers: BTreeMap<&str, Vec<(usize, Span)>> = BTreeMap::new();
    for (index, member) in graph.members.iter().enumerate() {
        for (path, span) in &member.lowered.mentions.writes {
            let writers = writers.entry(path).or_default();
            if writers.last().is_none_or(|(last, _)| *last != index) {
                writers.push((index, *span));
            }
        }
    }
    for (path, writers) in writers {
        for (position, later) in writers.iter().enumerate() {
            let others = if writers.len() > MANY { &writers[..position.min(1)] } else { &writers[..position] };
            for earlier in others {
                check_pair(graph, path, *earlier, *later, out);
            }
        }
    }
}

fn check_pair(graph: &Graph<'_>, path: &str, earlier: (usize, Span), later: (usize, Span), out: &mut Findings) {
    if !graph.due_together(earlier.0, later.0) || graph.ordered(earlier.0, later.0) {
        return;
    }
    let (other, member) = (&graph.members[earlier.0], &graph.members[later.0]);
    let name = brief(other.file.name.as_str()).into_owned();
    let message = format!("`{name}` comes due together with this fork and writes `{}` too", brief(path));
    out.in_file(member.path())
        .report(&RULE, later.1, message)
        .label("written here")
        .also_in(other.path().clone(), earlier.1, "and here")
        .help(format!("order them: `after: [{}]`", crate::compile::lower::spell(other.file.name.as_str())));
}
