//! `config-ignored-key`

use crate::compile::config::KeySpan;
use crate::compile::findings::Findings;
use crate::text::Source;

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

pub(crate) fn check(key: &str, (name, value): KeySpan, source: &Source, out: &mut Findings) {
    let draft = out
        .report(&RULE, name, format!("the key `{key}` of older versions has no effect"))
        .label("has no effect")
        .help("remove it");
    // Only a line that holds nothing else, no comment either, is removed unseen.
    let line = source.line_span(source.line_of(name.start()));
    let text = source.text();
    let alone = value.start() > name.end()
        && value.end() <= line.end()
        && text[line.start()..name.start()].trim().is_empty()
        && text[value.end()..line.end()].trim().is_empty();
    if alone {
        draft.safe(format!("remove `{key}`"), line, "");
    }
}
