//! The format `github`: workflow commands, which GitHub shows as annotations of a change.

use std::io::{self, Write};

use super::{Level, Report};
use crate::text::visible;

/// Writes one workflow command for each finding.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for found in report.diagnostics {
        let command = match found.level {
            Level::Error => "error",
            Level::Warn => "warning",
            Level::Hint => "notice",
        };
        write!(out, "::{command} file={}", property(&report.path(&found.path)))?;
        if let Some((start, end)) = report.range(&found.path, found.span) {
            write!(out, ",line={},col={}", start.line, start.column)?;
            // Columns are only understood where the end is on the same line.
            if start.line == end.line {
                write!(out, ",endLine={},endColumn={}", end.line, end.column)?;
            } else {
                write!(out, ",endLine={}", end.line)?;
            }
        }
        let help = found.help.as_ref().map(|help| format!("%0A{}", data(help))).unwrap_or_default();
        writeln!(out, ",title={}::{}{help}", property(found.rule.name), data(&found.message))?;
    }
    Ok(())
}

/// A message: made visible, so that nothing in it ends the line, with its own line breaks left in.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| visible(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// A property: what would end it is escaped as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
