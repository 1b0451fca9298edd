//! The part of a configuration that the cursor is in, read from the text: while somebody types it is mostly no TOML yet.

use autofork::text::{BYTE_ORDER_MARK, Span};

use super::Cursor;
use crate::requests::settings;

/// Where in a configuration a place is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// In the comment that begins here.
    Comment(usize),
    /// In the name of a table, whose bracket stands here.
    Header(usize),
    /// In a key, or where one may begin.
    Key,
    /// In the value of a setting.
    Value(Setting<'a>),
}

/// A setting whose value a place is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) key: &'a str,
    /// Where the value begins, blanks included.
    pub(super) value: usize,
    /// Where the item of a list begins; else the same.
    start: usize,
    /// How many brackets are open.
    pub(super) depth: usize,
    /// The quote that is open, and whether there are three of it.
    quote: Option<(char, bool)>,
    /// The item is over: its quote or its bracket was closed.
    is_over: bool,
}

/// Where the end of a text is, or would be if more followed.
pub(super) fn place(text: &str, to: usize) -> Place<'_> {
    let mut place = Place::Key;
    // The setting whose list a comment stands in.
    let mut list: Option<Setting<'_>> = None;
    let mut key = None;
    let mut key_quote = None;
    let mut skip = 0;
    for (at, c) in text[..to].char_indices() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if matches!(c, '\n' | '\r') {
            let rest = &text[at + 1..];
            let open = match (place, list.take()) {
                (Place::Value(setting), _) => setting.goes_on(rest),
                (Place::Comment(from), Some(list)) => list.goes_on_behind(text, from, at + 1),
                _ => None,
            };
            place = open.map_or(Place::Key, Place::Value);
            (key, key_quote) = (None, None);
            continue;
        }
        match &mut place {
            Place::Comment(_) => {}
            Place::Header(start) => {
                if c == '#' && text[*start..at].contains(']') {
                    place = Place::Comment(at);
                }
            }
            Place::Key => match (c, key, key_quote) {
                (c, _, Some(quote)) if c == quote => key_quote = None,
                (_, _, Some(_)) => {}
                ('#', ..) => place = Place::Comment(at),
                ('[', None, _) => place = Place::Header(at),
                ('=', Some(start), _) => place = Place::Value(Setting::new(&text[start..at], at + 1)),
                (c, ..) => {
                    key_quote = matches!(c, '"' | '\'').then_some(c);
                    key = key.or((!c.is_whitespace() && c != BYTE_ORDER_MARK).then_some(at));
                }
            },
            Place::Value(setting) if setting.quote.is_none() && c == '#' => {
                list = Some(*setting).filter(|setting| setting.depth > 0);
                place = Place::Comment(at);
            }
            Place::Value(setting) => skip = setting.take(c, text, at),
        }
    }
    place
}

/// Whether a line sets something: then a list above was left open.
fn begins_setting(rest: &str) -> bool {
    let line = rest.split(['\n', '\r']).next().unwrap_or(rest).trim();
    let is_bare = |word: &str| {
        let word = word.trim();
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let header = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    line.split_once('=').is_some_and(|(key, _)| is_bare(key)) || header.is_some_and(|(name, _)| is_bare(name))
}

impl<'a> Setting<'a> {
    fn new(key: &'a str, value: usize) -> Self {
        let key = key.trim().trim_matches(['"', '\'']);
        Self { key, value, start: value, depth: 0, quote: None, is_over: false }
    }

    /// What is left of it on the next line.
    fn goes_on(self, rest: &str) -> Option<Self> {
        match self.quote {
            Some((_, true)) => Some(self),
            _ if self.depth == 0 || begins_setting(rest) => None,
            Some(_) => Some(Self { quote: None, is_over: true, ..self }),
            None => Some(self),
        }
    }

    /// What is left of it on the line behind a comment. Where there was nothing but that, the item begins behind it.
    fn goes_on_behind(self, text: &str, comment: usize, end: usize) -> Option<Self> {
        let is_fresh = text[self.start..comment].trim().is_empty();
        self.goes_on(&text[end..]).map(|setting| if is_fresh { Self { start: end, ..setting } } else { setting })
    }

    /// Takes one more character; how many of the next say nothing more.
    fn take(&mut self, c: char, text: &str, at: usize) -> usize {
        let end = at + c.len_utf8();
        let thrice = || text[end..].starts_with([c, c].iter().collect::<String>().as_str());
        if let Some((quote, is_long)) = self.quote {
            if c == '\\' && quote == '"' {
                return 1;
            }
            if c == quote && (!is_long || thrice()) {
                (self.quote, self.is_over) = (None, true);
                return if is_long { 2 } else { 0 };
            }
            return 0;
        }
        let is_fresh = text[self.start..at].trim().is_empty();
        match c {
            '"' | '\'' if is_fresh => {
                let is_long = thrice();
                (self.quote, self.start) = (Some((c, is_long)), end);
                return if is_long { 2 } else { 0 };
            }
            '[' | '{' if is_fresh || self.depth > 0 => {
                self.depth += 1;
                (self.start, self.is_over) = (end, false);
            }
            ']' | '}' if self.depth > 0 => {
                self.depth -= 1;
                self.is_over = true;
            }
            ',' if self.depth > 0 => (self.start, self.is_over) = (end, false),
            _ => {}
        }
        0
    }
}

/// The value, or the item of a list, that the cursor is in.
pub(super) struct Part {
    /// All of it, without its quotes.
    pub(super) span: Span,
    pub(super) is_quoted: bool,
    /// What is missing behind it.
    pub(super) closing: &'static str,
    /// The blank that is missing before it.
    pub(super) gap: &'static str,
    /// Where the setting ends, as far as that can be told.
    pub(super) end: usize,
}

/// What the cursor is in. None behind what is over and in front of a quote or a bracket; none in a text in single
/// quotes, where not everything can be said.
pub(super) fn part(setting: &Setting<'_>, cursor: &Cursor<'_>) -> Option<Part> {
    let (text, after) = (cursor.text, cursor.after());
    let words = &text[setting.start..cursor.offset];
    let typed = if setting.quote.is_some() { words } else { words.trim_start() };
    let start = cursor.offset - typed.len();
    let is_quoted = setting.quote == Some(('"', false));
    if setting.is_over || start < cursor.line.start() || setting.quote.is_some() != is_quoted {
        return None;
    }
    if !is_quoted && typed.is_empty() && after.starts_with(['"', '\'', '[', '{']) {
        return None;
    }
    let ends: &[char] = if is_quoted { &['"', ','] } else { &[',', ']', '}', '#', '"', '\''] };
    let is_before = !is_quoted && typed.is_empty() && after.starts_with(char::is_whitespace);
    let length = if is_before { 0 } else { after[..after.find(ends).unwrap_or(after.len())].trim_end().len() };
    let span = Span::new(start, cursor.offset + length);
    let behind = &text[span.end()..];
    let mut lines = settings::lines(text).filter(|line| line.start() > cursor.offset);
    let end = lines.find(|line| begins_setting(&text[line.start()..])).map_or(text.len(), Span::start);
    let is_closed = is_quoted && behind.starts_with('"');
    let next = text.get(span.end() + usize::from(is_closed)..end).unwrap_or_default();
    let needs_comma = setting.depth > 0 && super::item::misses_comma(next);
    let closing = match (is_closed, needs_comma) {
        // Behind the quote that is there nothing can be put.
        (true, _) => "",
        (false, true) => "\",",
        (false, false) => "\"",
    };
    let gap = if start == setting.value { " " } else { "" };
    Some(Part { span, is_quoted, closing, gap, end })
}
