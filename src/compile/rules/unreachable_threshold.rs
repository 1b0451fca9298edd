//! `unreachable-threshold`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::ir::Moment;

rule! {
    /// A threshold that a session hardly ever reaches: `context_used` above 90 percent, `context_left` below 20 000
    /// tokens, `context_tokens` above a million.
    ///
    /// The client compacts a conversation before its context is full, so the moment may never come.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - context_used: 95%
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - context_used: 80%
    /// ---
    /// Tidy.
    /// ```
    "unreachable-threshold", Hint, Moments, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    for (moment, place) in file.moments() {
        let sooner = match moment {
            Moment::ContextUsed(percent) if percent.get() > 90 => "`context_used: 80%`",
            Moment::ContextLeft(tokens) if tokens.get() < 20_000 => "`context_left: 40000`",
            Moment::ContextTokens(tokens) if tokens.get() > 1_000_000 => "a number below a million",
            _ => continue,
        };
        if let Some(value) = place.value {
            out.report(&RULE, value, "a conversation is compacted before it gets there; this moment may never come")
                .label("hardly ever reached")
                .help(format!("choose an earlier moment, such as {sooner}"));
        }
    }
}
