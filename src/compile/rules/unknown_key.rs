//! `unknown-key`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::keys::{MARKER, meant_key};
use crate::syntax::yaml::Entry;
use crate::text::brief;

rule! {
    /// A key that forks do not have.
    ///
    /// It is ignored. Often it is a misspelt key, and then the fork runs with a default where a value was meant.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// throtle: 30m
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
    "unknown-key", Warn, Keys, Some
}

pub(crate) fn check(file: &ForkFile, entry: &Entry, out: &mut Findings) {
    let Some(key) = entry.key.scalar() else {
        out.report(&RULE, entry.key.place(), format!("{} cannot be a key of a fork; it is ignored", entry.key.kind()))
            .label("ignored")
            .help("write the key as one word");
        return;
    };
    let shown = brief(&key.text);
    if key.text == "<<" {
        out.report(&RULE, entry.key.place(), "merge keys are not part of YAML 1.2; what this one brings in is ignored")
            .label("ignored")
            .help("write the keys out");
        return;
    }
    let draft = out.report(&RULE, entry.key.place(), format!("forks have no key `{shown}`; it is ignored")).label("ignored");
    // A key that is there already is not what was meant.
    match meant_key(&key.text).filter(|meant| file.entry(meant).is_none() && *meant != MARKER) {
        Some(meant) => {
            draft.help(format!("did you mean `{meant}`?")).guess(format!("write `{meant}`"), entry.key.span, meant);
        }
        None => {
            draft.help("remove it, or write it as a comment; the keys of a fork are `fork`, `description`, `run_on`, `throttle`, `after`, `overlap` and `tags`");
        }
    }
}
