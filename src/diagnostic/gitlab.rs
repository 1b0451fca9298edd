//! The format `gitlab`: a code quality report, as GitLab reads it.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::fingerprints;
use super::{Level, Report};
use crate::text::visible;

#[derive(Serialize)]
struct Issue<'a> {
    description: Cow<'a, str>,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes a JSON list of all findings.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let issues = report.diagnostics.iter().zip(fingerprints(report)).map(|(found, fingerprint)| {
        let range = report.range(&found.path, found.span);
        Issue {
            description: visible(&found.message),
            check_name: found.rule.name,
            fingerprint,
            severity: match found.level {
                Level::Error => "major",
                Level::Warn => "minor",
                Level::Hint => "info",
            },
            location: Location {
                path: visible(&report.path(&found.path)).into_owned(),
                lines: Lines {
                    begin: range.map_or(1, |(start, _)| start.line),
                    end: range.map_or(1, |(_, end)| end.line),
                },
            },
        }
    });
    serde_json::to_writer_pretty(&mut *out, &issues.collect::<Vec<_>>())?;
    writeln!(out)
}
