//! The format `sarif`: SARIF 2.1.0, for code scanning.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::fingerprint::fingerprints;
use super::rule::REPOSITORY;
use super::{Category, Diagnostic, Fix, Level, Report, Rule};
use crate::text::Span;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes a log with one run. `rules` are all rules that there are, whether they found anything or not.
pub fn render(report: &Report<'_>, rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let results: Vec<Value> = report
        .diagnostics
        .iter()
        .zip(fingerprints(report))
        .map(|(found, print)| result(report, rules, found, &print))
        .collect();
    let mut driver = json!({
        "name": "autofork",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(|rule| described(rule)).collect::<Vec<_>>(),
    });
    if !REPOSITORY.is_empty() {
        driver["informationUri"] = json!(REPOSITORY);
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warn => "warning",
        Level::Hint => "note",
    }
}

fn described(rule: &Rule) -> Value {
    let text = rule.documentation();
    let mut described = json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary() },
        "fullDescription": { "text": rule.summary() },
        "help": { "text": text, "markdown": text },
        "defaultConfiguration": { "level": level(rule.level) },
        "properties": { "tags": [Category::title(rule.category)] },
    });
    if let Some(link) = rule.link() {
        described["helpUri"] = json!(link);
    }
    described
}

fn result(report: &Report<'_>, rules: &[&Rule], found: &Diagnostic, fingerprint: &str) -> Value {
    let text = match &found.help {
        Some(help) => format!("{}. Help: {help}", found.message),
        None => found.message.clone(),
    };
    let mut result = json!({
        "ruleId": found.rule.name,
        "level": level(found.level),
        "message": { "text": text },
        "locations": [{ "physicalLocation": location(report, &found.path, found.span) }],
        "partialFingerprints": { "autofork/v1": fingerprint },
    });
    if let Some(index) = rules.iter().position(|rule| rule.name == found.rule.name) {
        result["ruleIndex"] = json!(index);
    }
    if !found.labels.is_empty() {
        let related = found.labels.iter().enumerate().map(|(id, label)| {
            json!({
                "id": id,
                "physicalLocation": location(report, &label.path, label.span),
                "message": { "text": label.message },
            })
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = &found.fix {
        result["fixes"] = json!([changes(report, fix)]);
    }
    result
}

fn changes(report: &Report<'_>, fix: &Fix) -> Value {
    let mut changes: Vec<Value> = Vec::new();
    for edits in fix.edits.chunk_by(|left, right| left.path == right.path) {
        let replacements: Vec<Value> = edits
            .iter()
            .map(|edit| {
                json!({
                    "deletedRegion": region(report, &edit.path, edit.span),
                    "insertedContent": { "text": edit.text },
                })
            })
            .collect();
        changes.push(json!({
            "artifactLocation": artifact(report, &edits[0].path),
            "replacements": replacements,
        }));
    }
    json!({ "description": { "text": fix.message }, "artifactChanges": changes })
}

fn location(report: &Report<'_>, path: &Path, span: Span) -> Value {
    let mut location = json!({ "artifactLocation": artifact(report, path) });
    let region = region(report, path, span);
    if !region.is_null() {
        location["region"] = region;
    }
    location
}

fn region(report: &Report<'_>, path: &Path, span: Span) -> Value {
    match report.range(path, span) {
        Some((start, end)) => json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
            "byteOffset": span.start,
            "byteLength": span.end - span.start,
        }),
        None => Value::Null,
    }
}

/// Where a file is: relative to the base where it lies below it.
fn artifact(report: &Report<'_>, path: &Path) -> Value {
    let relative = report.relative(path);
    if relative.is_absolute() {
        json!({ "uri": format!("file://{}", uri(relative)) })
    } else {
        json!({ "uri": uri(relative), "uriBaseId": "%SRCROOT%" })
    }
}

/// A path as part of a URI: its bytes, also where they are no text.
fn uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut uri = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            for half in [byte >> 4, byte & 15] {
                uri.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
    uri
}
