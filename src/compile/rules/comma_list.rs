//! `comma-list`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::lower::{is_listed, spell};
use crate::syntax::yaml::{Entry, Layout, Node, Style};
use crate::text::brief;

rule! {
    /// Several names in one text, divided by commas.
    ///
    /// We read it as a list, but other readers of the fork format take it for one long name.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: ci, notes
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [ci, notes]
    /// ---
    /// Tidy.
    /// ```
    "comma-list", Hint, Keys, Some
}

pub(crate) fn check(file: &ForkFile, entry: &Entry, item: &Node, parts: &[String], out: &mut Findings) {
    let key = entry.key.scalar().map_or("", |scalar| scalar.text.as_str());
    let list = parts.iter().map(|part| spell(part)).collect::<Vec<_>>().join(", ");
    let draft = out
        .report(&RULE, item.place(), "a comma list in one text is read as several names here, but not everywhere")
        .label("several names in one text")
        .help(format!("write a list: `{key}: [{}]`", brief(&list)));
    let one_line = item.scalar().is_some_and(|scalar| scalar.style != Style::Block) && !file.words(item.span).contains(['\n', '\r']);
    match is_listed(entry) {
        None if one_line => {
            draft.safe("write a list", item.span, format!("[{list}]"));
        }
        Some(Layout::Flow) if one_line && !parts.is_empty() => {
            draft.safe("write each name by itself", item.span, list);
        }
        _ => {}
    }
}
