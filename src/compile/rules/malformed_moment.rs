//! `malformed-moment`

use super::unknown_moment::example;
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::syntax::yaml::{Entry, Layout, Node};
use crate::text::{Span, brief};

rule! {
    /// An item of `run_on` that is not one moment: two moments in one item, a list in the list, a mapping as a value, or
    /// a threshold without a value.
    ///
    /// Two moments in one item are read as two; the others are ignored.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle: 15m
    ///     context_used: 80%
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
    ///   - context_used: 80%
    /// ---
    /// Tidy.
    /// ```
    "malformed-moment", Warn, Moments, Some
}

/// A moment that is one too many in its item, which has these entries.
pub(crate) fn check_surplus(
    file: &ForkFile,
    moment: &Entry,
    (entries, layout): (&[Entry], Layout),
    out: &mut Findings,
) {
    let name = moment.key.scalar().map_or("", |scalar| scalar.text.as_str());
    let draft = out
        .report(&RULE, moment.key.place(), "one item holds two moments; it is read as two items")
        .label("a second moment")
        .help(format!("write `- {}` as an item of its own", brief(name)));
    // A key that stands twice could end up in two items, and have an effect both times.
    let Some(first) = entries.first().filter(|_| layout == Layout::Block && !super::duplicate_key::occurs(entries))
    else {
        return;
    };
    let before_first = before(file, first);
    let Some((indentation, blanks)) = before_first.split_once('-') else { return };
    let before = before(file, moment);
    if [indentation, blanks, before].iter().all(|blanks| blanks.bytes().all(|byte| byte == b' ')) {
        let start = moment.key.span.start();
        let place = Span::new(start - before.len(), start);
        draft.safe("make it an item of its own", place, format!("{indentation}- "));
    }
}

/// What stands before a moment on its line.
fn before<'a>(file: &'a ForkFile, moment: &Entry) -> &'a str {
    let start = moment.key.span.start();
    let line_start = file.text()[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    &file.text()[line_start..start]
}

/// A list, or an empty mapping, where a moment should be; or a key that is none.
pub(crate) fn check_list(item: &Node, out: &mut Findings) {
    out.report(&RULE, item.place(), format!("{} is no moment; it is ignored", item.kind()))
        .label("not a moment")
        .help("write each moment as an item of `run_on`, such as `- idle: 15m`");
}

/// A threshold without its value.
pub(crate) fn check_bare(item: &Node, name: &str, out: &mut Findings) {
    out.report(&RULE, item.place(), format!("`{name}` has no value; it is ignored"))
        .label("no value")
        .help(format!("write a value, such as `{name}: {}`", example(name)));
}

/// A value that is a list or a mapping.
pub(crate) fn check_value(value: &Node, name: &str, out: &mut Findings) {
    out.report(&RULE, value.place(), format!("the value of `{name}` is {}; the moment is ignored", value.kind()))
        .label("one value belongs here")
        .help(format!("write one value, such as `{name}: {}`", example(name)));
}

/// A threshold whose value is empty.
pub(crate) fn check_empty(place: crate::syntax::yaml::Place, name: &str, out: &mut Findings) {
    out.report(&RULE, place, format!("`{name}` has no value; it is ignored"))
        .label("no value")
        .help(format!("write a value, such as `{name}: {}`", example(name)));
}
