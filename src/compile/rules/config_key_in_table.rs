//! `config-key-in-table`

use crate::compile::config::KeySpan;
use crate::compile::findings::Findings;
use crate::diagnostic::Applicability;
use crate::text::{Source, Span, brief};

rule! {
    /// A top-level key that is written below a table.
    ///
    /// In TOML everything below `[tag_throttles]` belongs to that table, up to the next one. The key has no effect
    /// there.
    ///
    /// Bad:
    /// ```toml
    /// [tag_throttles]
    ///
    /// default_idle_deadline = "5m"
    /// ```
    ///
    /// Good:
    /// ```toml
    /// default_idle_deadline = "5m"
    ///
    /// [tag_throttles]
    /// ```
    "config-key-in-table", Warn, Config, Some
}

pub(crate) fn check(key: &str, table: &str, (name, value): KeySpan, source: &Source, out: &mut Findings) {
    let text = source.text();
    let draft = out
        .report(&RULE, name, format!("`{key}` stands below `[{}]` and so belongs to that table; it has no effect", brief(table)))
        .label("part of the table above")
        .help("write it above the first table");
    let line = source.line_of(name.start());
    let lines = Span::new(source.line_span(line).start(), source.line_span(source.line_of(value.end())).end());
    let alone = text[lines.start()..name.start()].trim().is_empty() && value.start() >= name.end();
    let top = first_table(source);
    if alone && top < lines.start() {
        let mut moved = text[lines.range()].to_owned();
        if !moved.ends_with(['\n', '\r']) {
            moved.push('\n');
        }
        draft.fix(Applicability::Unsafe, "move it above the first table", [(Span::at(top), moved), (lines, String::new())]);
    }
}

/// The start of the first line that opens a table.
fn first_table(source: &Source) -> usize {
    let line = (0..source.line_count()).find(|line| source.line_text(*line).trim_start().starts_with('[')).unwrap_or(0);
    let span = source.line_span(line);
    // On the first line behind a byte order mark.
    span.end() - span.of(source.text()).trim_start_matches(crate::text::BYTE_ORDER_MARK).len()
}
