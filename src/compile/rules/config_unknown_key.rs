//! `config-unknown-key`

use crate::compile::config::KEYS;
use crate::compile::findings::Findings;
use crate::compile::near::nearest;
use crate::text::{Span, brief};

rule! {
    /// A key that the configuration does not have.
    ///
    /// It is ignored. Often it is a misspelt key, and then a default counts where a value was meant.
    ///
    /// Bad:
    /// ```toml
    /// default_idle_deadlin = "5m"
    /// ```
    ///
    /// Good:
    /// ```toml
    /// default_idle_deadline = "5m"
    /// ```
    "config-unknown-key", Warn, Config, Some
}

pub(crate) fn check(key: &str, span: Span, out: &mut Findings) {
    let draft =
        out.report(&RULE, span, format!("the configuration has no key `{}`; it is ignored", brief(key))).label("ignored");
    match nearest(key, KEYS.iter().copied()) {
        Some(meant) => {
            draft.help(format!("did you mean `{meant}`?")).guess(format!("write `{meant}`"), span, meant);
        }
        None => {
            draft.help("remove it, or write it as a comment");
        }
    }
}

/// A rule in `[lint]` that does not exist.
pub(crate) fn check_rule(rule: &str, span: Span, out: &mut Findings) {
    let draft = out.report(&RULE, span, format!("there is no rule `{}`; this line is ignored", brief(rule))).label("ignored");
    match super::suggest(rule) {
        Some(meant) => {
            draft.help(format!("did you mean `{meant}`?")).guess(format!("write `{meant}`"), span, meant);
        }
        None => {
            draft.help("`autofork explain` lists the rules");
        }
    }
}
