//! `moment-not-listed`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::diagnostic::Applicability;
use crate::syntax::yaml::{Entry, Layout, Value};
use crate::text::Span;

rule! {
    /// A `run_on` that is one moment, or a mapping of moments, instead of a list.
    ///
    /// We read it as a list, but other readers of the fork format do not.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   idle: 15m
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    /// ---
    /// Tidy.
    /// ```
    "moment-not-listed", Hint, Moments, Some
}

pub(crate) fn check(file: &ForkFile, entry: &Entry, out: &mut Findings) {
    let value = &entry.value;
    let draft = out
        .report(&RULE, value.place(), "`run_on` is a list; this is read as one here, but not everywhere")
        .label("not in a list")
        .help("write `- ` before each moment");
    if matches!(&value.value, Value::Map(entries, _) if super::duplicate_key::occurs(entries)) {
        return;
    }
    let words = file.words(value.span);
    let edits = match &value.value {
        Value::Scalar(_) if !words.contains(['\n', '\r']) => vec![(value.span, format!("[{words}]"))],
        Value::Map(_, Layout::Flow) if !words.contains(['\n', '\r']) && words.starts_with('{') => {
            vec![(value.span, format!("[{}]", words[1..words.len() - 1].trim()))]
        }
        Value::Map(entries, Layout::Block) if entries.iter().all(|moment| is_on_one_line(file, moment)) => {
            entries.iter().map(|moment| (Span::at(moment.key.span.start()), "- ".to_owned())).collect()
        }
        _ => return,
    };
    draft.fix(Applicability::Safe, "write a list", edits);
}

/// A moment on one line, with nothing before it, can be pushed to the right without leaving its value behind.
fn is_on_one_line(file: &ForkFile, moment: &Entry) -> bool {
    let start = moment.key.span.start();
    let line_start = file.text()[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    if !file.text()[line_start..start].bytes().all(|byte| byte == b' ') {
        return false;
    }
    !file.words(moment.key.span.to(moment.value.span)).contains(['\n', '\r'])
}
