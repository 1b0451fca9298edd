//! `malformed-fence`

use crate::compile::file::{FileKind, ForkFile, Lookalike};
use crate::compile::findings::Findings;
use crate::diagnostic::{Applicability, Level};
use crate::syntax::envelope::{Fence, Shape};
use crate::text::Span;

rule! {
    /// A line that was meant as a fence around the frontmatter but is none: four dashes, text glued to the dashes, or
    /// something before them.
    ///
    /// A fence is a line of exactly three dashes. With anything else the file is no fork, or its frontmatter has no end.
    ///
    /// Bad:
    /// ```markdown
    /// ----
    /// fork: true
    /// ----
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
    "malformed-fence", Warn, Envelope, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    let Some((fence, level)) = file.bad_fence else { return };
    let what = match fence.shape {
        Shape::Glued(_) => "there is text right after the dashes of this fence",
        Shape::Late(_) => "there is something before the dashes of this fence",
        _ => "a fence has exactly three dashes",
    };
    let consequence = match (file.kind, level) {
        (FileKind::Lookalike(Lookalike::MalformedFence), _) => "this file has no frontmatter and is no fork",
        (FileKind::Broken, Level::Error) => "the frontmatter is never closed, the fork is broken and does not fire",
        _ => return,
    };
    let closing = file.envelope.closing.filter(|closing| !closing.is_proper());
    let edits = [Some(fence), closing].into_iter().flatten().map(|fence| mended(file, fence));
    out.report(&RULE, fence.span, format!("{what}; {consequence}"))
        .level(level)
        .label("not a fence")
        .help("write `---` alone on the line")
        .fix(Applicability::Unsafe, "write `---` alone on the line", edits);
}

/// The edit that makes a fence of a line.
fn mended(file: &ForkFile, fence: Fence) -> (Span, String) {
    match fence.shape {
        Shape::Glued(text) => {
            let words = file.words(text).trim_start();
            (text, format!("{}{words}", file.line_end()))
        }
        _ => (fence.span, "---".to_owned()),
    }
}
