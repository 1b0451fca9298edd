//! What a body says it reads, writes and spawns.
//!
//! Only a few plain phrases are understood, all else is silent: a missed file is a smaller evil than a wrong report.
//!
//! - A link `[text](path)` is read, and so is the target of a reference `[text]: path`.
//! - After one of [`READ`] and nothing but small words, a path is read; so it is when a preposition leads to it and at
//!   most two other words stand between, none of which begins something new.
//! - After one of [`WRITE`] a path is written, if small words or a preposition lead to it.
//! - One of [`SPAWN`] and then, within three words, one of [`AGENTS`] is a demand to spawn agents, unless the sentence
//!   forbids it.

use memchr::memmem;

use crate::syntax::envelope::lines;
use crate::text::Span;

/// Verbs before a file that is read.
pub(crate) const READ: [&str; 8] = ["read", "reread", "re-read", "load", "follow", "consult", "open", "study"];

/// Verbs before a file that is written.
pub(crate) const WRITE: [&str; 18] = [
    "write", "add", "append", "save", "update", "bring", "put", "record", "create", "log", "note", "store", "edit",
    "sort", "tidy", "rewrite", "replace", "extend",
];

/// Verbs before agents that are spawned.
pub(crate) const SPAWN: [&str; 8] = ["spawn", "launch", "start", "dispatch", "fork", "delegate", "use", "run"];

/// What is spawned.
pub(crate) const AGENTS: [&str; 8] =
    ["agent", "agents", "subagent", "subagents", "sub-agent", "sub-agents", "task tool", "agent tool"];

/// Words that may stand between a verb and its file.
const SMALL: [&str; 26] = [
    "the",
    "a",
    "an",
    "file",
    "files",
    "in",
    "at",
    "from",
    "of",
    "first",
    "then",
    "your",
    "our",
    "my",
    "its",
    "both",
    "all",
    "and",
    "or",
    "also",
    "again",
    "project's",
    "contents",
    "everything",
    "with",
    "plus",
];

/// Words right before a file that is written.
const TOWARDS: [&str; 5] = ["to", "into", "in", "at", "as"];

/// Words right before a file that is read.
const WITHIN: [&str; 4] = ["in", "from", "at", "of"];

/// Words with which something new begins.
const THEN: [&str; 5] = ["and", "then", "or", "but", "to"];

/// Words that turn a demand into its opposite.
const NOT: [&str; 5] = ["not", "never", "don't", "without", "no"];

/// What a body says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mentions {
    /// Paths that are read, with their places in the file.
    pub(crate) reads: Vec<(String, Span)>,
    /// Paths that are written, with their places in the file.
    pub(crate) writes: Vec<(String, Span)>,
    /// Demands to spawn agents.
    pub(crate) spawns: Vec<Span>,
}

/// Looks through the body of a file. Only sentences with a path or an agent in them are read word by word.
pub(crate) fn mentions(text: &str, body: Span) -> Mentions {
    let mut found = Mentions::default();
    let code = code_blocks(text, body);
    links(text, body, &code, &mut found);
    let mut done = body.start();
    for at in candidates(body.of(text)).map(|at| at + body.start()) {
        if at < done || is_in(&code, at) {
            continue;
        }
        let start = sentence_start(text, done, at);
        let end = sentence_end(text, body.end(), at);
        Sentence::default().words(&text[start..end], start, &mut found);
        done = end;
    }
    // There may be thousands of these.
    found.reads.shrink_to_fit();
    found.writes.shrink_to_fit();
    found
}

/// Where a path or an agent may be: at a full stop inside of a word, and at the ends of the words that agents go by.
fn candidates(body: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = body.as_bytes();
    let inside = |at: usize| {
        bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) && at > 0 && !bytes[at - 1].is_ascii_whitespace()
    };
    let mut stops = body.match_indices('.').map(|(at, _)| at).filter(move |at| inside(*at)).peekable();
    let mut agents = memmem::find_iter(bytes, "gent").peekable();
    let mut tools = memmem::find_iter(bytes, " tool").peekable();
    std::iter::from_fn(move || {
        let next = [stops.peek(), agents.peek(), tools.peek()].into_iter().flatten().min().copied()?;
        stops.next_if_eq(&next);
        agents.next_if_eq(&next);
        tools.next_if_eq(&next);
        Some(next)
    })
}

/// Fenced code, in which nothing is said to anybody.
fn code_blocks(text: &str, body: Span) -> Vec<Span> {
    let mut blocks = Vec::new();
    if memmem::find(body.of(text).as_bytes(), b"```").is_none() {
        return blocks;
    }
    let mut open = None;
    for line in lines(text, body).filter(|line| line.of(text).trim_start().starts_with("```")) {
        match open.take() {
            Some(start) => blocks.push(Span::new(start, line.start())),
            None => open = Some(line.start()),
        }
    }
    blocks.extend(open.map(|start| Span::new(start, body.end())));
    blocks
}

/// Whether a place is inside of one of some blocks, which are in order.
fn is_in(blocks: &[Span], at: usize) -> bool {
    let after = blocks.partition_point(|block| block.start() <= at);
    after > 0 && blocks[after - 1].contains(at)
}

/// Whether a line is an item, a heading or a quotation, with which something new begins.
fn begins_anew(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with(['#', '-', '*', '>', '\n', '\r'])
}

/// The start of the sentence that `at` is in, not before `from`.
fn sentence_start(text: &str, from: usize, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > from {
        let before = bytes[start - 1];
        if matches!(before, b'\n' | b'\r') && begins_anew(&text[start..]) {
            break;
        }
        let stop = start >= 2 && matches!(bytes[start - 2], b'.' | b'!' | b'?');
        if before.is_ascii_whitespace() && stop && text.is_char_boundary(start) {
            break;
        }
        start -= 1;
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    start
}

/// The end of the sentence that `at` is in, not after `to`.
fn sentence_end(text: &str, to: usize, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    while end < to {
        let stop = matches!(bytes[end], b'.' | b'!' | b'?');
        if stop && bytes.get(end + 1).is_none_or(u8::is_ascii_whitespace) {
            return end + 1;
        }
        if matches!(bytes[end], b'\n' | b'\r') && begins_anew(&text[end + 1..to]) {
            return end;
        }
        end += 1;
    }
    to
}

/// The targets of links, and of references on lines of their own.
fn links(text: &str, body: Span, code: &[Span], found: &mut Mentions) {
    let bytes = body.of(text).as_bytes();
    if memmem::find(bytes, b"](").is_none() && memmem::find(bytes, b"]:").is_none() {
        return;
    }
    for line in lines(text, body).filter(|line| !is_in(code, line.start())) {
        let words = line.of(text);
        let mut in_code = false;
        let mut counted = 0;
        for at in memmem::find_iter(words.as_bytes(), "](") {
            in_code ^= words[counted..at].bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
            counted = at;
            let open = at + 2;
            let near = &words[open..floor(words, open + MAX_TARGET)];
            if let Some(close) = near.find(')').filter(|_| !in_code) {
                target(&near[..close], line.start() + open, found);
            }
        }
        let reference = words.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
        if let Some((_, rest)) = reference {
            let blanks = rest.len() - rest.trim_start().len();
            target(rest.trim(), line.end() - rest.len() + blanks, found);
        }
    }
}

/// A target is not longer than this.
const MAX_TARGET: usize = 1024;

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The target of a link, which starts at `start`; a title may follow it.
fn target(words: &str, start: usize, found: &mut Mentions) {
    let (target, start) = match words.strip_prefix('<').and_then(|words| words.split_once('>')) {
        Some((target, _)) => (target, start + 1),
        None => (words.split([' ', '\t']).next().unwrap_or(""), start),
    };
    let path = target.split(['#', '?']).next().unwrap_or("");
    if is_local(path) {
        found.reads.push((path.replace("%20", " "), Span::new(start, start + target.len())));
    }
}

/// Whether a path is one below the project or the fork's folder, and no pattern.
fn is_local(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with(['/', '~', '#', '<'])
        && !path.contains(['*', '<', '>', '{', '}', '$', '|', '\\'])
        // A scheme, such as `mailto:`; a colon further behind is part of a name.
        && !path.split('/').next().is_some_and(|first| first.contains(':'))
}

/// The words of a sentence so far.
#[derive(Default)]
struct Sentence<'a> {
    verb: Option<(Verb, usize)>,
    /// Words since the verb, small ones left out.
    others: usize,
    /// Whether something new began since the verb.
    moved_on: bool,
    negated: bool,
    spawn: Option<(usize, usize)>,
    last: &'a str,
}

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Read,
    Write,
}

impl<'a> Sentence<'a> {
    fn words(&mut self, sentence: &'a str, start: usize, found: &mut Mentions) {
        let mut at = 0;
        for piece in sentence.split([' ', '\t', '\n', '\r', '(', ')', '[', ']']) {
            let offset = at;
            at += piece.len() + 1;
            if !piece.is_empty() {
                self.word(piece, start + offset, found);
            }
        }
    }

    fn word(&mut self, piece: &'a str, offset: usize, found: &mut Mentions) {
        let trimmed = piece.trim_start_matches(['`', '"', '\'', '*', '_']);
        let lead = piece.len() - trimmed.len();
        let word = trimmed.trim_end_matches(['`', '"', '\'', '*', '_', ',', ';', ':', '.', '!', '?']);
        let span = Span::new(offset + lead, offset + lead + word.len());
        let lower = word.to_ascii_lowercase();
        if is_path(word) {
            self.path(word, span, found);
        } else if READ.contains(&lower.as_str()) {
            self.verb = Some((Verb::Read, offset));
            (self.others, self.moved_on) = (0, false);
        } else if WRITE.contains(&lower.as_str()) {
            self.verb = Some((Verb::Write, offset));
            self.others = 0;
        } else if !SMALL.contains(&lower.as_str()) {
            self.others += 1;
        }
        self.moved_on |= THEN.contains(&lower.as_str()) || piece.ends_with([',', ';', ':']);
        self.agents(&lower, span, found);
        self.negated |= NOT.contains(&lower.as_str());
        self.last = word;
    }

    fn path(&mut self, word: &str, span: Span, found: &mut Mentions) {
        let path = word.strip_prefix("./").unwrap_or(word).to_owned();
        let last = self.last.to_ascii_lowercase();
        let (towards, within) = (TOWARDS.contains(&last.as_str()), WITHIN.contains(&last.as_str()));
        match self.verb {
            _ if self.negated => {}
            Some((Verb::Read, _)) if self.others == 0 => found.reads.push((path, span)),
            Some((Verb::Read, _)) if self.others <= 2 && !self.moved_on && within => found.reads.push((path, span)),
            Some((Verb::Write, _)) if self.others == 0 || towards => found.writes.push((path, span)),
            _ => {}
        }
    }

    fn agents(&mut self, lower: &str, span: Span, found: &mut Mentions) {
        if let Some((start, words)) = self.spawn {
            let pair = format!("{} {lower}", self.last.to_ascii_lowercase());
            if AGENTS.contains(&lower) || AGENTS.contains(&pair.as_str()) {
                found.spawns.push(Span::new(start, span.end()));
                self.spawn = None;
            } else {
                self.spawn = (words < 3).then_some((start, words + 1));
            }
        }
        if SPAWN.contains(&lower) && !self.negated {
            self.spawn = Some((span.start(), 0));
        }
    }
}

/// Whether a word is the path of a file: it has an extension, and what is before it is no number.
fn is_path(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    let name = stem.rsplit('/').next().unwrap_or(stem);
    is_local(word)
        && !name.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        // `e.g` and `i.e` are no files, nor are addresses.
        && !(name.len() == 1 && extension.len() == 1)
        && !word.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<String>, Vec<String>, usize) {
        let found = mentions(text, Span::new(0, text.len()));
        let paths = |paths: Vec<(String, Span)>| paths.into_iter().map(|(path, _)| path).collect();
        (paths(found.reads), paths(found.writes), found.spawns.len())
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn plain_phrases_are_understood() {
        assert_eq!(found("Read notes/style.md and `TODO.md`."), (words(&["notes/style.md", "TODO.md"]), vec![], 0));
        assert_eq!(found("Read the session and bring LOG.md up to date."), (vec![], words(&["LOG.md"]), 0));
        assert_eq!(found("Write one line for each change to CHANGES.md."), (vec![], words(&["CHANGES.md"]), 0));
        assert_eq!(found("Follow the rules in RULES.md."), (words(&["RULES.md"]), vec![], 0));
        assert_eq!(found("See [the list][1].\n\n[1]: <a b.md>\n"), (words(&["a b.md"]), vec![], 0));
        assert_eq!(found("See [the list](lists/a%20b.md#top \"T\")."), (words(&["lists/a b.md"]), vec![], 0));
    }

    #[test]
    fn all_else_is_silent() {
        for text in [
            "The file OLD.md was nice.",
            "Read the talk, then tell what NEW.md could be.",
            "Never write to LOG.md.",
            "Read the conversation and tell in OUT.md what it was.",
            "Mail [me](mailto:a@b.md) or [see](data:x).",
            "See https://example.com/a.md and [it](https://example.com).",
            "```\nRead a.md\n```",
            "Write about version 1.2 and e.g. that.",
            "Read `notes/*.md`.",
        ] {
            assert_eq!(found(text), (vec![], vec![], 0), "{text}");
        }
    }

    #[test]
    fn agents_are_noticed_unless_they_are_forbidden() {
        assert_eq!(found("Spawn one subagent for each question.").2, 1);
        assert_eq!(found("Use the Task tool to look around.").2, 1);
        assert_eq!(found("Do not spawn agents.").2, 0);
        assert_eq!(found("Start with what the last agent wrote.").2, 0);
    }
}
