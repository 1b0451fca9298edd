//! `document-end-in-frontmatter`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::keys::{MARKER, is_fork_key};
use crate::syntax::envelope::keys_at_line_start;

rule! {
    /// A line `...` that ends the frontmatter before all of its keys.
    ///
    /// Three dots end a YAML document, so the keys below them are part of the instructions and have no effect.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// ...
    /// tags: [late]
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [late]
    /// ---
    /// Tidy.
    /// ```
    "document-end-in-frontmatter", Warn, Yaml, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let (Some(closing), Some(cut_off)) = (file.envelope.closing, file.envelope.cut_off) else { return };
    let first = keys_at_line_start(file.text(), cut_off).find(|(key, _)| *key == MARKER || is_fork_key(key));
    if let Some((_, key)) = first {
        out.report(&RULE, closing.span, "three dots end the frontmatter here; the keys below have no effect")
            .label("the frontmatter ends here")
            .also(key, "part of the instructions")
            .help("remove the line of dots");
    }
}
