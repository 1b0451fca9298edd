//! Showing text that others wrote without letting it act on the terminal or deceive the eye.

use std::borrow::Cow;

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
