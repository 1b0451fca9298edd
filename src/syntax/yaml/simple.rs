//! A short cut for frontmatter as most forks have it: `key: some words`, lists of words, and nothing else.
//!
//! Reading such text with the parser takes longer than everything else that a check does with a file. What is read here
//! is read exactly as the parser reads it, which a test holds this to. For all else there is no tree, and the parser is
//! asked: comments, quotes, blank lines, characters beyond ASCII, and everything that is not as it should be.

use super::tree::{Entry, Layout, Node, Scalar, Style, Value};
use crate::text::Span;

/// Longer texts are left to the parser, which counts nodes.
const LONGEST: usize = 4096;

/// The tree of `text`, which begins at `base`, if it is that simple.
pub(super) fn read(text: &str, base: usize) -> Option<Node> {
    if text.len() > LONGEST || !text.ends_with('\n') {
        return None;
    }
    let text = Text { text, base };
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(line) = text.line(at) {
        let next = at + line.len() + 1;
        let (key, words) = text.key(line, at)?;
        let (value, end) = if words.is_empty() {
            text.list(next)?
        } else {
            let start = next - 1 - words.len();
            (text.flow_list(words, start).or_else(|| text.scalar(words, start))?, next)
        };
        entries.push(Entry { key, value });
        at = end;
    }
    let span = entries.first()?.key.span.to(entries.last()?.value.span);
    Some(Node { span, alias: None, value: Value::Map(entries, Layout::Block) })
}

#[derive(Clone, Copy)]
struct Text<'a> {
    text: &'a str,
    base: usize,
}

impl<'a> Text<'a> {
    /// The line that begins at `at`, without its end.
    fn line(self, at: usize) -> Option<&'a str> {
        let rest = &self.text[at..];
        memchr::memchr(b'\n', rest.as_bytes()).map(|end| &rest[..end])
    }

    /// The key that a line begins with, and what follows its colon and the blank behind it.
    fn key(self, line: &'a str, at: usize) -> Option<(Node, &'a str)> {
        let length = line.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let words = line[length..].strip_prefix(':')?;
        let words =
            if words.is_empty() { words } else { words.strip_prefix(' ').filter(|words| !words.is_empty())? };
        (1..=64).contains(&length).then(|| (self.node(&line[..length], at), words))
    }

    /// The indented list whose first line begins at `at`, and where the line below it begins.
    fn list(self, mut at: usize) -> Option<(Node, usize)> {
        let mut items: Vec<Node> = Vec::new();
        let (mut first, mut indentation) = (0, 0);
        while let Some(line) = self.line(at).filter(|line| line.starts_with(' ')) {
            let words = line.trim_start_matches(' ').strip_prefix("- ")?;
            let start = at + line.len() - words.len();
            let indent = start - at;
            if items.is_empty() {
                (first, indentation) = (start - 2, indent);
            }
            if indent != indentation {
                return None;
            }
            items.push(self.pair(words, start).or_else(|| self.scalar(words, start))?);
            at += line.len() + 1;
        }
        let span = Span::new(first, first).shifted(self.base).to(items.last()?.span);
        Some((Node { span, alias: None, value: Value::List(items, Layout::Block) }, at))
    }

    /// `key: words`
    fn pair(self, words: &'a str, at: usize) -> Option<Node> {
        let (key, value) = self.key(words, at).filter(|(_, value)| !value.is_empty())?;
        let value = self.scalar(value, at + words.len() - value.len())?;
        let span = key.span.to(value.span);
        Some(Node { span, alias: None, value: Value::Map(vec![Entry { key, value }], Layout::Block) })
    }

    /// `[one, two]`
    fn flow_list(self, words: &'a str, at: usize) -> Option<Node> {
        let inside = words.strip_prefix('[')?.strip_suffix(']')?;
        let mut items = Vec::new();
        let mut start = at + 1;
        for piece in inside.split(',') {
            let word = piece.trim_matches(' ');
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'/';
            if word.is_empty() || !word.bytes().all(is_word) {
                return None;
            }
            items.push(self.node(word, start + piece.len() - piece.trim_start_matches(' ').len()));
            start += piece.len() + 1;
        }
        let span = Span::new(at, at + words.len()).shifted(self.base);
        Some(Node { span, alias: None, value: Value::List(items, Layout::Flow) })
    }

    /// Words that can be nothing but a text without quotes: no colon, no hash sign, nothing odd at either end.
    fn scalar(self, words: &'a str, at: usize) -> Option<Node> {
        let bytes = words.as_bytes();
        let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b':' | b'#'));
        let is_whole = bytes.first()?.is_ascii_alphanumeric() && bytes.last() != Some(&b' ');
        (is_plain && is_whole).then(|| self.node(words, at))
    }

    fn node(self, words: &str, at: usize) -> Node {
        let span = Span::new(at, at + words.len()).shifted(self.base);
        let scalar = Scalar { text: words.to_owned(), style: Style::Plain };
        Node { span, alias: None, value: Value::Scalar(scalar) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::build::{Limits, build};
    use super::*;

    const LINES: [&str; 24] = [
        "fork: true",
        "description: Keep the log - and 'this', [that] {too} & more!",
        "run_on:",
        "  - idle: 15m",
        "  - context_used: 80%",
        "  - idle",
        "   - odd",
        "- unindented",
        "    more",
        "run_on: idle",
        "tags: [ci, notes,a/b ]",
        "tags: [ci, notes, ]",
        "tags: []",
        "tags: [1, [2]]",
        "after: draft, polish",
        "throttle: 30m ",
        "x:  two",
        "x:",
        "x: -",
        "x: - y",
        "x: a: b",
        "x: y # z",
        "? x",
        "",
    ];

    /// Lines of frontmatter, most of them simple, one of them perhaps with something odd in it.
    fn text() -> impl Strategy<Value = String> {
        let lines = prop::collection::vec(prop::sample::select(LINES.to_vec()), 1..8);
        let odd =
            prop::option::of((any::<prop::sample::Index>(), "[ \\-:,\\[\\]{}#&*!|>'\"%@`?~.a1\t\r\u{e9}\u{a0}]"));
        (lines, odd).prop_map(|(lines, odd)| {
            let mut text = format!("{}\n", lines.join("\n"));
            if let Some((at, odd)) = odd {
                text.insert_str(at.index(text.len()), &odd);
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_here_is_read_as_the_parser_reads_it(text in text()) {
            if let Some(root) = read(&text, 4) {
                let built = build(&text, 4, Limits::default()).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
                prop_assert_eq!(Some(root), built.root);
                prop_assert!(built.comments.is_empty() && built.unknown_aliases.is_empty());
            }
        }
    }

    #[test]
    fn what_most_forks_say_is_simple_and_little_else_is() {
        for text in [
            "fork: true\n",
            "fork: true\ndescription: Keep it current\nrun_on:\n  - idle: 20m\n  - context_used: 80%\ntags: [ci, notes]\n",
            "run_on:\n    - idle\nafter: draft, polish\n",
        ] {
            assert!(read(text, 0).is_some(), "{text}");
        }
        for text in
            ["", "fork: true", "fork: \"x\"\n", "fork: true # why\n", "run_on:\n- idle\n", "a:\n", "é: x\n", "x\n"]
        {
            assert!(read(text, 0).is_none(), "{text}");
        }
    }
}
