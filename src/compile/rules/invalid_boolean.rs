//! `invalid-boolean`

use super::marker_not_boolean::boolean_meant;
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::syntax::yaml::{Node, Scalar};
use crate::text::brief;

rule! {
    /// A value of `overlap` that is neither `true` nor `false`.
    ///
    /// In YAML 1.2 `on` and `yes` are words. The default stands in: two runs of the fork at once stay forbidden.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// overlap: on
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// overlap: true
    /// ---
    /// Tidy.
    /// ```
    "invalid-boolean", Warn, Keys, Some
}

pub(crate) fn check(file: &ForkFile, value: &Node, scalar: &Scalar, out: &mut Findings) {
    // With its quotes, which may be all that is wrong with it.
    let shown = brief(file.words(value.span));
    let draft = out
        .report(&RULE, value.place(), format!("`{shown}` is neither `true` nor `false`; two runs at once stay forbidden"))
        .label("not a boolean")
        .help("write `true` or `false`");
    if let Some(meant) = boolean_meant(&scalar.text) {
        draft.guess(format!("write `{meant}`"), value.span, meant.to_string());
    }
}
