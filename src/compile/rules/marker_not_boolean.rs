//! `marker-not-boolean`

use crate::compile::file::{FileKind, ForkFile, Lookalike};
use crate::compile::findings::Findings;
use crate::compile::keys::MARKER;
use crate::text::brief;

rule! {
    /// A marker `fork` whose value is neither `true` nor `false`.
    ///
    /// In YAML 1.2 `yes`, `on` and `"true"` are words, and readers of the fork format differ on them. The file is no fork
    /// and never fires.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: yes
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "marker-not-boolean", Warn, Keys, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Lookalike(Lookalike::MarkerNotBoolean) {
        return;
    }
    let Some(entry) = file.entry(MARKER) else { return };
    let place = if entry.value.is_null() { entry.key.place() } else { entry.value.place() };
    let meant = entry.value.scalar().and_then(|scalar| boolean_meant(&scalar.text));
    let found = match entry.value.scalar() {
        // With its quotes, which may be all that is wrong with it.
        Some(_) if !entry.value.is_null() => format!("`{}`", brief(file.words(entry.value.span))),
        _ => entry.value.kind().to_owned(),
    };
    let draft = out
        .report(&RULE, place, format!("the marker `fork` is {found}, not `true`; this file is no fork and never fires"))
        .label("neither true nor false")
        .help("write `fork: true`, or `fork: false` if it is only a note");
    if let Some(meant) = meant {
        draft.guess(format!("write `{meant}`"), entry.value.span, meant.to_string());
    }
}

/// The boolean that a word was meant to be.
pub(crate) fn boolean_meant(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" | "1" | "enabled" | "allow" => Some(true),
        "false" | "no" | "off" | "n" | "0" | "disabled" | "forbid" => Some(false),
        _ => None,
    }
}
