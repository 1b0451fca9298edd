//! `empty-body`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;

rule! {
    /// A fork without instructions.
    ///
    /// It fires all the same and costs a run, in which there is nothing to do.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Bring LOG.md up to date.
    /// ```
    "empty-body", Warn, Body, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let Some(closing) = file.envelope.closing else { return };
    if file.words(file.envelope.body).trim().is_empty() {
        out.report(&RULE, closing.span, "there are no instructions; the fork fires but has nothing to do")
            .label("nothing follows")
            .help("write below this line what the fork is to do");
    }
}
