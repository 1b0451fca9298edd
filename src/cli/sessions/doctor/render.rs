//! Findings as text for a person, and as JSON for programs.

use std::io::{self, Write};

use anstyle::AnsiColor;
use serde::Serialize;

use super::finding::{Finding, Level};
use crate::cli::sessions::words::{path, plain};
use crate::cli::style::{BOLD, DIM};
use crate::text::visible_json;

/// The version of the JSON printed.
const VERSION: u32 = 1;

/// How wide the column of the checks' names is: the longest has so many characters.
const NAMES: usize = 16;

#[derive(Debug, Serialize)]
struct Document<'a> {
    version: u32,
    summary: Summary,
    checks: &'a [Finding],
}

#[derive(Debug, Serialize)]
struct Summary {
    ok: usize,
    notes: usize,
    warnings: usize,
    problems: usize,
}

impl Summary {
    fn of(findings: &[Finding]) -> Self {
        let [ok, notes, warnings, problems] =
            Level::ALL.map(|level| findings.iter().filter(|finding| finding.level == level).count());
        Self { ok, notes, warnings, problems }
    }
}

pub(super) fn json(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, summary: Summary::of(findings), checks: findings };
    writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(&document)?))
}

pub(super) fn text(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let (mark, style) = match finding.level {
            Level::Ok => ("✓", AnsiColor::Green.on_default()),
            Level::Note => ("·", AnsiColor::Cyan.on_default()),
            Level::Warn => ("!", AnsiColor::Yellow.on_default().bold()),
            Level::Problem => ("✗", AnsiColor::Red.on_default().bold()),
        };
        writeln!(out, "{style}{mark}{style:#} {BOLD}{:NAMES$}{BOLD:#}  {}", finding.check, plain(&finding.found))?;
        let mut more = |label: &str, text: &str| writeln!(out, "  {:NAMES$}  {DIM}{label}{DIM:#} {text}", "");
        if let Some(place) = &finding.path
            && finding.level.counts()
            && !finding.found.contains(&path(place))
        {
            more("file", &path(place))?;
        }
        if finding.level != Level::Ok {
            more("why ", finding.why)?;
        }
        if let Some(remedy) = &finding.remedy {
            more("do  ", &plain(remedy))?;
        }
    }
    let Summary { notes, warnings, problems, .. } = Summary::of(findings);
    let counts = [(problems, "problem"), (warnings, "warning"), (notes, "note")];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") })
        .collect();
    let said = if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") };
    writeln!(out, "\n{} checks: {said}.", findings.len())
}
