//! `shadowed-fork`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::text::{Span, brief};

rule! {
    /// A fork that another one of the same name hides, in a root that is nearer to the session.
    ///
    /// The nearer one runs. That is how a project replaces a fork of the user's own; it is worth knowing when it was not
    /// meant.
    ///
    /// Bad:
    /// ```markdown review.md
    /// ---
    /// fork: true
    /// ---
    /// Review the changes of this project.
    /// ```
    /// ```markdown user/review.md
    /// ---
    /// fork: true
    /// ---
    /// Review the changes.
    /// ```
    ///
    /// Good:
    /// ```markdown review-here.md
    /// ---
    /// fork: true
    /// ---
    /// Review the changes of this project.
    /// ```
    /// ```markdown user/review.md
    /// ---
    /// fork: true
    /// ---
    /// Review the changes.
    /// ```
    "shadowed-fork", Hint, Names, None
}

pub(crate) fn check(owner: &ForkFile, file: &ForkFile, out: &mut Findings) {
    let name = brief(file.name.as_str()).into_owned();
    out.report(&RULE, Span::at(0), format!("a nearer file has the name `{name}`; this fork does not run here"))
        .label("does not run")
        .also_in(owner.source.path().clone(), Span::at(0), "has the name")
        .help("rename one of them if both are meant to run");
}
