//! What is at a position of a file.

use autofork::compile::{CompiledFile, WrittenMoment, rules};
use autofork::diagnostic::Rule;
use autofork::ir::{ForkName, Tag};
use autofork::syntax::{envelope, suppression};
use autofork::text::Span;

use super::settings;
use crate::view::{Content, File};

/// Something that there is something to say about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A fence: the fork as a whole.
    Fence(Span),
    /// A key of the frontmatter.
    Key(&'a str, Span),
    /// A value of the frontmatter that is nothing of the below, with its key.
    Value(&'a str, Span),
    /// A moment; its name and its value count as one.
    Moment(WrittenMoment, Span),
    /// The name of a fork in `after`.
    After(&'a ForkName, Span),
    /// A tag, in a fork file or in the configuration.
    Tag(&'a Tag, Span),
    /// A rule in a suppression, or in `[lint]`.
    Rule(&'static Rule, Span),
    /// A key of the configuration, with the table that it stands in.
    Setting(Option<&'a str>, &'a str, Span),
}

/// What is at a byte of a file.
pub(crate) fn at<'a>(file: &'a File<'_>, offset: usize) -> Option<Target<'a>> {
    let text = file.text.as_str();
    match &file.content {
        Content::Fork(compiled) => in_fork(text, compiled, offset),
        Content::Config(layer) => {
            let tag = || layer.tag_words().find(|(_, span)| touches(*span, offset));
            let tag = || tag().map(|(tag, span)| Target::Tag(tag, span));
            suppressed_rule(text, offset).or_else(tag).or_else(|| in_config(text, offset))
        }
    }
}

/// Whether an offset lies in a span or at its end, where a cursor after a word is.
pub(crate) fn touches(span: Span, offset: usize) -> bool {
    span.start() <= offset && offset <= span.end()
}

fn in_fork<'a>(text: &'a str, compiled: &'a CompiledFile, offset: usize) -> Option<Target<'a>> {
    let file = &compiled.file;
    if let Some(fence) = [file.opening(), file.closing()].into_iter().flatten().find(|fence| touches(*fence, offset))
    {
        return Some(Target::Fence(fence));
    }
    if !touches(file.frontmatter(), offset) {
        return None;
    }
    if let Some(rule) = suppressed_rule(text, offset) {
        return Some(rule);
    }
    if let Some((name, span)) = file.after_names().find(|(_, span)| touches(*span, offset)) {
        return Some(Target::After(name, span));
    }
    if let Some((tag, span)) = file.tag_words().find(|(_, span)| touches(*span, offset)) {
        return Some(Target::Tag(tag, span));
    }
    for moment in file.written_moments() {
        let Some(name) = moment.name else { continue };
        let whole = moment.value.map_or(name, |value| Span::new(name.start(), value.end().max(name.end())));
        if touches(whole, offset) {
            return Some(Target::Moment(moment, whole));
        }
    }
    let keys = envelope::keys_at_line_start(text, file.frontmatter());
    let (key, span) = keys.take_while(|(_, span)| span.start() <= offset).last()?;
    if touches(span, offset) {
        return Some(Target::Key(key, span));
    }
    Some(Target::Value(key, span))
}

/// The line around a byte, without its end.
pub(crate) fn line_around(text: &str, offset: usize) -> Span {
    let offset = floor(text, offset);
    let start = text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let end = text[offset..].find(['\n', '\r']).map_or(text.len(), |at| offset + at);
    Span::new(start, end)
}

/// The nearest start of a character at or before a byte.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn suppressed_rule<'a>(text: &str, offset: usize) -> Option<Target<'a>> {
    let line = line_around(text, offset);
    let words = line.of(text);
    for (at, _) in words.match_indices('#') {
        for (name, span) in suppression::parse(&words[at..]).into_iter().flatten() {
            let span = span.shifted(line.start() + at);
            if touches(span, offset) {
                return rules::find(name).map(|rule| Target::Rule(rule, span));
            }
        }
    }
    None
}

fn in_config(text: &str, offset: usize) -> Option<Target<'_>> {
    let line = line_around(text, offset);
    if let Some((table, span)) = settings::header(text, line) {
        return touches(span, offset).then_some(Target::Setting(None, table, span));
    }
    let table = settings::table_at(text, line.start());
    let (key, span) = settings::setting(text, line)?;
    if let Some(rule) = rules::find(key).filter(|_| table == Some("lint") && touches(span, offset)) {
        return Some(Target::Rule(rule, span));
    }
    Some(Target::Setting(table, key, span))
}
