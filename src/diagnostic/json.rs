//! The format `json`: one versioned document for programs.
//!
//! Lines and columns are counted from 1 and in characters, offsets from 0 and in bytes of the file. A part that is
//! absent is null. Within one version fields are only ever added.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::{Applicability, Diagnostic, Fix, Level, Report, Summary};
use crate::text::Span;

/// The version of the document.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    summary: Summary,
    diagnostics: Vec<Finding<'a>>,
}

/// A diagnostic as it stands in JSON.
#[derive(Debug, Serialize)]
pub struct Finding<'a> {
    rule: &'a str,
    level: Level,
    message: &'a str,
    path: String,
    range: Option<Range>,
    labels: Vec<FurtherLabel<'a>>,
    help: Option<&'a str>,
    fix: Option<Mending<'a>>,
}

#[derive(Debug, Serialize)]
struct Range {
    start: Point,
    end: Point,
}

#[derive(Debug, Serialize)]
struct Point {
    line: u32,
    column: u32,
    offset: u32,
}

#[derive(Debug, Serialize)]
struct FurtherLabel<'a> {
    path: String,
    range: Option<Range>,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct Mending<'a> {
    applicability: Applicability,
    message: &'a str,
    edits: Vec<Change<'a>>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    path: String,
    range: Option<Range>,
    text: &'a str,
}

/// Writes the report as one JSON document on one line.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, summary: report.summary(), diagnostics: findings(report) };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// The report's diagnostics as they stand in JSON, for commands that put them into a document of their own.
pub fn findings<'a>(report: &Report<'a>) -> Vec<Finding<'a>> {
    report.diagnostics.iter().map(|found| finding(report, found)).collect()
}

fn finding<'a>(report: &Report<'a>, found: &'a Diagnostic) -> Finding<'a> {
    let labels = found.labels.iter().map(|label| FurtherLabel {
        path: report.path(&label.path).into_owned(),
        range: range(report, &label.path, label.span),
        message: &label.message,
    });
    Finding {
        rule: found.rule.name,
        level: found.level,
        message: &found.message,
        path: report.path(&found.path).into_owned(),
        range: range(report, &found.path, found.span),
        labels: labels.collect(),
        help: found.help.as_deref(),
        fix: found.fix.as_ref().map(|fix| mending(report, fix)),
    }
}

fn mending<'a>(report: &Report<'a>, fix: &'a Fix) -> Mending<'a> {
    let edits = fix.edits.iter().map(|edit| Change {
        path: report.path(&edit.path).into_owned(),
        range: range(report, &edit.path, edit.span),
        text: &edit.text,
    });
    Mending { applicability: fix.applicability, message: &fix.message, edits: edits.collect() }
}

fn range(report: &Report<'_>, path: &Path, span: Span) -> Option<Range> {
    let (start, end) = report.range(path, span)?;
    Some(Range {
        start: Point { line: start.line, column: start.column, offset: span.start },
        end: Point { line: end.line, column: end.column, offset: span.end },
    })
}
