//! `yaml-syntax`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;
use crate::compile::lower::quote;
use crate::syntax::yaml::{Fault, FaultKind};
use crate::text::brief;

rule! {
    /// Frontmatter that is not YAML.
    ///
    /// What cannot be read cannot be trusted: the fork is broken and does not fire until it is mended. When there are
    /// several faults, each key that is affected gives its first one. Texts with a colon and a blank, with brackets,
    /// quotes or an at sign at the start want quotes around them.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: Nightly tidy: sort the list
    /// ---
    /// Sort TODO.md.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: "Nightly tidy: sort the list"
    /// ---
    /// Sort TODO.md.
    /// ```
    "yaml-syntax", Error, Yaml, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Broken || file.bad_fence.is_some_and(|(fence, _)| !has_earlier_fault(file, fence.span.start())) {
        return;
    }
    for fault in &file.yaml().faults {
        if !matches!(fault.kind, FaultKind::Tab | FaultKind::Invisible(_) | FaultKind::TooDeep | FaultKind::TooManyNodes) {
            report(file, fault, out);
        }
    }
}

fn has_earlier_fault(file: &ForkFile, offset: usize) -> bool {
    file.yaml().faults.iter().any(|fault| fault.span.start() < offset)
}

fn report(file: &ForkFile, fault: &Fault, out: &mut Findings) {
    let words = words(&fault.kind, &brief(file.words(fault.span)));
    let mut draft = out
        .report(&RULE, fault.span, format!("{}; the fork is broken and does not fire", words.message))
        .label(words.label)
        .help(words.help);
    if let Some(opened) = fault.opened {
        draft = draft.also(opened, words.opened);
    }
    if let Some(quotable) = fault.quotable.filter(|span| !span.is_empty()) {
        draft.safe("put the text in quotes", quotable, quote(file.words(quotable)));
    } else if fault.kind == FaultKind::MissingBlank {
        draft.safe("write a blank after the colon", crate::text::Span::at(fault.span.end()), " ");
    }
}

struct Words {
    message: String,
    label: &'static str,
    help: &'static str,
    /// The label on what opened it.
    opened: &'static str,
}

fn words(kind: &FaultKind, found: &str) -> Words {
    let (message, label, help, opened) = match kind {
        FaultKind::ColonInValue => (
            "a text without quotes cannot hold a colon and a blank".into(),
            "reads as another key",
            "put the whole text in quotes",
            "",
        ),
        FaultKind::IndentedKey => (
            "this line is indented, so it continues the value above and cannot be a key".into(),
            "not a key here",
            "start the key in the same column as the key above",
            "indented too far",
        ),
        FaultKind::TextAfterValue => (
            "there is text after the end of a value".into(),
            "left over",
            "put the whole text in quotes; double a quote inside single quotes, write \\\" inside double ones",
            "the value starts here",
        ),
        FaultKind::UnclosedBracket => {
            ("a bracket is never closed".into(), "still inside the bracket", "close the bracket", "opened here")
        }
        FaultKind::UnclosedQuote => {
            ("a quote is never closed".into(), "still inside the quotes", "close the quote", "opened here")
        }
        FaultKind::StrayBracket => (
            format!("this `{found}` does not close what was opened last"),
            "closes nothing",
            "remove it, or put the whole text in quotes",
            "still open",
        ),
        FaultKind::ReservedCharacter(character) => (
            if *character == '`' {
                "a text without quotes cannot start with a backquote, which YAML reserves".into()
            } else {
                format!("a text without quotes cannot start with `{found}`, which YAML reserves")
            },
            "reserved in YAML",
            "put the text in quotes",
            "",
        ),
        FaultKind::ControlCharacter(_) => {
            (format!("there is a control character, `{found}`"), "cannot be seen", "remove the character", "")
        }
        FaultKind::BadEscape => (
            format!("`{found}` is no escape that YAML knows"),
            "not an escape",
            "write `\\\\` for a backslash, or use single quotes, in which nothing is an escape",
            "in this text",
        ),
        FaultKind::UnknownAlias(_) => (
            format!("`{found}` reads as an alias, and there is no anchor of that name"),
            "no such anchor",
            "put the text in quotes, or define the anchor with `&` further up",
            "",
        ),
        FaultKind::AliasInItself => {
            (format!("the alias `{found}` stands inside of what it stands for"), "refers to itself", "write it out", "")
        }
        FaultKind::DashInValue => (
            "a list cannot start on the line of its key".into(),
            "a dash starts a list",
            "start the list on the next line, write it as `[a, b]`, or put the text in quotes",
            "",
        ),
        FaultKind::NotAKey => (
            "there should be a key and a colon here".into(),
            "no key",
            "write `key: value`, or start the line with `#` to make it a comment",
            "",
        ),
        FaultKind::MissingBlank => {
            ("a key's colon needs a blank after it".into(), "no blank", "write a blank after the colon", "")
        }
        FaultKind::Indentation => (
            "this line is indented unlike its neighbours".into(),
            "in the wrong column",
            "start the line in the column of the lines that it belongs with",
            "",
        ),
        FaultKind::BlockHeader => (
            "a text after `|` or `>` starts on the next line".into(),
            "on the wrong line",
            "start the text on the next line, indented, or put it in quotes",
            "starts a text of lines",
        ),
        FaultKind::SecondDocument => {
            ("a second YAML document starts here".into(), "a second document", "keep all keys in one block", "")
        }
        FaultKind::Other(reason) => {
            (format!("this is not YAML: {}", brief(reason)), "cannot be read", "put texts with special characters in quotes", "")
        }
        FaultKind::Tab | FaultKind::Invisible(_) | FaultKind::TooDeep | FaultKind::TooManyNodes => {
            (String::new(), "", "", "")
        }
    };
    Words { message, label, help, opened }
}
