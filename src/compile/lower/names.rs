//! `after` and `tags`: names in a list, or a lone one.

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::items;
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::rules;
use crate::ir::{ForkName, Tag};
use crate::syntax::yaml::{Entry, Layout, Node, Place, Plain, Style, Value};
use crate::text::{BYTE_ORDER_MARK, Span, is_invisible};

/// The names of the forks that this one waits for.
pub(super) fn after(file: &ForkFile, entry: Option<&Entry>, out: &mut Findings) -> Vec<(ForkName, Place)> {
    let Some(entry) = entry.filter(|entry| !rules::invalid_type::check_absent(entry, "after", out)) else {
        return Vec::new();
    };
    if entry.value.entries().is_some() {
        rules::invalid_type::check_scalar(entry, "after", "the name of a fork or a list of names", out);
        return Vec::new();
    }
    let mut names = Vec::new();
    for item in items(&entry.value) {
        let usable = |plain| matches!(plain, Plain::Text | Plain::Number);
        let Some(scalar) = item.scalar().filter(|scalar| usable(scalar.plain()) && !trimmed(&scalar.text).is_empty())
        else {
            rules::invalid_type::check_name(item, out);
            continue;
        };
        rules::invisible_character::check_words(file, item, "name", "it is another name so", out);
        names.extend(split(file, entry, item, &scalar.text, out).map(|(name, place)| (fork_name(&name), place)));
    }
    names
}

/// The labels of the fork.
pub(super) fn tags(file: &ForkFile, entry: Option<&Entry>, out: &mut Findings) -> Vec<(Tag, Place)> {
    let Some(entry) = entry.filter(|entry| !rules::invalid_type::check_absent(entry, "tags", out)) else {
        return Vec::new();
    };
    if entry.value.entries().is_some() {
        rules::invalid_type::check_scalar(entry, "tags", "a label or a list of labels", out);
        return Vec::new();
    }
    let mut tags = Vec::new();
    for item in items(&entry.value) {
        let Some(text) = rules::invalid_tag::check(item, out) else { continue };
        rules::invisible_character::check_words(file, item, "tag", "it is another tag so", out);
        tags.extend(split(file, entry, item, text, out).map(|(tag, place)| (Tag::from(tag.as_str()), place)));
    }
    tags
}

/// A name in the normal form in which names are compared.
pub fn fork_name(name: &str) -> ForkName {
    if is_nfc(name) { name.into() } else { name.nfc().collect::<String>().as_str().into() }
}

/// The parts of a scalar that holds a comma list, each with its place; most often the one word that it is.
fn split(
    file: &ForkFile,
    entry: &Entry,
    item: &Node,
    text: &str,
    out: &mut Findings,
) -> impl Iterator<Item = (String, Place)> + use<> {
    let mut parts: Vec<(String, Place)> = Vec::new();
    if text.contains(',') {
        // Where the text stands in the file word by word, as it does without escapes and line breaks.
        let base = file.words(item.span).find(text).filter(|_| item.alias.is_none()).map(|at| item.span.start() + at);
        let mut at = 0;
        for piece in text.split(',') {
            let part = trimmed(piece);
            let offset = at + (piece.len() - piece.trim_start_matches([' ', '\t', '\n', '\r']).len());
            let here = |base| Place::here(Span::new(base + offset, base + offset + part.len()));
            if !part.is_empty() {
                parts.push((part.to_owned(), base.map_or_else(|| item.place(), here)));
            }
            at += piece.len() + 1;
        }
        let names: Vec<String> = parts.iter().map(|(part, _)| part.clone()).collect();
        rules::comma_list::check(file, entry, item, &names, out);
    } else {
        parts.push((trimmed(text).to_owned(), item.place()));
    }
    parts.into_iter()
}

/// Without the blanks around it; characters that only look like blanks stay, and are reported.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// Whether a node is an item of a flow list, where a list inside it would be a list in a list.
pub(crate) fn is_listed(entry: &Entry) -> Option<Layout> {
    match &entry.value.value {
        Value::List(_, layout) => Some(*layout),
        _ => None,
    }
}

/// A name as it is written in a flow list: in quotes where it needs them.
pub fn spell(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_punctuation() && c != '_' && c != '/' && c != '.')
        && !name.contains(['[', ']', '{', '}', ',', '#', ':', '"', '\''])
        && !name.contains(|c: char| c.is_control() || is_invisible(c) || matches!(c, '\u{fffe}' | '\u{ffff}'))
        && name.trim() == name
        && crate::syntax::yaml::Scalar { text: name.to_owned(), style: Style::Plain }.plain() == Plain::Text;
    if plain { name.to_owned() } else { quote(name) }
}

/// A text in quotes.
pub(crate) fn quote(text: &str) -> String {
    // What YAML keeps out of texts can only be escaped, which single quotes do not do.
    let is_escaped = |c: char| c.is_control() || matches!(c, BYTE_ORDER_MARK | '\u{fffe}' | '\u{ffff}');
    if text.contains(is_escaped) {
        let escaped = text.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if is_escaped(c) => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        return format!("\"{}\"", escaped.collect::<String>());
    }
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is read of a list of one name.
    fn read(list: &str) -> Option<String> {
        let text = format!("after: [{list}]\n");
        let root = crate::syntax::yaml::parse(&text, Span::new(0, text.len())).root?;
        let [entry] = root.entries()? else { return None };
        match &entry.value.value {
            Value::List(items, _) if items.len() == 1 => Some(items[0].scalar()?.text.clone()),
            _ => None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_name_is_read_as_it_was_spelt(name in "[a-c \"'\\\\#,:\\[\\]{}&*!|>%@`~?./-]{0,6}|\\PC{1,5}|[\\x00-\\x1f\\x7f\u{85}\u{a0}\u{feff}\u{2028}\u{202f}\u{fffe}ab\"'\\\\ ]{1,6}") {
            prop_assume!(!name.is_empty());
            prop_assert_eq!(read(&spell(&name)), Some(name.clone()), "{}", spell(&name));
            prop_assert_eq!(read(&quote(&name)), Some(name));
        }
    }
}
