//! Words for people: times, lengths, reasons, and names that came from elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::engine::{Outcome, Reason};
use crate::host::protocol::RunState;
use crate::ir::{ForkName, Time};
use crate::text::visible;

/// Text from elsewhere, fit for a terminal: see [`visible`].
pub(super) fn plain(text: &str) -> String {
    visible(text).into_owned()
}

/// The first line that says something, cut to `width` characters, fit for a terminal.
pub(super) fn first_line(text: &str, width: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let shown = plain(line);
    if shown.chars().count() <= width {
        return shown;
    }
    let mut cut: String = shown.chars().take(width.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// A path fit for a terminal, with `~` for the user's home folder.
pub(super) fn path(path: &Path) -> String {
    let short = std::env::home_dir()
        .and_then(|home| path.strip_prefix(home).ok().map(|rest| Path::new("~").join(rest)))
        .filter(|short| short.as_os_str() != "~/");
    plain(&short.as_deref().unwrap_or(path).to_string_lossy())
}

/// An instant on the clock of the wall: the time of day, with the date unless it is today.
pub(super) fn clock(at: Time, now: Time) -> String {
    let zone = TimeZone::system();
    let local =
        |time: Time| Timestamp::from_millisecond(time.as_millis()).ok().map(|stamp| stamp.to_zoned(zone.clone()));
    match (local(at), local(now)) {
        (Some(at), Some(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
        (Some(at), _) => at.strftime("%b %e %H:%M").to_string(),
        (None, _) => "at no known time".to_owned(),
    }
}

/// `in 3m`, or `now`.
pub(super) fn until(at: Time, now: Time) -> String {
    if at <= now {
        return "now".to_owned();
    }
    // A tenth of a second to go is not yet no time to go.
    let left = Time::from_millis(at.as_millis().saturating_add(999)).since(now);
    format!("in {left}")
}

/// How a run ended.
pub(super) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "done",
        Outcome::Failed => "failed",
        Outcome::Killed => "stopped",
        Outcome::Lost => "lost",
    }
}

/// Why a fork does not fire now.
pub(super) fn reason(reason: &Reason, now: Time) -> String {
    reason_told(reason, &|at| clock(at, now))
}

/// Why a fork does not fire, with instants told by `clock`.
pub(super) fn reason_told(reason: &Reason, clock: &dyn Fn(Time) -> String) -> String {
    match reason {
        Reason::NeverFires => "has no moment that could make it fire".to_owned(),
        Reason::IdleSwitchedOff => "bare idle is switched off in the configuration".to_owned(),
        Reason::NoTurnYet => "no turn yet".to_owned(),
        Reason::MidTurn => "a turn is under way, or was interrupted".to_owned(),
        Reason::NotYetQuiet { until } => format!("not quiet for long enough until {}", clock(*until)),
        Reason::Latched => "has fired in this pause".to_owned(),
        Reason::Throttled { until } => format!("throttled until {}", clock(*until)),
        Reason::TagThrottled { tag, until } => {
            format!("its tag {} is throttled until {}", plain(tag.as_str()), clock(*until))
        }
        Reason::TagDisabled(tag) => format!("its tag {} is switched off", plain(tag.as_str())),
        Reason::NoEnabledTag => "none of its tags is switched on".to_owned(),
        Reason::Running { until } => {
            format!("is running; without news of its end it counts as lost after {}", clock(*until))
        }
        Reason::HeldBack { after } => format!("waits for {}", names(after)),
        Reason::HeldByTask { task, until: None } => format!("held by background task {}", plain(task.as_str())),
        Reason::HeldByTask { task, until: Some(until) } => {
            format!("held by background task {} until {} at most", plain(task.as_str()), clock(*until))
        }
        Reason::BelowThreshold { tokens, threshold } => {
            format!("the context holds {} of {} tokens", count(*tokens), count(*threshold))
        }
        Reason::ThresholdSpent(moment) => format!("{moment} has fired in this session"),
        Reason::GaugeUnknown => "the size of the context is not known".to_owned(),
        Reason::PlanMode => "the session is in plan mode".to_owned(),
        Reason::ForkTypeMissing => "its Claude Code cannot run forks".to_owned(),
        Reason::NotParked => "no hook is parked to wake the session through".to_owned(),
        Reason::Debouncing { until } => {
            format!("is due; others that come due may join its wake until {}", clock(*until))
        }
    }
}

/// The reasons that are worth telling together. Who is held back has been stamped with its batch: that it fired and is
/// throttled is the same thing said again, and wrong in the ears of whoever waits for it.
pub(super) fn telling(reasons: &[Reason]) -> impl Iterator<Item = &Reason> {
    let held = reasons.iter().any(|reason| matches!(reason, Reason::HeldBack { .. }));
    reasons.iter().filter(move |reason| {
        !(held && matches!(reason, Reason::Latched | Reason::Throttled { .. } | Reason::TagThrottled { .. }))
    })
}

/// What must happen for a reason to go away, where time alone does not make it.
pub(super) const fn remedy(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::NeverFires => Some("when its `run_on` names a moment that can come"),
        Reason::IdleSwitchedOff => Some("when it gives its `idle` a length, or default_idle_deadline is not 0"),
        Reason::NoTurnYet => Some("once a turn has ended"),
        Reason::MidTurn => Some("once a turn ends; after an interruption, your next one"),
        Reason::Latched => Some("in the next pause, after your next turn"),
        Reason::TagDisabled(_) | Reason::NoEnabledTag => Some("when the tag filter lets it pass"),
        Reason::HeldBack { .. } => Some("when those it waits for have ended"),
        Reason::HeldByTask { until: None, .. } => Some("when that work has ended"),
        Reason::GaugeUnknown => Some("once the transcript tells how large the context is"),
        Reason::BelowThreshold { .. } => Some("when the context has grown that far"),
        Reason::ThresholdSpent(_) => Some("after the session is resumed"),
        Reason::PlanMode => Some("when the session has left plan mode"),
        Reason::ForkTypeMissing => Some("in a session of a Claude Code that can: see `autofork doctor`"),
        Reason::NotParked => Some("once a turn has ended and its hook is parked"),
        Reason::NotYetQuiet { .. }
        | Reason::Throttled { .. }
        | Reason::TagThrottled { .. }
        | Reason::Running { .. }
        | Reason::HeldByTask { until: Some(_), .. }
        | Reason::Debouncing { .. } => None,
    }
}

/// Names of forks, fit for a terminal.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a ForkName>) -> String {
    names.into_iter().map(|name| plain(name.as_str())).collect::<Vec<_>>().join(", ")
}

/// A number with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            // A narrow no-break space would be right and is not in every font.
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

/// What became of a fork that fired, in a few words.
pub(super) fn run_state(state: &RunState, now: Time) -> String {
    match state {
        RunState::Waiting => "not started yet".to_owned(),
        RunState::Void => "never started".to_owned(),
        RunState::Live { since } => format!("running for {}", now.since(*since)),
        RunState::Ended { started, at, outcome: how, usage, .. } => {
            let mut line = format!("{} after {}", outcome(*how), at.since(*started));
            if let Some(usage) = usage {
                let _ = write!(line, ", {} tokens", count(usage.tokens));
            }
            line
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_elsewhere_cannot_touch_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\u{7}"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(plain("ab\u{202e}cd"), "ab\\u{202e}cd");
        assert_eq!(plain("Grüße 👋"), "Grüße 👋");
        assert_eq!(first_line("\n  \n  a long report\nmore", 8), "a long…");
        assert_eq!(first_line("short", 8), "short");
        assert_eq!(first_line("", 8), "");
    }

    #[test]
    fn large_numbers_can_be_read() {
        assert_eq!([0, 999, 1000, 12_345, 1_234_567].map(count), ["0", "999", "1 000", "12 345", "1 234 567"]);
    }

    #[test]
    fn times_to_come_read_well() {
        let now = Time::from_millis(1_800_000_000_000);
        let later = |millis| Time::from_millis(now.as_millis() + millis);
        assert_eq!(until(now, now), "now");
        assert_eq!(until(later(100), now), "in 1s");
        assert_eq!(until(later(15 * 60 * 1000), now), "in 15m");
    }
}
