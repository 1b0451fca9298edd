//! The format `json`: one versioned document for programs.
//!
//! Lines and columns are counted from 1 and in characters, offsets from 0 and in bytes of the file. A part that is
//! absent is null. Within one version fields are only ever added.

use std::io::{self, Write};
use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use super::{Applicability, Diagnostic, Fix, Level, Report, Summary};
use crate::text::{Span, visible_json};

/// The version of the document.
pub const VERSION: u32 = 1;

/// What `autofork check --format json` prints.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckReport", title = "Report of autofork check")]
struct Document<'a> {
    /// The version of the document: 1.
    version: u32,
    /// How many files were looked at, and how many findings there are of each level.
    summary: Summary,
    /// The findings, by file and place.
    diagnostics: Vec<Finding<'a>>,
}

/// A diagnostic as it stands in JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding<'a> {
    /// The name of the rule.
    rule: &'a str,
    /// How much it matters.
    level: Level,
    /// What is wrong and what happens because of it.
    message: &'a str,
    /// The file, relative to the current folder where it lies below it.
    path: String,
    /// The place in it; null for a folder, or a file that could not be read.
    range: Option<Range>,
    /// Further places.
    labels: Vec<FurtherLabel<'a>>,
    /// How to write it right.
    help: Option<&'a str>,
    /// Edits that mend it.
    fix: Option<Mending<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Range {
    start: Point,
    end: Point,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// The line, from 1.
    line: u32,
    /// The column in characters, from 1.
    column: u32,
    /// The byte of the file, from 0.
    offset: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FurtherLabel<'a> {
    path: String,
    range: Option<Range>,
    message: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Mending<'a> {
    applicability: Applicability,
    message: &'a str,
    edits: Vec<Change<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Change<'a> {
    path: String,
    range: Option<Range>,
    text: &'a str,
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document<'_>>().to_value()
}

/// Writes the report as one JSON document on one line.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    write(&Document { version: VERSION, summary: report.summary(), diagnostics: findings(report) }, out)
}

/// Writes a document on one line. Names and paths are exact, but cannot act on a terminal.
pub fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible_json(&serde_json::to_string(document)?))
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
