//! `missing-marker`

use crate::compile::file::{FileKind, ForkFile, Lookalike};
use crate::compile::findings::Findings;
use crate::text::Span;

rule! {
    /// A file with keys of a fork but without `fork: true`.
    ///
    /// Only a file that says `fork: true` is a fork; this one is a note and never fires. If it is meant as a note, say
    /// `fork: false`.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// description: Keep LOG.md current
    /// run_on: [idle]
    /// ---
    /// Bring LOG.md up to date.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: Keep LOG.md current
    /// run_on: [idle]
    /// ---
    /// Bring LOG.md up to date.
    /// ```
    "missing-marker", Warn, Keys, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind == FileKind::Lookalike(Lookalike::MissingMarker) {
        let at = Span::at(file.envelope.frontmatter.start());
        out.report(&RULE, file.fence(), "this looks like a fork but does not say `fork: true`; it never fires")
            .label("no `fork: true` below")
            .help("add `fork: true`, or `fork: false` if it is only a note")
            .guess("add `fork: true`", at, format!("fork: true{}", file.line_end()));
    }
}
