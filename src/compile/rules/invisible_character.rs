//! `invisible-character`

use crate::compile::file::{FileKind, ForkFile, Lookalike};
use crate::compile::findings::Findings;
use crate::compile::keys::MARKER;
use crate::diagnostic::Level;
use crate::syntax::yaml::{FaultKind, Node, Place};
use crate::text::{Span, is_invisible};

rule! {
    /// A character that looks like a blank, or like nothing at all, where it changes what is read: in a key, the marker,
    /// a number, a moment, a name or a tag.
    ///
    /// Such characters come along with text that is copied from web pages and chats. A word with a
    /// zero-width space in it is another word. Where the character breaks the syntax, the fork does not fire.
    ///
    /// Bad (with a no-break space after the colon):
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle:  30m
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 30m
    /// ---
    /// Tidy.
    /// ```
    "invisible-character", Warn, Yaml, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    match file.kind {
        FileKind::Broken => check_faults(file, out),
        FileKind::Lookalike(Lookalike::InvisibleMarker) => check_marker(file, out),
        _ => {}
    }
}

fn check_faults(file: &ForkFile, out: &mut Findings) {
    for fault in &file.yaml().faults {
        let FaultKind::Invisible(character) = fault.kind else { continue };
        let message = format!("{} breaks the syntax unseen; the fork is broken and does not fire", name(character));
        let beside_blank = file.text()[fault.span.end()..].starts_with(' ');
        let blank = if is_blank(character) && !beside_blank { " " } else { "" };
        out.report(&RULE, fault.span, message)
            .level(Level::Error)
            .label("cannot be seen")
            .help("delete the character, or type a blank instead")
            .safe("remove the invisible character", fault.span, blank);
    }
}

fn check_marker(file: &ForkFile, out: &mut Findings) {
    let is_marker = |key: &str| key.contains(is_invisible) && key.replace(is_invisible, "") == MARKER;
    let hidden = file.entries().iter().map(|entry| &entry.key).find(|key| key.scalar().is_some_and(|s| is_marker(&s.text)));
    let marker = file.entry(MARKER).map(|entry| &entry.value).or(hidden);
    if let Some(node) = marker {
        check_words(file, node, "marker", "the file is no fork and never fires", out);
    }
}

/// Reports a character that cannot be seen in the words of `node`, which are `what`; true if there is one.
pub(crate) fn check_words(file: &ForkFile, node: &Node, what: &str, consequence: &str, out: &mut Findings) -> bool {
    let words = file.words(node.span);
    let hidden = words.char_indices().find(|(at, character)| is_invisible(*character) && !joins(words, *at, *character));
    let Some((at, character)) = hidden.filter(|_| node.scalar().is_some()) else { return false };
    let span = Span::new(node.span.start() + at, node.span.start() + at + character.len_utf8());
    let place = node.alias.map_or(span.into(), |alias| Place { span: alias, words: Some(span) });
    let without: String = words.replace(is_invisible, "");
    out.report(&RULE, place, format!("there is {} in this {what}; {consequence}", name(character)))
        .label("cannot be seen")
        .help("delete the character, or write the word anew")
        .guess("write the word without it", node.span, without);
    true
}

/// Whether a joiner does its work between two characters of an emoji, or of a script that needs it.
fn joins(words: &str, at: usize, character: char) -> bool {
    let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
    let before = words[..at].chars().next_back();
    let after = words[at + character.len_utf8()..].chars().next();
    is_joiner && before.is_some_and(|c| !c.is_ascii()) && after.is_some_and(|c| !c.is_ascii())
}

/// The character's name for people.
pub(crate) fn name(character: char) -> String {
    let name = match character {
        '\u{a0}' => "a no-break space",
        '\u{202f}' => "a narrow no-break space",
        '\u{200b}' => "a zero-width space",
        '\u{200c}' | '\u{200d}' | '\u{2060}' => "a zero-width joiner",
        '\u{ad}' => "a soft hyphen",
        '\u{feff}' => "a byte order mark",
        '\u{3000}' => "an ideographic space",
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "a mark for the direction of writing"
        }
        '\u{2000}'..='\u{200a}' | '\u{205f}' | '\u{1680}' => "a typographic space",
        _ => "an invisible character",
    };
    format!("{name} (U+{:04X})", u32::from(character))
}

/// Whether the character stands for a blank, rather than for nothing.
pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace()
}
