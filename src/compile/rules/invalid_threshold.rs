//! `invalid-threshold`

use super::{invisible_character, malformed_moment, percent_sign};
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::ir::{Moment, Percent};
use crate::syntax::moment::{self, PercentText};
use crate::syntax::yaml::{Entry, Node, Place, Plain, Style};
use crate::text::brief;

rule! {
    /// A threshold of the context that is no whole percentage from 1 to 100, or no positive number of tokens in plain
    /// digits.
    ///
    /// The moment is ignored; if no other is left, the fork never fires.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    ///   - context_tokens: 150k
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    ///   - context_tokens: 150000
    /// ---
    /// Tidy.
    /// ```
    "invalid-threshold", Warn, Moments, Some
}

/// The moment that a threshold stands for; none if its value is bad.
pub(crate) fn check(file: &ForkFile, name: &str, pair: &Entry, item: Place, out: &mut Findings) -> Option<Moment> {
    let value = &pair.value;
    let Some(scalar) = value.scalar() else {
        malformed_moment::check_value(value, name, out);
        return None;
    };
    if scalar.plain() == Plain::Null {
        malformed_moment::check_empty(item, name, out);
        return None;
    }
    if invisible_character::check_words(file, value, "threshold", "the moment is ignored", out) {
        return None;
    }
    let found = if name == "context_used" {
        percent(value, &scalar.text, out).map(Moment::ContextUsed)
    } else {
        let tokens = moment::tokens(&scalar.text);
        if name == "context_tokens" { tokens.map(Moment::ContextTokens) } else { tokens.map(Moment::ContextLeft) }
    };
    if found.is_none() {
        report(file, name, value, &scalar.text, out);
    }
    found
}

fn percent(value: &Node, text: &str, out: &mut Findings) -> Option<Percent> {
    match moment::percent(text)? {
        PercentText::Signed(percent) => Some(percent),
        PercentText::Bare(percent) => {
            percent_sign::check(value, percent, out);
            Some(percent)
        }
    }
}

fn report(file: &ForkFile, name: &str, value: &Node, text: &str, out: &mut Findings) {
    let shown = brief(text);
    let (message, label, help) = if name == "context_used" {
        (
            format!("`{shown}` is no percentage; the moment is ignored"),
            "1% to 100%",
            "write a whole number from 1 to 100 with a percent sign, such as `80%`".to_owned(),
        )
    } else {
        (
            format!("`{shown}` is no number of tokens; the moment is ignored"),
            "plain digits, above zero",
            format!("write a whole number above zero in plain digits, such as `{name}: {}`", super::unknown_moment::example(name)),
        )
    };
    let draft = out.report(&RULE, value.place(), message).label(label);
    let meant = if name == "context_used" { None } else { moment::tokens_meant(text) };
    let one_line = !file.words(value.span).contains(['\n', '\r']);
    match meant.filter(|_| one_line && value.scalar().is_some_and(|scalar| scalar.style != Style::Block)) {
        Some(meant) => {
            draft.help(format!("write `{meant}`, if that is what was meant")).guess(
                format!("write `{meant}`"),
                value.span,
                meant.to_string(),
            );
        }
        None => {
            draft.help(help);
        }
    }
}
