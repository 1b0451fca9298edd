//! `cr-line-endings`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::diagnostic::Applicability;
use crate::text::Span;

rule! {
    /// A file in which every line ends with a carriage return alone, as on computers of long ago.
    ///
    /// We read it, but most other tools see one long line.
    ///
    /// Bad: a file saved with "classic Mac" line ends.
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Tidy.
    /// ```
    "cr-line-endings", Warn, Envelope, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let text = file.text();
    if text.contains('\n') || !text.contains('\r') {
        return;
    }
    // The body of the fork changes with its line ends, so this is never done unseen.
    let edits = text.match_indices('\r').map(|(at, _)| (Span::new(at, at + 1), "\n".to_owned()));
    out.report(&RULE, Span::at(0), "the lines of this file end with carriage returns alone; they are read here, but by few other tools")
        .help("save the file with line ends of the kind LF")
        .fix(Applicability::Unsafe, "end lines with line feeds", edits);
}
