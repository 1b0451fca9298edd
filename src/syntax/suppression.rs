//! Comments that switch rules off: `# autofork: allow(rule-name) reason`.

use pest::Parser as _;

use crate::text::Span;
use grammar::{Grammar, Rule};

/// The generated parser; its rules are documented in the grammar.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/suppression.pest"]
    pub(super) struct Grammar;
}

/// The names of the rules that a comment switches off, with their places in it; none if it is another comment. The
/// comment starts with its hash sign and ends with its line.
pub fn parse(comment: &str) -> Option<Vec<(&str, Span)>> {
    // Whether it may be one shows in its first words; a grammar is slow at saying no.
    let words = comment.strip_prefix('#')?.trim_start_matches([' ', '\t']);
    if !words.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("autofork:")) {
        return None;
    }
    let pairs = Grammar::parse(Rule::suppression, comment).ok()?;
    let rules = pairs.flatten().filter(|pair| pair.as_rule() == Rule::rule);
    Some(rules.map(|rule| (rule.as_str(), Span::new(rule.as_span().start(), rule.as_span().end()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_other_comments_are_left_alone() {
        let names = |text| parse(text).map(|rules| rules.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
        assert_eq!(names("# autofork: allow(unknown-key) for the dashboard"), Some(vec!["unknown-key"]));
        assert_eq!(names("#autofork:allow( a , b )"), Some(vec!["a", "b"]));
        assert_eq!(names("# allow me to say"), None);
        assert_eq!(names("# autofork: allow unknown-key"), None);
    }
}
