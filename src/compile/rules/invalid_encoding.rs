//! `invalid-encoding`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;
use crate::compile::input::Obstacle;

rule! {
    /// A fork file that is not UTF-8.
    ///
    /// Text in another encoding would reach the model garbled, so the fork does not fire. The place is that of the first
    /// byte that is no UTF-8. Most editors can save a file "with encoding UTF-8".
    ///
    /// Bad: a file saved as UTF-16 or Latin-1.
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: café notes
    /// ---
    /// Bring LOG.md up to date.
    /// ```
    "invalid-encoding", Error, Envelope, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Broken {
        return;
    }
    let (span, what) = match &file.obstacle {
        Some(Obstacle::Utf16(span)) => (*span, "this file is UTF-16, not UTF-8".to_owned()),
        Some(Obstacle::NotUtf8(span)) => (*span, format!("the byte at offset {} is not UTF-8", span.start)),
        _ => return,
    };
    out.report(&RULE, span, format!("{what}; the fork is broken and does not fire"))
        .help("save the file with the encoding UTF-8");
}
