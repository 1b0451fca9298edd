//! The format `full`: each finding with its source, labels, help and rule, drawn by miette for a person.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode,
    SourceSpan, SpanContents,
};

use super::{Applicability, Diagnostic, Level, Report};
use crate::text::{BYTE_ORDER_MARK, Source, Span, visible, visible_line};

/// What the output can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether escape codes are understood.
    pub colours: Colours,
    /// Whether a rule's name may be a link (OSC 8).
    pub links: Links,
    /// Columns of the screen.
    pub width: usize,
}

/// Whether to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// With escape codes.
    On,
    /// Plain text.
    Off,
}

/// Whether to link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// With escape codes.
    On,
    /// None.
    Off,
}

/// Writes every finding and then one line with the numbers.
pub fn render(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let handler = handler(look);
    for found in report.diagnostics {
        let mut text = String::new();
        if handler.render_report(&mut text, &Drawing::new(report, found)).is_err() {
            // miette refuses a label outside of its text; the words alone are better than nothing.
            text = format!("{}: {}\n", found.rule.name, found.message);
        }
        writeln!(out, "{}\n", text.trim_end())?;
    }
    writeln!(out, "{}", closing_line(report))
}

fn handler(look: Look) -> GraphicalReportHandler {
    let theme = match look.colours {
        Colours::On => GraphicalTheme::unicode(),
        Colours::Off => GraphicalTheme::unicode_nocolor(),
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(look.links == Links::On)
        .with_urls(look.links == Links::On)
        .with_link_display_text("↗")
        .with_context_lines(1)
        .without_syntax_highlighting()
}

fn closing_line(report: &Report<'_>) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let summary = report.summary();
    let files = plural(summary.files, "file");
    let counts = [(summary.errors, "error"), (summary.warnings, "warning"), (summary.hints, "hint")];
    let counts: Vec<_> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word)).collect();
    if counts.is_empty() {
        return format!("Checked {files}: nothing found.");
    }
    let fixable = match report.fixable(Applicability::Safe) {
        0 => String::new(),
        count => format!(" {count} can be mended with `autofork check --fix`."),
    };
    format!("Checked {files}: {}.{fixable}", counts.join(", "))
}

/// A diagnostic in the shape that miette draws.
#[derive(Debug)]
struct Drawing {
    code: String,
    severity: Severity,
    message: String,
    help: Option<String>,
    link: Option<String>,
    labels: Vec<LabeledSpan>,
    snippets: Snippets,
}

impl Drawing {
    fn new(report: &Report<'_>, found: &Diagnostic) -> Self {
        let (severity, word) = match found.level {
            Level::Error => (Severity::Error, "error"),
            Level::Warn => (Severity::Warning, "warning"),
            Level::Hint => (Severity::Advice, "hint"),
        };
        let (snippets, labels) = snippets(report, found);
        let message = if snippets.0.is_empty() {
            format!("{}: {}", visible(&report.path(&found.path)), visible_lines(&found.message))
        } else {
            visible_lines(&found.message)
        };
        Self {
            code: format!("{word}[{}]", found.rule.name),
            severity,
            message,
            help: found.help.as_deref().map(visible_lines),
            link: found.rule.link(),
            labels,
            snippets,
        }
    }
}

/// Escaped, but with our own line breaks left in.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A place, its words, and whether it is the place of the diagnostic itself.
type Shown<'a> = (Span, &'a str, bool);

/// The lines of each file that a diagnostic points at, and its labels in the offsets of those lines.
fn snippets(report: &Report<'_>, found: &Diagnostic) -> (Snippets, Vec<LabeledSpan>) {
    let primary = (&found.path, found.span, found.label.as_str());
    let further = found.labels.iter().map(|label| (&label.path, label.span, label.message.as_str()));
    let hidden =
        |place: &(&Arc<Path>, Span, &str)| found.label.is_empty() && (place.0, place.1) == (primary.0, primary.1);
    // A further label at the place itself speaks for it.
    let doubled = found.labels.iter().any(|label| hidden(&(&label.path, label.span, "")));
    let mut by_file: BTreeMap<(bool, &Arc<Path>), Vec<Shown<'_>>> = BTreeMap::new();
    for place in std::iter::once(primary).filter(|_| !doubled).chain(further) {
        let is_primary = (place.0, place.1) == (primary.0, primary.1);
        by_file.entry((place.0 != primary.0, place.0)).or_default().push((place.1, place.2, is_primary));
    }
    let (mut snippets, mut labels) = (Vec::new(), Vec::new());
    let mut base = 0;
    for ((_, path), places) in by_file {
        let Some(source) = report.sources.get(path).filter(|source| !source.text().is_empty()) else { continue };
        let snippet = Snippet::new(source, visible(&report.path(path)).into_owned(), base, &places);
        for (span, text, is_primary) in &places {
            let (start, length) = snippet.place(source, *span);
            let text = (!text.is_empty()).then(|| visible_lines(text));
            let make = if *is_primary { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
            labels.push(make(text, SourceSpan::new(start.into(), length)));
        }
        // A gap keeps labels of different files from being drawn as one.
        base += snippet.text.len() + 2;
        snippets.push(snippet);
    }
    (Snippets(snippets), labels)
}

/// Some lines of one file, escaped, at offsets that no other snippet of the diagnostic has.
#[derive(Debug)]
struct Snippet {
    name: String,
    base: usize,
    first_line: usize,
    text: String,
    lines: Vec<ShownLine>,
    /// Starts of places in `text`, and their columns in the file.
    columns: Vec<(usize, usize)>,
}

/// One line of a snippet.
#[derive(Debug)]
struct ShownLine {
    /// Where its part that is shown begins in the file.
    part: Span,
    /// Where that part begins in the snippet.
    start: usize,
    /// Where it ends there.
    end: usize,
}

/// Of a line that is longer than this, only what is around the place is shown.
const LONG_LINE: usize = 240;

/// So much before the place is shown of a long line.
const LEAD: usize = 60;

impl Snippet {
    fn new(source: &Source, name: String, base: usize, places: &[Shown<'_>]) -> Self {
        let lines = places.iter().flat_map(|(span, ..)| [span.start(), span.end().max(1) - 1]);
        let (mut first, mut last) = (usize::MAX, 0);
        for line in lines.map(|offset| source.line_of(offset)) {
            (first, last) = (first.min(line), last.max(line));
        }
        let first = first.saturating_sub(1);
        let last = (last + 1).min(source.line_count() - 1);
        let mut snippet =
            Self { name, base, first_line: first, text: String::new(), lines: Vec::new(), columns: Vec::new() };
        for line in first..=last {
            snippet.push_line(source, line, places);
        }
        for (span, ..) in places {
            let column = source.position(span.start()).column as usize - 1;
            snippet.columns.push((snippet.offset(source, span.start()), column));
        }
        snippet
    }

    fn push_line(&mut self, source: &Source, line: usize, places: &[Shown<'_>]) {
        let whole = source.line_span(line);
        let words = source.line_text(line);
        // Behind a byte order mark.
        let from = whole.start() + if line == 0 && source.text().starts_with(BYTE_ORDER_MARK) { 3 } else { 0 };
        let (mut start, mut end) = (0, words.len());
        if words.len() > LONG_LINE {
            let here = places.iter().map(|(span, ..)| span.start()).filter(|at| source.line_of(*at) == line).min();
            start = floor(words, here.map_or(0, |at| at.saturating_sub(from + LEAD)));
            end = floor(words, start + LONG_LINE);
        }
        if start > 0 {
            self.text.push('…');
        }
        let part = Span::new(from + start, from + end);
        let shown = self.text.len();
        self.text.push_str(&visible_line(&words[start..end]));
        self.lines.push(ShownLine { part, start: shown, end: self.text.len() });
        self.text.push_str(if end < words.len() { "…\n" } else { "\n" });
    }

    /// Where a place of the file is among the offsets of the diagnostic, and how long it is there.
    fn place(&self, source: &Source, span: Span) -> (usize, usize) {
        let start = self.offset(source, span.start());
        let end = self.offset(source, span.end());
        (self.base + start, end.saturating_sub(start))
    }

    fn offset(&self, source: &Source, offset: usize) -> usize {
        let line = source.line_of(offset).clamp(self.first_line, self.first_line + self.lines.len() - 1);
        let ShownLine { part, start, end } = &self.lines[line - self.first_line];
        let words = part.of(source.text());
        let within = floor(words, offset.saturating_sub(part.start()));
        if within == words.len() { *end } else { start + visible_line(&words[..within]).len() }
    }
}

/// The last boundary between characters at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[derive(Debug)]
struct Snippets(Vec<Snippet>);

impl SourceCode for Snippets {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let holds = |s: &&Snippet| s.base <= span.offset() && span.offset() + span.len() <= s.base + s.text.len();
        let snippet = self.0.iter().find(holds).ok_or(MietteError::OutOfBounds)?;
        let local = SourceSpan::new((span.offset() - snippet.base).into(), span.len());
        let found = snippet.text.read_span(&local, lines_before, lines_after)?;
        let start = found.span().offset();
        // miette counts columns in bytes, and knows nothing of what is left out of long lines.
        let known = snippet.columns.iter().find(|(at, _)| *at == start && lines_before == 0);
        let column = known.map_or(0, |(_, column)| *column);
        Ok(Box::new(MietteSpanContents::new_named(
            snippet.name.clone(),
            found.data(),
            SourceSpan::new((start + snippet.base).into(), found.span().len()),
            snippet.first_line + found.line(),
            column,
            found.line_count(),
        )))
    }
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawing {}

impl miette::Diagnostic for Drawing {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.link.as_ref().map(|link| Box::new(link) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.snippets.0.is_empty()).then_some(&self.snippets as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
