//! What went wrong, in terms a person can act on, from the parser's error and the text around it.

use granit_parser::ErrorKind;

use crate::text::{Span, is_invisible};

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What it is.
    pub kind: FaultKind,
    /// The first text that could not be read.
    pub span: Span,
    /// What opened the construct that broke there.
    pub opened: Option<Span>,
    /// The unquoted text that would be fine in quotes.
    pub quotable: Option<Span>,
}

/// Kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// A colon and a blank in an unquoted value.
    ColonInValue,
    /// A line that is indented, and so continues the value above, but looks like a key.
    IndentedKey,
    /// Text after a value that had ended, such as after a closing bracket or quote.
    TextAfterValue,
    /// A bracket that is never closed.
    UnclosedBracket,
    /// A quote that is never closed.
    UnclosedQuote,
    /// A bracket that closes nothing, or the wrong one.
    StrayBracket,
    /// A character that YAML reserves.
    ReservedCharacter(char),
    /// A control character.
    ControlCharacter(char),
    /// A backslash in double quotes with something that is no escape.
    BadEscape,
    /// A tab where blanks must stand.
    Tab,
    /// A character that looks like nothing or like a blank.
    Invisible(char),
    /// An alias without its anchor.
    UnknownAlias(String),
    /// An alias inside of what it stands for.
    AliasInItself,
    /// A dash for a list item on the line of its key.
    DashInValue,
    /// A line at the start of which a key is expected, but has no colon.
    NotAKey,
    /// A key whose colon is not followed by a blank.
    MissingBlank,
    /// A line that is indented unlike its neighbours.
    Indentation,
    /// Text on the line of a `|` or `>`.
    BlockHeader,
    /// A second document.
    SecondDocument,
    /// Too many collections within each other.
    TooDeep,
    /// Too many nodes.
    TooManyNodes,
    /// Something rarer, in the parser's words.
    Other(String),
}

impl Fault {
    pub(super) fn new(kind: FaultKind, span: Span) -> Self {
        Self { kind, span, opened: None, quotable: None }
    }
}

/// What had been read when the parser stopped.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) text: &'a str,
    pub(super) base: usize,
    pub(super) last_scalar: Option<Span>,
    pub(super) last_closed: Option<Span>,
    pub(super) open_bracket: Option<Span>,
    pub(super) unknown_alias: Option<Span>,
}

/// Makes a fault of the parser's error at byte `at` of the context's text.
pub(super) fn explain(error: &ErrorKind, at: usize, context: &Context<'_>) -> Fault {
    if let Some(tab) = tab(error, at, context.text) {
        return Fault::new(FaultKind::Tab, Span::new(tab, tab + 1).shifted(context.base));
    }
    // What follows an alias is its consequence: `*word*` in an unquoted text reads as an alias.
    if let Some(alias) = context.unknown_alias {
        let mut fault = Fault::new(FaultKind::UnknownAlias(alias_name(context, alias)), alias);
        fault.quotable = Some(to_line_end(context, alias.start() - context.base));
        return fault;
    }
    let (kind, start, end, opened, quotable) = located(error, at, context);
    let place = |(start, end): (usize, usize)| Span::new(start, end).shifted(context.base);
    Fault { kind, span: place((start, end)), opened: opened.map(place), quotable }
}

type Located = (FaultKind, usize, usize, Option<(usize, usize)>, Option<Span>);

fn located(error: &ErrorKind, at: usize, context: &Context<'_>) -> Located {
    use ErrorKind as E;
    let text = context.text;
    let character = text[at.min(text.len())..].chars().next();
    let after = at + character.map_or(0, char::len_utf8);
    let rest_of_line = line_end(text, at);
    let one = |kind| (kind, at, after.min(rest_of_line.max(at)), None, None);
    match error {
        E::MappingValueNotAllowed | E::InvalidColonPlacement => colon(at, context),
        E::UnexpectedCharacter { character } if character.is_control() => {
            // The parser points at the start of the text that the character is in.
            let at = text.get(at..).and_then(|rest| rest.find(*character)).map_or(at, |within| at + within);
            (FaultKind::ControlCharacter(*character), at, at + character.len_utf8(), None, None)
        }
        E::UnexpectedCharacter { character } => {
            let quotable = Some(to_token_end(context, at));
            (FaultKind::ReservedCharacter(*character), at, after, None, quotable)
        }
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => {
            let opened = quote_before(context, at);
            (FaultKind::TextAfterValue, at, rest_of_line, opened, None)
        }
        E::UnclosedQuotedScalar | E::DocumentIndicatorInQuotedScalar | E::InvalidQuotedScalarIndent => {
            let start = if matches!(error, E::UnclosedQuotedScalar) {
                Some(at)
            } else {
                quote_before(context, at).map(|q| q.0)
            };
            (FaultKind::UnclosedQuote, text.len(), text.len(), start.map(|start| (start, start + 1)), None)
        }
        E::UnclosedFlowCollection { .. } => {
            (FaultKind::UnclosedBracket, text.len(), text.len(), Some((at, at + 1)), None)
        }
        E::UnexpectedEofFlowMapping
        | E::UnexpectedEofFlowSequence
        | E::UnexpectedEofImplicitFlowMapping
        | E::InvalidFlowScalarIndent => {
            let opened =
                context.open_bracket.map(|open| (open.start() - context.base, open.start() - context.base + 1));
            (FaultKind::UnclosedBracket, at, at, opened, None)
        }
        E::MisplacedFlowCollectionEnd => one(FaultKind::StrayBracket),
        E::MismatchedFlowCollectionEnd { close, .. } => {
            // The parser points at the bracket that was opened; what cannot be read is the one that does not close it.
            let from = context.last_scalar.map_or(at, |span| span.end() - context.base).max(at);
            let end = text[from..].find(*close).map_or(at, |end| from + end);
            (FaultKind::StrayBracket, end, end + close.len_utf8(), Some((at, at + 1)), None)
        }
        E::UnknownQuotedScalarEscape
        | E::InvalidQuotedScalarHexEscape
        | E::InvalidLowSurrogateHexEscape
        | E::InvalidLowSurrogate
        | E::MissingLowSurrogate
        | E::UnpairedLowSurrogate
        | E::InvalidUnicodeEscape => {
            let (start, end) = bad_escape(text, at);
            (FaultKind::BadEscape, start, end, Some((at, at + 1)), None)
        }
        E::BlockSequenceEntryNotAllowed if !starts_line(text, at) => one(FaultKind::DashInValue),
        E::SimpleKeyExpected | E::InvalidSimpleKey => key_expected(text, at),
        E::InvalidBlockScalarHeader => {
            let header = text[at..].find(|c: char| !matches!(c, '|' | '>' | '+' | '-' | ' ' | '\t' | '0'..='9'));
            let start = at + header.unwrap_or(0);
            let quotable = Some(to_line_end(context, at));
            (FaultKind::BlockHeader, start, rest_of_line, Some((at, at + 1)), quotable)
        }
        E::ExpectedBlockMappingKey
        | E::ExpectedBlockSequenceEntry
        | E::UnexpectedEofBlockMapping
        | E::ExpectedFlowSequenceSeparator => after_value(at, rest_of_line, context),
        E::RecursionLimitExceeded => one(FaultKind::TooDeep),
        E::InvalidIndentation | E::BlockSequenceEntryNotAllowed => one(FaultKind::Indentation),
        other => one(FaultKind::Other(other.to_string())),
    }
}

/// A colon where no key can be: in an unquoted value, or on a line that is indented below one.
fn colon(at: usize, context: &Context<'_>) -> Located {
    let text = context.text;
    // Within brackets the parser points at the start of what would be a key.
    let at = text[at..].find(':').map_or(at, |colon| at + colon);
    let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
    let value = context.last_scalar.map_or(at, |span| span.start() - context.base);
    if line_start(text, value) != line_start(text, at) {
        let key = line_start(text, at);
        let key = key + (text[key..].len() - text[key..].trim_start_matches([' ', '\t']).len());
        return (FaultKind::IndentedKey, at, end, Some((key, at)), None);
    }
    (FaultKind::ColonInValue, at, end, None, Some(to_token_end(context, value)))
}

/// Text where the next key, item or separator should be.
fn after_value(at: usize, rest_of_line: usize, context: &Context<'_>) -> Located {
    let text = context.text;
    if starts_line(text, at) {
        return (FaultKind::Indentation, at, rest_of_line, None, None);
    }
    let closed = context.last_closed.map(|span| (span.start() - context.base, span.end() - context.base));
    let on_this_line = closed.filter(|(start, _)| line_start(text, *start) == line_start(text, at));
    match on_this_line {
        Some((start, _)) => {
            let quotable = Some(to_line_end(context, start));
            (FaultKind::TextAfterValue, at, rest_of_line, Some((start, start + 1)), quotable)
        }
        None => (FaultKind::TextAfterValue, at, rest_of_line, None, None),
    }
}

/// A line that should start with a key.
fn key_expected(text: &str, at: usize) -> Located {
    let end = line_end(text, at);
    let line = &text[at..end];
    let word = line.find(':').filter(|colon| {
        let key = &line[..*colon];
        *colon + 1 < line.len()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    });
    match word {
        Some(colon) => (FaultKind::MissingBlank, at, at + colon + 1, None, None),
        None => (FaultKind::NotAKey, at, end, None, None),
    }
}

/// The tab that is to blame, if one is.
fn tab(error: &ErrorKind, at: usize, text: &str) -> Option<usize> {
    let of_tabs = matches!(
        error,
        ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabNotAllowed
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    );
    let start = line_start(text, at.min(text.len()));
    let indentation = |start: usize| {
        let line = &text[start..line_end(text, start)];
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..blanks].find('\t').map(|tab| start + tab)
    };
    if let Some(tab) = indentation(start) {
        return Some(tab);
    }
    of_tabs.then(|| text[start..].find('\t').map(|tab| start + tab)).flatten()
}

/// The characters in `text[start..end]` that look like nothing or like a blank.
pub(super) fn invisible_in(text: &str, start: usize, end: usize) -> Option<(usize, char)> {
    text[start..end].char_indices().find(|(_, character)| is_invisible(*character)).map(|(at, c)| (start + at, c))
}

fn alias_name(context: &Context<'_>, alias: Span) -> String {
    let name = context.text.get(alias.start() - context.base..alias.end() - context.base).unwrap_or("");
    name.trim_start_matches('*').to_owned()
}

/// The quote that opened the scalar that ended before `at`.
fn quote_before(context: &Context<'_>, at: usize) -> Option<(usize, usize)> {
    let from = context.last_scalar.map_or(0, |span| span.end() - context.base).min(at);
    let quote = context.text[from..at].find(['"', '\''])?;
    Some((from + quote, from + quote + 1))
}

/// From `start` to the end of the line, without a comment and blanks at its end.
fn to_line_end(context: &Context<'_>, start: usize) -> Span {
    let line = &context.text[start..line_end(context.text, start)];
    let line = line.find(" #").map_or(line, |comment| &line[..comment]);
    Span::new(start, start + line.trim_end().len()).shifted(context.base)
}

/// From `start` to the end of the entry: in brackets to the next comma or bracket.
fn to_token_end(context: &Context<'_>, start: usize) -> Span {
    let line = to_line_end(context, start);
    if context.open_bracket.is_none() {
        return line;
    }
    let text = &context.text[start..line.end() - context.base];
    let end = text.find([',', ']', '}']).unwrap_or(text.len());
    Span::new(line.start(), line.start() + text[..end].trim_end().len())
}

/// The first escape in the double quoted scalar at `start` that is none, backslash included: with all of its digits if it
/// is whole but stands for no character.
fn bad_escape(text: &str, start: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    let mut digits = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let length = match bytes.get(at + 1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(escape) if b"0abt\tnvfre \"/\\N_LP\n\r".contains(escape) => 0,
            _ => break,
        };
        let code = text.get(at + 2..at + 2 + length).unwrap_or("");
        let number = if length == 0 { Ok(0) } else { u32::from_str_radix(code, 16) };
        match number {
            // A high surrogate is fine before a low one.
            Ok(0xd800..=0xdbff) if text.get(at + 6..at + 9).is_some_and(|next| next.eq_ignore_ascii_case("\\ud")) => {
                at += 12;
            }
            Ok(number) if char::from_u32(number).is_some() => at += 2 + length,
            number => {
                digits = number.map_or(0, |_| length);
                break;
            }
        }
    }
    let end = text[at.min(text.len())..].chars().take(2 + digits).map(char::len_utf8).sum::<usize>();
    (at.min(text.len()), (at + end).min(text.len()))
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at.min(text.len())]).map_or(0, |end| end + 1)
}

pub(super) fn line_end(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    memchr::memchr2(b'\n', b'\r', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length)
}

/// Whether only blanks and dashes stand before `at` on its line.
fn starts_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at.min(text.len())].bytes().all(|byte| byte == b' ')
}
