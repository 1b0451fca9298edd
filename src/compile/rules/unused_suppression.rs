//! `unused-suppression`

use crate::compile::findings::Findings;
use crate::compile::suppress::Suppression;
use crate::text::{Source, Span, brief};

rule! {
    /// A comment that switches off a rule which finds nothing there.
    ///
    /// It would hide the next finding, which nobody has looked at yet.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// # autofork: allow(invalid-duration) old habit
    /// throttle: 30m
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// # autofork: allow(unknown-key) the dashboard reads it
    /// owner: docs
    /// ---
    /// Tidy.
    /// ```
    "unused-suppression", Warn, Suppressions, Some
}

pub(crate) fn check(source: &Source, suppression: &Suppression, unused: &[&str], out: &mut Findings) {
    let names = unused.iter().map(|name| format!("`{}`", brief(name))).collect::<Vec<_>>().join(", ");
    let (find, them) = if unused.len() == 1 { ("finds", "it") } else { ("find", "them") };
    let all = unused.len() == suppression.rules.len();
    let effect = if all { "the comment has no effect".to_owned() } else { format!("naming {them} has no effect") };
    let unknown = unused.iter().find(|name| super::find(name).is_none());
    let hash = Span::new(suppression.comment.start(), suppression.comment.start() + 1);
    let draft = out
        .report(&RULE, hash, format!("{names} {find} nothing on this line or the next; {effect}"))
        .label("nothing to switch off");
    let draft = match unknown {
        Some(name) => draft.help(format!("there is no rule `{}`; `autofork explain` lists them", brief(name))),
        None if all => draft.help("remove the comment"),
        None => draft.help(format!("take {them} out of the comment")),
    };
    // A comment that still hides something else is left to its author.
    if all {
        let line = source.line_span(source.line_of(hash.start()));
        let before = &source.text()[line.start()..hash.start()];
        let whole = if before.trim().is_empty() {
            line
        } else {
            Span::new(line.start() + before.trim_end().len(), suppression.comment.end())
        };
        draft.safe("remove the comment", whole, "");
    }
}
