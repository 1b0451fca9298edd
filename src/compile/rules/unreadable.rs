//! `unreadable`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::input::Obstacle;
use crate::text::{Span, visible};

rule! {
    /// A file or folder that is there but cannot be read: no permission, a link to nowhere, or a root of forks that
    /// belongs to another user.
    ///
    /// What is in it cannot fire; everything else goes on. A root that belongs to somebody else is left alone on
    /// purpose, since forks run with your permissions.
    ///
    /// Bad: a fork file that only another user may read.
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// ---
    /// Bring LOG.md up to date.
    /// ```
    "unreadable", Error, Envelope, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if let Some(Obstacle::Unreadable(reason)) = &file.obstacle {
        let message = format!("this file cannot be read: {}; if it is a fork, it does not fire", visible(reason));
        out.report(&RULE, Span::at(0), message).help("make the file readable for you, or remove it");
    }
}
