//! The canonical form of a frontmatter: keys in one order, lists in one style. Comments stay with what they are about;
//! nothing else is touched, and what the fork comes to never changes.
//!
//! What cannot be brought into that form without doubt is left as it is: files with faults, with anchors, or with a
//! repeated key.

use std::path::Path;
use std::sync::Arc;

use crate::compile::{self, Contents, FileKind};
use crate::ir::{Body, Fork, ForkName};
use crate::syntax::envelope::{self, Envelope};
use crate::syntax::yaml::{self, Entry, Layout, Node, Style, Value};
use crate::text::{Span, line_end, lines};

/// The order of the keys; others follow in the order in which they stand.
const ORDER: [&str; 7] = ["fork", "description", "run_on", "throttle", "after", "overlap", "tags"];

/// A list on one line may be so long; a longer one stays as it is.
const MAX_LINE: usize = 100;

/// The frontmatter's place and its canonical form; none if it has that form, or cannot be brought into it.
pub fn frontmatter(text: &str) -> Option<(Span, String)> {
    let envelope = envelope::split(text);
    let part = envelope.frontmatter;
    let canonical = canonical(text, &envelope)?;
    if canonical == part.of(text) {
        return None;
    }
    let formatted = [&text[..part.start()], &canonical, &text[part.end()..]].concat();
    // Cheap, and the last word: a form in which the file means something else is no form of it.
    let same = meaning(text).is_some_and(|before| Some(before) == meaning(&formatted));
    same.then_some((part, canonical))
}

/// What a file comes to, apart from where its body begins; none if it is no fork.
fn meaning(text: &str) -> Option<Fork> {
    let name = ForkName::from("fork");
    let path: Arc<Path> = Path::new("fork.md").into();
    let compiled = compile::fork_file(&name, &path, &Contents::text(text));
    let fork = compiled.file.fork().filter(|_| compiled.file.kind == FileKind::Fork)?;
    Some(Fork { body: Body { first_line: 0, text: fork.body.text.clone() }, ..Fork::clone(fork) })
}

fn canonical(text: &str, envelope: &Envelope) -> Option<String> {
    envelope.closing.filter(|fence| fence.is_proper())?;
    let part = envelope.frontmatter;
    let parsed = yaml::parse(text, part);
    let root = parsed.root.as_ref()?;
    let Value::Map(entries, Layout::Block) = &root.value else { return None };
    // An anchor must stand before its aliases, and what a repeated key means depends on the order.
    if has_alias(root) || has_duplicates(entries) || part.of(text).contains(['&', '\t']) {
        return None;
    }
    let mut chunks = chunks(text, part, entries, &parsed.comments)?;
    let head = head(text, &mut chunks);
    let tail = Span::new(chunks.last().map_or(part.start(), |chunk| chunk.end), part.end());
    chunks.sort_by_key(|chunk| ORDER.iter().position(|key| *key == chunk.key).unwrap_or(ORDER.len()));
    let mut result = head.of(text).to_owned();
    for chunk in &chunks {
        result.push_str(&text[chunk.lead..chunk.entry_start]);
        result.push_str(&chunk.words(text));
    }
    result.push_str(tail.of(text));
    Some(result)
}

fn has_alias(node: &Node) -> bool {
    node.alias.is_some()
        || match &node.value {
            Value::Scalar(_) => false,
            Value::List(items, _) => items.iter().any(has_alias),
            Value::Map(entries, _) => entries.iter().any(|entry| has_alias(&entry.key) || has_alias(&entry.value)),
        }
}

fn has_duplicates(entries: &[Entry]) -> bool {
    let same = |index: usize, entry: &Entry| entries[..index].iter().any(|other| other.key.value == entry.key.value);
    entries.iter().enumerate().any(|(index, entry)| same(index, entry))
}

/// An entry with all lines that belong to it.
struct Chunk<'a> {
    key: &'a str,
    entry: &'a Entry,
    /// Where the comments and blank lines in front of it begin.
    lead: usize,
    /// Where its own first line begins.
    entry_start: usize,
    /// Where its last line ends, line end included.
    end: usize,
    has_comments: bool,
}

fn chunks<'a>(text: &str, part: Span, entries: &'a [Entry], comments: &[Span]) -> Option<Vec<Chunk<'a>>> {
    let mut chunks: Vec<Chunk<'a>> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let key = entry.key.scalar()?.text.as_str();
        let entry_start = entry.key.span.start();
        // Every key stands at the start of a line of its own.
        if entry_start != part.start() && !text[..entry_start].ends_with(['\n', '\r']) {
            return None;
        }
        let next = entries.get(index + 1).map_or(part.end(), |next| next.key.span.start());
        let end = last_line(text, entry, next);
        let lead = chunks.last().map_or(part.start(), |before| before.end);
        let has_comments = comments.iter().any(|comment| entry_start <= comment.start() && comment.start() < end);
        chunks.push(Chunk { key, entry, lead, entry_start, end, has_comments });
    }
    Some(chunks)
}

/// The end of the last line of an entry: what follows it in the first column, or is blank, belongs to the next one. Blank
/// lines after a block of text may be part of it.
fn last_line(text: &str, entry: &Entry, next: usize) -> usize {
    let is_block = matches!(&entry.value.value, Value::Scalar(scalar) if scalar.style == Style::Block);
    let mut end = entry.key.span.start();
    for (number, line) in lines(&text[end..next]).enumerate() {
        let belongs = number == 0
            || line.starts_with([' ', '-']) && !line.trim().is_empty()
            || (is_block && line.trim().is_empty());
        let inside = end < entry.value.span.end();
        if !belongs && !inside {
            break;
        }
        end += line.len();
    }
    end
}

/// Comments at the top that a blank line parts from the first key: they are about the file, and stay there.
fn head(text: &str, chunks: &mut [Chunk<'_>]) -> Span {
    let Some(first) = chunks.first_mut() else { return Span::at(0) };
    let lead = &text[first.lead..first.entry_start];
    let mut blank = None;
    let mut at = 0;
    for line in lines(lead) {
        at += line.len();
        if line.trim().is_empty() {
            blank = Some(at);
        }
    }
    let start = first.lead;
    first.lead = start + blank.unwrap_or(0);
    Span::new(start, first.lead)
}

impl Chunk<'_> {
    /// The lines of the entry, its list in the canonical style.
    fn words(&self, text: &str) -> String {
        let own = || text[self.entry_start..self.end].to_owned();
        let Value::List(items, layout) = &self.entry.value.value else { return own() };
        if self.has_comments || items.is_empty() {
            return own();
        }
        let end = line_end(text);
        let key = self.entry.key.span.of(text);
        let items: Option<Vec<String>> = items.iter().map(|item| item_words(text, item)).collect();
        let Some(items) = items else { return own() };
        match self.key {
            "run_on" => {
                let items: Vec<String> = items.iter().map(|item| format!("  - {item}{end}")).collect();
                format!("{key}:{end}{}", items.concat())
            }
            "after" | "tags" => {
                // Between brackets, a comma in a plain word would part it.
                let unsafe_inside =
                    |item: &String| item.contains([',', '[', ']', '{', '}']) && !item.starts_with(['"', '\'']);
                let line = format!("{key}: [{}]", items.join(", "));
                let stays = *layout == Layout::Block && items.iter().any(unsafe_inside);
                if stays || line.chars().count() > MAX_LINE { own() } else { format!("{line}{end}") }
            }
            _ => own(),
        }
    }
}

/// An item on one line: a word, or a moment with its value.
fn item_words(text: &str, item: &Node) -> Option<String> {
    let simple = |node: &Node| {
        let words = node.span.of(text);
        let is_simple = node.scalar().is_some_and(|scalar| scalar.style != Style::Block);
        (is_simple && !words.is_empty() && !words.contains(['\n', '\r'])).then(|| words.to_owned())
    };
    match &item.value {
        Value::Scalar(_) => simple(item),
        Value::Map(entries, _) => match entries.as_slice() {
            [entry] => Some(format!("{}: {}", simple(&entry.key)?, simple(&entry.value)?)),
            _ => None,
        },
        Value::List(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str) -> String {
        match frontmatter(text) {
            Some((span, words)) => [&text[..span.start()], &words, &text[span.end()..]].concat(),
            None => text.to_owned(),
        }
    }

    fn check(before: &str, after: &str) {
        let once = formatted(before);
        assert_eq!(once, after);
        assert_eq!(formatted(&once), once, "a second time changes nothing");
    }

    #[test]
    fn keys_come_in_one_order_and_unknown_ones_last() {
        check(
            "---\nx: 1\ntags: [a]\nfork: true\ndescription: D\n---\nB.\n",
            "---\nfork: true\ndescription: D\ntags: [a]\nx: 1\n---\nB.\n",
        );
    }

    #[test]
    fn comments_move_with_what_they_are_about() {
        check(
            "---\n# about the file\n\n# about tags\ntags: [a] # really\nfork: true\nrun_on:\n  # soon\n  - idle\n# the end\n---\nB.\n",
            "---\n# about the file\n\nfork: true\nrun_on:\n  # soon\n  - idle\n# about tags\ntags: [a] # really\n# the end\n---\nB.\n",
        );
    }

    #[test]
    fn lists_come_in_one_style() {
        check(
            "---\nfork: true\nrun_on: [idle: 15m, {context_used: 80%}, idle]\nafter:\n- a\n- \"b, c\"\ntags:\n    - x\n---\nB.\n",
            "---\nfork: true\nrun_on:\n  - idle: 15m\n  - context_used: 80%\n  - idle\nafter: [a, \"b, c\"]\ntags: [x]\n---\nB.\n",
        );
    }

    #[test]
    fn blocks_of_text_keep_their_lines_and_windows_its_line_ends() {
        check(
            "---\r\ndescription: |+\r\n  Two\r\n\r\n  lines\r\n\r\nfork: true\r\ntags:\r\n  - a\r\n---\r\nB.\r\n",
            "---\r\nfork: true\r\ndescription: |+\r\n  Two\r\n\r\n  lines\r\n\r\ntags: [a]\r\n---\r\nB.\r\n",
        );
    }

    #[test]
    fn lines_that_end_in_cr_alone_go_on_so() {
        check(
            "---\r# top\r\r# t\rtags:\r- a\rrun_on: [idle]\rfork: true\r---\rB.\r",
            "---\r# top\r\rfork: true\rrun_on:\r  - idle\r# t\rtags: [a]\r---\rB.\r",
        );
    }

    #[test]
    fn what_is_in_doubt_is_left_alone() {
        for text in [
            "---\ntags: &t [a]\nfork: true\nx: *t\n---\nB.\n",
            "---\ntags: [a]\ntags: [b]\nfork: true\n---\nB.\n",
            "---\ntags: [a\nfork: true\n---\nB.\n",
            "---\ntags: [a]\n---\nA note.\n",
            "---\ntags: [a]\nfork: true\n",
            "No frontmatter.\n",
            "---\n{tags: [a], fork: true}\n---\nB.\n",
            "",
        ] {
            check(text, text);
        }
    }
}
