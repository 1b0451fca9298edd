//! The part of a value that the cursor is in, read from the text: while somebody types it is mostly no YAML yet.

use autofork::compile::spell;
use autofork::text::Span;

use super::Cursor;

/// What a value is up to the cursor.
pub(super) struct Scan {
    /// How many brackets are open.
    pub(super) depth: usize,
    /// The quote that is open.
    pub(super) quote: Option<char>,
    /// Where the comment begins that the cursor is in.
    pub(super) comment: Option<usize>,
    /// Where the item begins, blanks included.
    start: usize,
    /// The item is over: its quote or its bracket was closed.
    is_over: bool,
    /// What the line began with.
    line: Line,
    /// The item is one of several in a text with commas.
    is_part: bool,
}

/// What a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Key,
    Dash,
    Words,
}

/// Reads the value that begins at `from`.
pub(super) fn scan(text: &str, from: usize, to: usize) -> Scan {
    let mut scan =
        Scan { depth: 0, quote: None, comment: None, start: from, is_over: false, line: Line::Key, is_part: false };
    let mut previous = ' ';
    let mut skipped = false;
    for (at, c) in text[from..to].char_indices().map(|(at, c)| (from + at, c)) {
        if std::mem::take(&mut skipped) {
            continue;
        }
        let end = at + c.len_utf8();
        let before = std::mem::replace(&mut previous, c);
        if matches!(c, '\n' | '\r') {
            // Where there was nothing but the comment, the item begins behind it.
            let comment = scan.comment.take();
            if scan.depth > 0 && comment.is_some_and(|at| text[scan.start..at].trim().is_empty()) {
                scan.start = end;
                continue;
            }
        }
        if scan.comment.is_some() {
            continue;
        }
        if let Some(quote) = scan.quote {
            skipped = (c == '\\' && quote == '"') || (c == '\'' && quote == c && text[end..].starts_with(c));
            scan.in_quote(c, end, skipped);
            continue;
        }
        let is_fresh = text[scan.start..at].trim().is_empty();
        match c {
            '#' if before.is_whitespace() => scan.comment = Some(at),
            '-' if is_fresh && scan.is_at_dash(&text[end..], end == to) => {
                (scan.line, scan.start) = (Line::Dash, end);
            }
            _ => scan.in_plain(c, end, is_fresh),
        }
    }
    scan
}

impl Scan {
    fn in_quote(&mut self, c: char, end: usize, is_escape: bool) {
        if self.quote == Some(c) && !is_escape {
            (self.quote, self.is_over) = (None, true);
        } else if c == ',' {
            self.start = end;
        }
    }

    fn is_at_dash(&self, rest: &str, is_last: bool) -> bool {
        self.depth == 0 && self.line != Line::Key && (is_last || rest.starts_with([' ', '\t', '\n', '\r']))
    }

    fn in_plain(&mut self, c: char, end: usize, is_fresh: bool) {
        match c {
            '"' | '\'' if is_fresh => (self.quote, self.start) = (Some(c), end),
            '[' | '{' if is_fresh || self.depth > 0 => {
                self.depth += 1;
                (self.start, self.is_over) = (end, false);
            }
            ']' | '}' if self.depth > 0 => {
                self.depth -= 1;
                self.is_over = true;
            }
            ',' => {
                self.is_part |= self.depth == 0;
                (self.start, self.is_over) = (end, false);
            }
            '\n' | '\r' if self.depth == 0 => {
                (self.start, self.is_over) = (end, false);
                (self.line, self.is_part) = (Line::Words, false);
            }
            _ => {}
        }
    }
}

/// How an item is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The whole value, where a list still needs its brackets.
    Alone,
    /// Between brackets; true where the next item needs a comma in front of it.
    Listed(bool),
    /// One of several in a text with commas.
    Part,
    /// Behind a dash.
    Dashed,
    /// On a line of its own, where its dash is missing.
    Bare,
}

/// The item of a value that the cursor is in.
pub(super) struct Item<'a> {
    /// What is typed of it, up to the cursor and without a quote in front.
    pub(super) typed: &'a str,
    /// All of it, without its quotes.
    pub(super) span: Span,
    /// The quote that it stands in.
    pub(super) quote: Option<char>,
    /// The blank that is missing before it.
    pub(super) gap: &'static str,
    form: Form,
}

/// The item at the cursor in the value at `value`. None behind one that is over, none in front of a quote or a bracket,
/// and none if it began on another line.
pub(super) fn item<'a>(cursor: &Cursor<'a>, value: Span, scan: &Scan) -> Option<Item<'a>> {
    let text = cursor.text;
    let typed = text[scan.start..cursor.offset].trim_start();
    let start = cursor.offset - typed.len();
    let after = cursor.after();
    if scan.is_over || scan.comment.is_some() || start < cursor.line.start() {
        return None;
    }
    if scan.quote.is_none() && typed.is_empty() && after.starts_with(['[', '{', '"', '\'']) {
        return None;
    }
    let is_before = typed.is_empty() && after.starts_with(char::is_whitespace);
    let next = after.trim_start();
    if is_before && scan.quote.is_none() && scan.depth == 0 && !next.is_empty() && !next.starts_with('#') {
        return None;
    }
    let length = if is_before { 0 } else { rest(after, scan) };
    let whole = Span::new(start, cursor.offset + length);
    let behind = Span::new(whole.end(), value.end().max(whole.end())).of(text);
    let is_part = scan.is_part || behind.trim_start_matches([' ', '\t']).starts_with(',');
    let form = match () {
        () if scan.depth > 0 => Form::Listed(misses_comma(behind)),
        () if is_part => Form::Part,
        () if scan.line == Line::Dash => Form::Dashed,
        () if scan.line == Line::Key => Form::Alone,
        () => Form::Bare,
    };
    // In front of a dash.
    if form == Form::Bare && text[start..].trim_start_matches([' ', '\t']).starts_with('-') {
        return None;
    }
    // The value is on the lines below.
    let mut below = behind.split(['\n', '\r']).skip(1).filter(|line| !line.trim().is_empty());
    if form == Form::Alone && below.next().is_some_and(|line| line.starts_with([' ', '\t', '-'])) {
        return None;
    }
    let needs_gap = start == scan.start && (scan.line == Line::Dash || start == value.start()) && scan.depth == 0;
    let gap = if needs_gap && scan.quote.is_none() && !scan.is_part { " " } else { "" };
    Some(Item { typed, span: whole, quote: scan.quote, gap, form })
}

/// How much of an item lies behind the cursor.
fn rest(after: &str, scan: &Scan) -> usize {
    let ends = |at: usize, c: char| match (scan.quote, c) {
        (_, ',') => true,
        (Some(quote), c) => c == quote,
        (None, '#') => after[..at].ends_with([' ', '\t']),
        (None, c) => scan.depth > 0 && matches!(c, '[' | ']' | '{' | '}'),
    };
    let end = after.char_indices().find(|(at, c)| ends(*at, *c)).map_or(after.len(), |(at, _)| at);
    after[..end].trim_end().len()
}

/// Whether what follows an item between brackets is another one, with no comma in front.
pub(super) fn misses_comma(behind: &str) -> bool {
    let lines = behind.split(['\n', '\r']).map(str::trim_start);
    let next = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    next.is_some_and(|next| !next.starts_with([',', ']', '}']))
}

impl Item<'_> {
    /// Whether it is the whole value, on the line of its key.
    pub(super) fn is_whole(&self) -> bool {
        self.form == Form::Alone
    }

    /// A name in place of the item, in quotes where it needs them.
    pub(super) fn spelt(&self, name: &str) -> String {
        match (self.quote, self.form) {
            (Some('"'), _) => name.replace('\\', r"\\").replace('"', "\\\""),
            (Some(_), _) => name.replace('\'', "''"),
            (None, Form::Part) => format!("{}{name}", self.gap),
            (None, _) => self.wrap(&spell(name)),
        }
    }

    /// What is to stand in place of the item, with what a list needs around it.
    pub(super) fn wrap(&self, words: &str) -> String {
        let gap = self.gap;
        match self.form {
            Form::Alone => format!("{gap}[{words}]"),
            Form::Listed(true) => format!("{words},"),
            Form::Bare => format!("- {words}"),
            _ => format!("{gap}{words}"),
        }
    }
}
