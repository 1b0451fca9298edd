//! `too-large`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;
use crate::compile::input::Obstacle;
use crate::text::Span;

rule! {
    /// A fork file of more than 1 MiB.
    ///
    /// A fork's instructions become part of a conversation, where so much text has no place. The file is not read to its
    /// end and the fork does not fire.
    ///
    /// Bad: a fork with a whole log pasted below its instructions.
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Read LOG.md and write what is still open to OPEN.md.
    /// ```
    "too-large", Error, Envelope, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind == FileKind::Broken && file.obstacle == Some(Obstacle::TooLarge) {
        out.report(&RULE, Span::at(0), "this fork file is larger than 1 MiB; the fork is broken and does not fire")
            .help("keep the instructions in the fork and move material into a file that it reads");
    }
}
