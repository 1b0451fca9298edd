//! `config-ignored-key`

use crate::compile::findings::Findings;
use crate::text::Span;

rule! {
    /// A key of an older version: `claude_bin`, `concurrency`, `isolation`, `permission_mode`, `run_timeout`,
    /// `fork_timeout`, `context_window`, `[models]`, `report_ttl`, `poll_budget_chars`.
    ///
    /// It has no effect: forks now run inside their session, which has all of these settings itself.
    ///
    /// Bad:
    /// ```toml
    /// concurrency = 3
    /// ```
    ///
    /// Good:
    /// ```toml
    /// wake_debounce = "5s"
    /// ```
    "config-ignored-key", Warn, Config, Some
}

pub(crate) fn check(key: &str, span: Span, out: &mut Findings) {
    out.report(&RULE, span, format!("the key `{key}` of older versions has no effect"))
        .label("has no effect")
        .help("remove it");
}
