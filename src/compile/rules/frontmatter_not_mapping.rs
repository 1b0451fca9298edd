//! `frontmatter-not-mapping`

use crate::compile::file::{FileKind, ForkFile, Lookalike};
use crate::compile::findings::Findings;

rule! {
    /// Frontmatter with the keys of a fork that is a list or a text, not keys with values.
    ///
    /// There is no key `fork` then, so the file is no fork and does not fire.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// - fork: true
    /// - run_on: [idle]
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on: [idle]
    /// ---
    /// Tidy.
    /// ```
    "frontmatter-not-mapping", Warn, Yaml, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Lookalike(Lookalike::NotAMapping) {
        return;
    }
    if let Some(root) = &file.yaml().root {
        let message = format!("this frontmatter is {}, not keys with values; the file is no fork", root.kind());
        out.report(&RULE, root.span, message)
            .label(format!("{} starts here", root.kind()))
            .help("write one `key: value` on each line, starting in the first column");
    }
}
