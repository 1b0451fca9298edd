//! Words for people: times, lengths, reasons, and names that came from elsewhere.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::engine::{Outcome, Reason};
use crate::ir::{ForkName, Time};

/// Text from elsewhere, fit for a terminal: what could move the cursor, recolour the screen or turn the direction of
/// writing is shown as an escape.
pub(super) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let turns_direction =
            matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || turns_direction || matches!(character, '\u{2028}' | '\u{2029}') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
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
    match reason {
        Reason::NeverFires => "has no moment that could make it fire".to_owned(),
        Reason::IdleSwitchedOff => "bare idle is switched off in the configuration".to_owned(),
        Reason::NoTurnYet => "no turn yet".to_owned(),
        Reason::MidTurn => "a turn is under way".to_owned(),
        Reason::NotYetQuiet { until } => format!("not quiet for long enough until {}", clock(*until, now)),
        Reason::Latched => "has fired in this pause".to_owned(),
        Reason::Throttled { until } => format!("throttled until {}", clock(*until, now)),
        Reason::TagThrottled { tag, until } => {
            format!("its tag {} is throttled until {}", plain(tag.as_str()), clock(*until, now))
        }
        Reason::TagDisabled(tag) => format!("its tag {} is switched off", plain(tag.as_str())),
        Reason::NoEnabledTag => "none of its tags is switched on".to_owned(),
        Reason::Running { until } => format!("it is running, or lost if not heard of by {}", clock(*until, now)),
        Reason::HeldBack { after } => {
            let names: Vec<String> = after.iter().map(ForkName::as_str).map(plain).collect();
            format!("waits for {}", names.join(", "))
        }
        Reason::HeldByTask { task, until: None } => format!("held by background task {}", plain(task.as_str())),
        Reason::HeldByTask { task, until: Some(until) } => {
            format!("held by background task {} until {} at most", plain(task.as_str()), clock(*until, now))
        }
        Reason::BelowThreshold { tokens, threshold } => {
            format!("the context holds {tokens} of {threshold} tokens")
        }
        Reason::ThresholdSpent(moment) => format!("{moment} has fired in this session"),
        Reason::GaugeUnknown => "the size of the context is not known".to_owned(),
        Reason::PlanMode => "the session is in plan mode".to_owned(),
        Reason::ForkTypeMissing => "its Claude Code cannot run forks".to_owned(),
        Reason::NotParked => "no hook is parked to wake the session through".to_owned(),
        Reason::Debouncing { until } => format!("others may still join its wake, {}", self::until(*until, now)),
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
    fn times_to_come_read_well() {
        let now = Time::from_millis(1_800_000_000_000);
        let later = |millis| Time::from_millis(now.as_millis() + millis);
        assert_eq!(until(now, now), "now");
        assert_eq!(until(later(100), now), "in 1s");
        assert_eq!(until(later(15 * 60 * 1000), now), "in 15m");
    }
}
