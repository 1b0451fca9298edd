//! YAML 1.2 with places: a tree in which every node knows its bytes, the comments, and the faults.
//!
//! The parser behind it (granit) is known to this module alone. It stops at the first fault; so when the whole does not
//! parse, it is cut at the keys of its first column and each piece is parsed alone, and every faulty piece gives its
//! first fault. Text that is simple enough is read without it.

mod build;
mod fault;
mod pieces;
mod simple;
mod tree;

pub use build::Limits;
pub use fault::{Fault, FaultKind};
pub use tree::{Entry, Layout, Node, Place, Plain, Scalar, Style, Value};

use crate::text::Span;

/// What became of a YAML text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The root; none where there is no content, or where there is a fault.
    pub root: Option<Node>,
    /// Comments from their hash sign to the end of their line, in order.
    pub comments: Vec<Span>,
    /// What could not be read, in order. If there is any, there is no tree.
    pub faults: Vec<Fault>,
}

/// Parses the `part` of `text`. Places are places of `text`.
pub fn parse(text: &str, part: Span) -> Parsed {
    if let Some(root) = simple::read(part.of(text), part.start()) {
        // What is read fast must be what is read.
        #[cfg(fuzzing)]
        assert_eq!(
            build::build(part.of(text), part.start(), Limits::default()).ok().and_then(|built| built.root).as_ref(),
            Some(&root)
        );
        return Parsed { root: Some(root), ..Parsed::default() };
    }
    match build::build(part.of(text), part.start(), Limits::default()) {
        Ok(built) if built.unknown_aliases.is_empty() => {
            // A text where there would be a mapping, were it not for a character that cannot be seen.
            if let Some(fault) = built.root.as_ref().and_then(|root| pieces::hidden_mapping(text, part, root)) {
                return Parsed { faults: vec![fault], ..Parsed::default() };
            }
            Parsed { root: built.root, comments: built.comments, faults: Vec::new() }
        }
        Ok(built) => Parsed { faults: built.unknown_aliases, ..Parsed::default() },
        Err(fault) if matches!(fault.kind, FaultKind::TooDeep | FaultKind::TooManyNodes) => {
            Parsed { faults: vec![fault], ..Parsed::default() }
        }
        Err(fault) => Parsed { faults: pieces::faults(text, part, fault), ..Parsed::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(FaultKind, usize)> {
        let parsed = parse(text, Span::new(0, text.len()));
        assert_eq!(parsed.root.is_some(), parsed.faults.is_empty(), "a tree or faults: {text:?}");
        parsed.faults.into_iter().map(|fault| (fault.kind, fault.span.start())).collect()
    }

    fn fault(text: &str) -> (FaultKind, usize) {
        let mut found = faults(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        found.remove(0)
    }

    #[test]
    fn places_are_places_of_the_file() {
        let text = "---\ntags: [ci, \u{1f41b}]\n---\n";
        let parsed = parse(text, Span::new(4, 4 + "tags: [ci, \u{1f41b}]\n".len()));
        let root = parsed.root.unwrap();
        let [entry] = root.entries().unwrap() else { panic!("one entry") };
        assert_eq!(entry.key.span.of(text), "tags");
        assert_eq!(entry.value.span.of(text), "[ci, \u{1f41b}]");
        let Value::List(items, Layout::Flow) = &entry.value.value else { panic!("a flow list") };
        assert_eq!(items[1].span.of(text), "\u{1f41b}");
    }

    #[test]
    fn a_block_list_starts_at_its_first_dash_and_ends_with_its_last_word() {
        let text = "run_on:\n  - idle\n  - b: c\n\nx: 1\n";
        let root = parse(text, Span::new(0, text.len())).root.unwrap();
        assert_eq!(root.entries().unwrap()[0].value.span.of(text), "- idle\n  - b: c");
    }

    #[test]
    fn what_an_alias_brings_in_knows_both_places() {
        let text = "a: &x [ci]\nb: *x\n";
        let root = parse(text, Span::new(0, text.len())).root.unwrap();
        let Value::List(items, _) = &root.entries().unwrap()[1].value.value else { panic!("a list") };
        let place = items[0].place();
        assert_eq!((place.span.of(text), place.words.unwrap().of(text)), ("*x", "ci"));
    }

    #[test]
    fn faults_stand_at_the_first_text_that_cannot_be_read() {
        use FaultKind as K;
        assert_eq!(fault("a: b c: d\n"), (K::ColonInValue, 6));
        assert_eq!(fault("a: [wip] tidy\n"), (K::TextAfterValue, 9));
        assert_eq!(fault("a: [@ci, x]\n"), (K::ReservedCharacter('@'), 4));
        assert_eq!(fault("a: [ci, x\nb: 1\n"), (K::UnclosedBracket, 10));
        assert_eq!(fault("a: \"ci\nb: 1\n"), (K::UnclosedQuote, 7));
        assert_eq!(fault("a: \"c\\qi\"\n"), (K::BadEscape, 5));
        assert_eq!(fault("a: \"\\ud800x\"\n"), (K::BadEscape, 4));
        let escape = |text: &str| parse(text, Span::new(0, text.len())).faults[0].span.of(text).to_owned();
        assert_eq!(escape("a: \"x\\ud800y\"\n"), "\\ud800", "whole, but no character");
        assert_eq!(escape("a: \"C:\\Users\"\n"), "\\U", "not whole");
        assert_eq!(fault("a:\n\tb: c\n"), (K::Tab, 3));
        assert_eq!(fault("a: 'it's fine'\n"), (K::TextAfterValue, 7));
        assert_eq!(fault("a: - b\n"), (K::DashInValue, 3));
        assert_eq!(fault("a: 1\nb:2\n"), (K::MissingBlank, 5));
        assert_eq!(fault("a: 1\nword\n"), (K::NotAKey, 5));
        assert_eq!(fault("a: *word more\n"), (K::UnknownAlias("word".into()), 3));
        assert_eq!(fault("a: 1\nb:\u{a0} 2\n"), (K::Invisible('\u{a0}'), 7));
        assert_eq!(fault("a: 1\n  b: 2\n"), (K::IndentedKey, 8));
        assert_eq!(fault("a: x]\nb: [c]]\n"), (K::StrayBracket, 12));
        assert_eq!(fault("a: [{b: c]\n"), (K::StrayBracket, 9));
        assert_eq!(fault("a: > b\n"), (K::BlockHeader, 5));
        assert_eq!(fault("a: \0\n"), (K::ControlCharacter('\0'), 3));
        assert_eq!(fault("descr\u{1b}iption: x\n"), (K::ControlCharacter('\u{1b}'), 5));
        assert_eq!(fault("a: é\u{9b}x\n"), (K::ControlCharacter('\u{9b}'), 5));
    }

    #[test]
    fn every_faulty_piece_gives_its_first_fault() {
        let text = "a: b: c: d\nok: 1\nx: [y\nz: 'it's'\n";
        let kinds: Vec<_> = faults(text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [FaultKind::ColonInValue, FaultKind::UnclosedBracket, FaultKind::TextAfterValue]);
    }

    #[test]
    fn an_alias_may_not_stand_for_more_than_there_is_room_for() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..40 {
            let alias = format!("*a{}", n - 1);
            let nine = [alias.as_str(); 9].join(",");
            bomb += &["a", &n.to_string(), ": &a", &n.to_string(), " [", &nine, "]\n"].concat();
        }
        assert_eq!(fault(&bomb).0, FaultKind::TooManyNodes);
        assert_eq!(fault(&format!("a: {}", "[".repeat(100_000))).0, FaultKind::TooDeep);
        assert_eq!(fault(&"- ".repeat(100_000)).0, FaultKind::TooDeep);
    }

    #[test]
    fn comments_are_kept() {
        let text = "a: b # one\n# two\nc:\n  - d # three\n";
        let comments: Vec<_> = parse(text, Span::new(0, text.len())).comments;
        let comments: Vec<_> = comments.into_iter().map(|span| span.of(text)).collect();
        assert_eq!(comments, ["# one", "# two", "# three"]);
    }
}
