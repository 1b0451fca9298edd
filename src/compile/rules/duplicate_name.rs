//! `duplicate-name`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::text::{Span, brief};

rule! {
    /// Two forks of one name in one root.
    ///
    /// Folders below a root only organise, they are not part of the name. The first one, in byte order of the paths, runs;
    /// the other never does.
    ///
    /// Bad:
    /// ```markdown daily/standup.md
    /// ---
    /// fork: true
    /// ---
    /// Prepare the standup.
    /// ```
    /// ```markdown weekly/standup.md
    /// ---
    /// fork: true
    /// ---
    /// Prepare the review of the week.
    /// ```
    ///
    /// Good:
    /// ```markdown daily/standup.md
    /// ---
    /// fork: true
    /// ---
    /// Prepare the standup.
    /// ```
    /// ```markdown weekly/review.md
    /// ---
    /// fork: true
    /// ---
    /// Prepare the review of the week.
    /// ```
    "duplicate-name", Warn, Names, None
}

pub(crate) fn check(owner: &ForkFile, file: &ForkFile, out: &mut Findings) {
    let name = brief(file.name.as_str()).into_owned();
    out.report(&RULE, Span::at(0), format!("another file of this root has the name `{name}`; this fork never runs"))
        .label("never runs")
        .also_in(owner.source.path().clone(), Span::at(0), "has the name")
        .help("rename the file: folders are not part of a fork's name");
}
