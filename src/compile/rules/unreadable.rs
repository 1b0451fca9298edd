//! `unreadable`

use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::input::Obstacle;
use crate::text::{Span, brief};

rule! {
    /// A file or folder that is there but is not read: no permission, a link to nowhere or to a folder around it, a root
    /// of forks that belongs to another user, or one with too much in it.
    ///
    /// What is in it cannot fire; everything else goes on. A root that belongs to somebody else is left alone on
    /// purpose, since forks run with your permissions. Below a root 100 000 files and folders are looked at: more are
    /// there by accident, such as a link to a whole disk.
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
        let message = format!("this file cannot be read: {}; if it is a fork, it does not fire", brief(reason));
        out.report(&RULE, Span::at(0), message).help("make the file readable for you, or remove it");
    }
}

/// Reports a folder that cannot be read, or must not be; the findings are those of its path.
pub(crate) fn check_folder(reason: &str, out: &mut Findings) {
    let message = format!("this cannot be read: {}; forks in it do not fire", brief(reason));
    out.report(&RULE, Span::at(0), message).help("make it readable for you, or remove it");
}

/// Reports a root that belongs to another user.
pub(crate) fn check_foreign(out: &mut Findings) {
    out.report(&RULE, Span::at(0), "this root belongs to another user; its forks are not read and do not fire")
        .help("forks run with your permissions: copy those that you trust to a root of your own");
}

/// Reports a link to a folder that its root lies in.
pub(crate) fn check_circle(out: &mut Findings) {
    out.report(&RULE, Span::at(0), "this link leads to a folder around it and is not followed; forks there do not fire")
        .help("link to the folder with the forks alone, or remove the link");
}

/// Reports the first folder that is not looked into any more.
pub(crate) fn check_too_much(entries: usize, out: &mut Findings) {
    let message =
        format!("there are more than {entries} files and folders below this root; forks from here on do not fire");
    out.report(&RULE, Span::at(0), message).help("move what is no fork elsewhere, or remove the link that leads to it");
}
