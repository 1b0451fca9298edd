//! `comment-cuts-value`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::lower::quote;
use crate::syntax::suppression;
use crate::syntax::yaml::{Node, Style, Value};
use crate::text::Span;

rule! {
    /// A `#` in an unquoted text that makes a comment of the rest.
    ///
    /// In YAML a hash sign after a blank starts a comment. In a description, or where the hash sign is followed by a word
    /// as in `#12`, it was probably meant as text.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: Look again at issue #12
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: "Look again at issue #12"
    /// ---
    /// Tidy.
    /// ```
    "comment-cuts-value", Hint, Yaml, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.yaml().comments.is_empty() {
        return;
    }
    for entry in file.entries() {
        let is_description = entry.key.scalar().is_some_and(|key| key.text == "description");
        check_node(file, &entry.value, is_description, out);
    }
}

fn check_node(file: &ForkFile, node: &Node, is_description: bool, out: &mut Findings) {
    match &node.value {
        _ if node.alias.is_some() => {}
        Value::Scalar(scalar) if scalar.style == Style::Plain && !node.span.is_empty() => {
            check_scalar(file, node.span, is_description, out);
        }
        Value::Scalar(_) => {}
        Value::List(items, _) => items.iter().for_each(|item| check_node(file, item, is_description, out)),
        Value::Map(entries, _) => entries.iter().for_each(|entry| check_node(file, &entry.value, is_description, out)),
    }
}

fn check_scalar(file: &ForkFile, value: Span, is_description: bool, out: &mut Findings) {
    let comments = &file.yaml().comments;
    let next = comments.partition_point(|comment| comment.start < value.end);
    let Some(comment) = comments.get(next) else { return };
    let between = &file.text()[value.end()..comment.start()];
    let words = file.words(*comment);
    let glued = words[1..].starts_with(|c: char| !c.is_whitespace());
    if !between.bytes().all(|byte| byte == b' ' || byte == b'\t') || suppression::parse(words).is_some() {
        return;
    }
    if is_description || glued {
        let whole = Span::new(value.start(), comment.end());
        out.report(&RULE, Span::new(comment.start(), comment.start() + 1), "a hash sign after a blank starts a comment; the text ends before it")
            .label("a comment from here on")
            .help("put the whole text in quotes if the rest belongs to it")
            .guess("put the whole text in quotes", whole, quote(file.words(whole).trim_end()));
    }
}
