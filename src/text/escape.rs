//! Showing text that others wrote without letting it act on the terminal or deceive the eye.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with every character that a terminal would obey, or that would reorder or hide its neighbours, written as
/// an escape such as `\u{202e}`. Names of files and words from forks go through here before anybody sees them.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(must_escape) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if must_escape(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// A JSON document that says the same in characters that a terminal shows as they are: those that [`visible`] escapes,
/// which JSON would let stand inside of its texts, are written as JSON's own escapes.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let hidden = |character: char| must_escape(character) && !matches!(character, '\n' | '\r' | '\t');
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        if hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// As [`visible`], but no longer than fits into a sentence: of a long text only its start.
pub fn brief(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", visible(&text[..end]))),
        None => visible(text),
    }
}

/// Whether `character` looks like nothing or like a blank but is not one that YAML, TOML or a name may hold as such:
/// no-break and exotic spaces, zero-width characters, bidirectional marks.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{180e}'
        | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{3000}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// Controls, and what reorders or hides text. Blanks that merely look odd are left, they do no harm on a screen; so
/// are joiners, since emoji are made with them.
fn must_escape(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_as_they_are() {
        assert!(matches!(visible("groom todos – 整理 🧹"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_json_document_says_the_same_with_its_own_escapes() {
        let text = "gpj\u{202e}exe \u{9b}31m\u{7f} é\n";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let shown = visible_json(&json);
        assert!(!shown.contains(['\u{202e}', '\u{9b}', '\u{7f}']), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text]);
        assert!(matches!(visible_json("[\n  \"é\"\n]"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_text_does_not_fill_the_screen() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief(&"é".repeat(1_000_000)), format!("{}…", "é".repeat(60)));
    }

    #[test]
    fn a_name_cannot_colour_the_terminal_or_turn_the_line_around() {
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("gpj\u{202e}exe"), "gpj\\u{202e}exe");
        assert_eq!(visible("two\nlines"), "two\\nlines");
    }
}
