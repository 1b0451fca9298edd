//! `unclosed-frontmatter`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;

rule! {
    /// A frontmatter that is opened with `---` and never closed.
    ///
    /// Without a closing fence nobody can tell where the keys end and the instructions begin, so the fork does not fire.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on: [idle]
    ///
    /// Bring LOG.md up to date.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on: [idle]
    /// ---
    ///
    /// Bring LOG.md up to date.
    /// ```
    "unclosed-frontmatter", Error, Envelope, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let Some(opening) = file.envelope.opening.filter(|fence| fence.is_proper()) else { return };
    let unclosed = file.envelope.closing.is_none() && file.bad_fence.is_none() && file.obstacle.is_none();
    if file.kind != FileKind::Broken || !unclosed {
        return;
    }
    out.report(&RULE, opening.span, "this frontmatter is never closed; the fork is broken and does not fire")
        .label("opened here, closed nowhere")
        .help("write a line `---` between the last key and the instructions");
}
