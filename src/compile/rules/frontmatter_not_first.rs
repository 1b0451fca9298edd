//! `frontmatter-not-first`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;

rule! {
    /// Blank lines before the opening fence.
    ///
    /// We skip them, but for other readers of the fork format a file whose first line is no fence has no frontmatter.
    ///
    /// Bad:
    /// ```markdown
    ///
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "frontmatter-not-first", Warn, Envelope, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if !file.envelope.lead.is_empty() {
        out.report(&RULE, file.fence(), "there are blank lines before this fence; they are skipped here, but not everywhere")
            .label("not the first line")
            .help("start the file with the fence")
            .safe("remove the blank lines", file.envelope.lead, "");
    }
}
