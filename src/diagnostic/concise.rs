//! The format `concise`: one line for each finding, in codespan's short style.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use codespan_reporting::diagnostic::{Diagnostic as Drawn, Label, Severity};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, Config, DisplayStyle};

use super::{Diagnostic, Level, Report};
use crate::text::visible;

/// Writes one line for each finding, and nothing else.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let config = Config { display_style: DisplayStyle::Short, ..Config::default() };
    let files = Shown(*report);
    for found in report.diagnostics {
        if report.sources.get(&found.path).is_none() {
            writeln!(out, "{}", without_place(report, found))?;
            continue;
        }
        let drawn = Drawn::new(severity(found.level))
            .with_code(found.rule.name)
            .with_message(visible(&found.message))
            .with_label(Label::primary(&*found.path, found.span.range()));
        match term::emit_into_string(&config, &files, &drawn) {
            Ok(line) => out.write_all(line.as_bytes())?,
            Err(_) => writeln!(out, "{}", without_place(report, found))?,
        }
    }
    Ok(())
}

fn without_place(report: &Report<'_>, found: &Diagnostic) -> String {
    let path = report.path(&found.path);
    let level = match found.level {
        Level::Error => "error",
        Level::Warn => "warning",
        Level::Hint => "note",
    };
    format!("{}: {level}[{}]: {}", visible(&path), found.rule.name, visible(&found.message))
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Error => Severity::Error,
        Level::Warn => Severity::Warning,
        Level::Hint => Severity::Note,
    }
}

/// The report's files, under the names that they are shown by.
struct Shown<'a>(Report<'a>);

impl<'a> Files<'a> for Shown<'a> {
    type FileId = &'a Path;
    type Name = String;
    type Source = &'a str;

    fn name(&'a self, path: &'a Path) -> Result<String, Error> {
        Ok(visible(&self.0.path(path)).into_owned())
    }

    fn source(&'a self, path: &'a Path) -> Result<&'a str, Error> {
        self.0.sources.source(path)
    }

    fn line_index(&'a self, path: &'a Path, offset: usize) -> Result<usize, Error> {
        self.0.sources.line_index(path, offset)
    }

    fn column_number(&'a self, path: &'a Path, line: usize, offset: usize) -> Result<usize, Error> {
        self.0.sources.column_number(path, line, offset)
    }

    fn line_range(&'a self, path: &'a Path, line: usize) -> Result<Range<usize>, Error> {
        self.0.sources.line_range(path, line)
    }
}
