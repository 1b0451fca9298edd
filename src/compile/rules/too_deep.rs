//! `too-deep`

use crate::compile::findings::Findings;
use crate::text::Span;

rule! {
    /// A folder that is nested more than eight deep below its root.
    ///
    /// It is not looked into, so forks in it do not fire.
    ///
    /// Bad:
    /// ```markdown 1/2/3/4/5/6/7/8/9/tidy.md
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown 1/2/3/4/5/6/7/8/tidy.md
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "too-deep", Warn, Names, None
}

/// Reports a folder; the findings are those of its path.
pub(crate) fn check(out: &mut Findings) {
    out.report(&RULE, Span::at(0), "this folder is nested more than eight deep; forks in it do not fire")
        .help("move its forks further up: folders only organise, they are not part of a name");
}
