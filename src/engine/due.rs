//! When a fork comes due in a session, and what stands in the way. Every guard of the schedule is in this file, once:
//! the wake, the next deadline, `why` and `status` all ask here.

use super::event::PermissionMode;
use super::reason::Reason;
use super::session::{Session, Turn};
use super::stamps::Stamps;
use super::ticket::Trigger;
use crate::ir::{Config, Fork, Moment, Overlap, Seconds, Time};

/// What is known of a fork's next firing in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// When it comes due if nothing but time passes; `None` if something else must happen first.
    pub due: Option<Time>,
    /// What would be named as its trigger.
    pub trigger: Option<Trigger>,
    /// All that stands in the way now; empty if it is due.
    pub reasons: Vec<Reason>,
}

/// Looks at one fork in one session at `now`. Whether the session can be woken at all is not asked here.
pub(super) fn outlook(session: &Session, fork: &Fork, config: &Config, stamps: &Stamps, now: Time) -> Outlook {
    // A fork that waits for nothing has been due for ever.
    let mut verdict = Verdict { now, due: Some(Time::from_millis(i64::MIN)), reasons: Vec::new() };

    let trigger = moments(session, fork, config, &mut verdict);
    if let Some(pause) = &session.pause
        && pause.fired.contains(&fork.name)
    {
        verdict.blocked(Reason::Latched);
    }
    tag_filter(session, fork, config, &mut verdict);
    if session.mode == Some(PermissionMode::Plan) && !config.wake_in_plan_mode {
        verdict.blocked(Reason::PlanMode);
    }
    if let Some(gap) = fork.throttle
        && let Some(last) = stamps.fork(&session.conversation, &fork.name)
    {
        verdict.not_before(last.after(gap), |until| Reason::Throttled { until });
    }
    for tag in &fork.tags {
        if let Some(gap) = config.tag_throttles.get(tag)
            && let Some(last) = stamps.tag(&session.root, tag)
        {
            verdict.not_before(last.after(*gap), |until| Reason::TagThrottled { tag: tag.clone(), until });
        }
    }
    if fork.overlap == Overlap::Forbidden
        && let Some(run) = session.live_run_of(&fork.name, now)
    {
        verdict.not_before(run.ages_out(), |until| Reason::Running { until });
    }
    Outlook { due: verdict.due, trigger, reasons: verdict.reasons }
}

/// Gathers what stands in the way, and the instant at which time alone will have cleared it.
struct Verdict {
    now: Time,
    due: Option<Time>,
    reasons: Vec<Reason>,
}

impl Verdict {
    /// Only something other than time can clear this.
    fn blocked(&mut self, reason: Reason) {
        self.due = None;
        self.reasons.push(reason);
    }

    /// Time clears this at `until`.
    fn not_before(&mut self, until: Time, reason: impl FnOnce(Time) -> Reason) {
        self.due = self.due.map(|due| due.max(until));
        if until > self.now {
            self.reasons.push(reason(until));
        }
    }
}

/// The fork's moments: due is the earliest of them.
fn moments(session: &Session, fork: &Fork, config: &Config, verdict: &mut Verdict) -> Option<Trigger> {
    let deadlines = fork.run_on.iter().filter_map(|moment| match moment {
        Moment::Idle(Some(length)) => Some(*length),
        Moment::Idle(None) => Some(config.default_idle_deadline).filter(|default| !default.is_zero()),
        Moment::ContextTokens(_) | Moment::ContextUsed(_) | Moment::ContextLeft(_) => None,
    });
    let Some(deadline) = deadlines.min() else {
        verdict.blocked(no_deadline(fork));
        return None;
    };
    let Some(pause) = &session.pause else {
        verdict.blocked(match session.turn {
            Turn::None => Reason::NoTurnYet,
            Turn::Running { .. } | Turn::Ended { .. } => Reason::MidTurn,
        });
        return None;
    };
    verdict.not_before(pause.began.after(deadline), |until| Reason::NotYetQuiet { until });
    Some(Trigger::Idle(deadline))
}

/// Why no idle moment of the fork has a deadline.
fn no_deadline(fork: &Fork) -> Reason {
    let has = |wanted: fn(&Moment) -> bool| fork.run_on.iter().any(wanted);
    if has(|moment| matches!(moment, Moment::ContextTokens(_) | Moment::ContextUsed(_) | Moment::ContextLeft(_))) {
        Reason::GaugeUnknown
    } else if has(|moment| matches!(moment, Moment::Idle(None))) {
        Reason::IdleSwitchedOff
    } else {
        Reason::NeverFires
    }
}

/// A tag of the disable set keeps the fork out; so does having none of a non-empty enable set. The session's
/// environment replaces the configured sets.
fn tag_filter(session: &Session, fork: &Fork, config: &Config, verdict: &mut Verdict) {
    let disabled = session.tags.disable.as_ref().unwrap_or(&config.disable_tags);
    let enabled = session.tags.enable.as_ref().unwrap_or(&config.enable_tags);
    if let Some(tag) = fork.tags.iter().find(|tag| disabled.contains(*tag)) {
        verdict.blocked(Reason::TagDisabled(tag.clone()));
    }
    if !enabled.is_empty() && !fork.tags.iter().any(|tag| enabled.contains(tag)) {
        verdict.blocked(Reason::NoEnabledTag);
    }
}

/// The instant at which a wake goes out for a window that opened at `opened`.
pub(super) fn window_closes(opened: Time, debounce: Seconds) -> Time {
    opened.after(debounce)
}
