//! `invalid-duration`

use super::{invalid_type, invisible_character, malformed_moment, nonportable_duration};
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::diagnostic::Level;
use crate::ir::{Moment, Seconds};
use crate::syntax::duration::{self, Fault, Reason};
use crate::syntax::yaml::{Node, Plain, Scalar, Style};
use crate::text::brief;

rule! {
    /// A duration that cannot be read: capital letters, fractions, `ms`, words, `1:30`, negatives, more than ten years.
    ///
    /// A duration is a number of seconds, or a number with one of the units `s`, `m`, `h`, `d`. An idle moment falls
    /// back to the configured deadline. A throttle falls back to none, which is an error: the fork would run more often
    /// than was meant.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 30 minutes
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// throttle: 30m
    /// ---
    /// Tidy.
    /// ```
    "invalid-duration", Warn, Moments, Some
}

/// The throttle that a scalar stands for; none if it is bad.
pub(crate) fn check_throttle(file: &ForkFile, value: &Node, scalar: &Scalar, out: &mut Findings) -> Option<Seconds> {
    match duration::parse(&scalar.text) {
        Ok(found) if found.length.is_zero() => {
            out.report(&RULE, value.place(), "a throttle is longer than no time; the fork runs unthrottled")
                .level(Level::Error)
                .label("no time at all")
                .help("write the least time between two runs, such as `30m`, or remove `throttle`");
            None
        }
        Ok(found) => {
            nonportable_duration::check(value, found, out);
            Some(found.length)
        }
        Err(fault) => {
            report(file, value, scalar, &fault, "the fork runs unthrottled", Level::Error, out);
            None
        }
    }
}

/// The idle moment that a value stands for: bare `idle` if its duration is bad, none if it is no value at all.
pub(crate) fn check_idle(file: &ForkFile, value: &Node, out: &mut Findings) -> Option<Moment> {
    let Some(scalar) = value.scalar() else {
        malformed_moment::check_value(value, "idle", out);
        return None;
    };
    match scalar.plain() {
        Plain::Null => return Some(Moment::Idle(None)),
        Plain::Boolean(_) => {
            invalid_type::check_moment_value(value, "idle", out);
            return Some(Moment::Idle(None));
        }
        Plain::Number | Plain::Text => {}
    }
    let consequence = "bare `idle` is used, with the configured deadline";
    if invisible_character::check_words(file, value, "duration", consequence, out) {
        return Some(Moment::Idle(None));
    }
    match duration::parse(&scalar.text) {
        Ok(found) => {
            nonportable_duration::check(value, found, out);
            Some(Moment::Idle(Some(found.length)))
        }
        Err(fault) => {
            report(file, value, scalar, &fault, consequence, RULE.level, out);
            Some(Moment::Idle(None))
        }
    }
}

fn report(
    file: &ForkFile,
    value: &Node,
    scalar: &Scalar,
    fault: &Fault,
    consequence: &str,
    level: Level,
    out: &mut Findings,
) {
    let shown = brief(&scalar.text);
    let message = match fault.reason {
        Reason::Empty => format!("an empty text is no duration; {consequence}"),
        Reason::TooLong => format!("`{shown}` is longer than ten years; {consequence}"),
        _ => format!("`{shown}` is no duration; {consequence}"),
    };
    let draft = out.report(&RULE, value.place(), message).level(level).label(why(fault.reason));
    match &fault.suggestion {
        Some(meant) => {
            let draft = draft.help(format!("write `{meant}`, if that is what was meant"));
            if scalar.style != Style::Block && !file.words(value.span).contains(['\n', '\r']) {
                draft.guess(format!("write `{meant}`"), value.span, meant.clone());
            }
        }
        None => {
            draft.help("write a number of seconds, or a number with one of `s`, `m`, `h`, `d`: `90`, `30m`, `2h`");
        }
    }
}

/// Why a text is no duration, in at most six words.
pub(crate) fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Empty => "nothing here",
        Reason::Negative => "below zero",
        Reason::Fraction => "whole numbers only",
        Reason::LeadingZero => "starts with a zero",
        Reason::Capital => "units are small letters",
        Reason::Milliseconds => "nothing is finer than seconds",
        Reason::Unit => "the units are s, m, h, d",
        Reason::Clock => "reads as a time of day",
        Reason::Order => "largest unit first, each once",
        Reason::TooLong => "at most 3650d",
        Reason::Other => "not a duration",
    }
}
