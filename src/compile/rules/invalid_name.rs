//! `invalid-name`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::text::{Span, brief};

rule! {
    /// A name with a comma, a quote, a control character, or blanks around it.
    ///
    /// A fork's name is its file's name. It works, but it cannot be written in every list of names, and it is hard to
    /// type.
    ///
    /// Bad:
    /// ```markdown tidy, then sort.md
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown tidy-then-sort.md
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "invalid-name", Warn, Names, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let name = file.name.as_str();
    let odd = |c: char| matches!(c, ',' | '"' | '\'' | '`' | char::REPLACEMENT_CHARACTER) || c.is_control();
    let what = if name.trim() != name {
        "blanks around it".to_owned()
    } else if let Some(character) = name.chars().find(|character| odd(*character)) {
        match character {
            ',' => "a comma in it".to_owned(),
            '"' | '\'' | '`' => "a quote in it".to_owned(),
            char::REPLACEMENT_CHARACTER => "bytes in it that are no text".to_owned(),
            _ => "a control character in it".to_owned(),
        }
    } else {
        return;
    };
    out.report(&RULE, Span::at(0), format!("the name `{}` has {what}; it works, but is hard to refer to", brief(name)))
        .help("rename the file: letters, digits and hyphens are always fine");
}
