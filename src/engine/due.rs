//! When a fork comes due in a session, and what stands in the way. Every guard of the schedule is in this file, once:
//! the wake, the next deadline, `why` and `status` all ask here.

use super::event::PermissionMode;
use super::fork_type::ForkType;
use super::gauge::{Windows, threshold};
use super::reason::Reason;
use super::session::{Pause, Session, Turn};
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

/// What the guards look at.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) session: &'a Session,
    pub(super) config: &'a Config,
    pub(super) stamps: &'a Stamps,
    pub(super) windows: &'a Windows,
    pub(super) now: Time,
}

impl View<'_> {
    /// Looks at one fork. Whether the session can be woken at all is not asked here.
    pub(super) fn outlook(&self, fork: &Fork) -> Outlook {
        let mut outlook = self.moments(fork);
        self.guards(fork, &mut outlook);
        if outlook.due.is_none() {
            outlook.trigger = None;
        }
        outlook
    }

    /// The fork's moments. It is due with the earliest of them; what stands in the way of the others matters only
    /// until then.
    fn moments(&self, fork: &Fork) -> Outlook {
        let mut best: Option<(Time, Trigger)> = None;
        let mut reasons = Vec::new();
        for moment in &fork.run_on {
            match self.moment(fork, *moment) {
                Ok((due, trigger)) => {
                    if best.is_none_or(|(earliest, _)| due < earliest) {
                        best = Some((due, trigger));
                    }
                }
                Err(reason) if !reasons.contains(&reason) => reasons.push(reason),
                Err(_) => {}
            }
        }
        match best {
            Some((due, trigger)) if due <= self.now => {
                Outlook { due: Some(due), trigger: Some(trigger), reasons: Vec::new() }
            }
            Some((due, trigger)) => {
                reasons.insert(0, Reason::NotYetQuiet { until: due });
                let clock_stands = self.session.pause.as_ref().is_some_and(|pause| pause.clock.is_none());
                if let Some(until) = self.held_until().filter(|until| clock_stands && *until > self.now) {
                    reasons.extend(self.holding_task(Some(until)));
                }
                Outlook { due: Some(due), trigger: Some(trigger), reasons }
            }
            None => {
                if fork.run_on.is_empty() {
                    reasons.push(Reason::NeverFires);
                }
                Outlook { due: None, trigger: None, reasons }
            }
        }
    }

    /// The fork's moments that have come.
    pub(super) fn due_moments(&self, fork: &Fork) -> Vec<Moment> {
        let due = |moment: &Moment| self.moment(fork, *moment).is_ok_and(|(due, _)| due <= self.now);
        fork.run_on.iter().copied().filter(due).collect()
    }

    /// When one moment makes the fork due, and as which trigger; or why nothing but time will not bring it.
    fn moment(&self, fork: &Fork, moment: Moment) -> Result<(Time, Trigger), Reason> {
        if !matches!(moment, Moment::Idle(_)) {
            return self.context(fork, moment);
        }
        let deadline = self.config.deadline(moment).ok_or(Reason::IdleSwitchedOff)?;
        let pause = self.pause()?;
        if pause.fired.contains(&fork.name) {
            return Err(Reason::Latched);
        }
        Ok((self.clock()?.after(deadline), Trigger::Idle(deadline)))
    }

    /// When the clock of the pause began to run, or will if nothing but time passes.
    pub(super) fn clock(&self) -> Result<Time, Reason> {
        let pause = self.pause()?;
        match pause.clock {
            Some(clock) => Ok(clock),
            None if !self.config.background_hold => Ok(pause.began),
            None => match self.held_until() {
                Some(until) => Ok(until.max(pause.began)),
                None => Err(self.holding_task(None).unwrap_or(Reason::MidTurn)),
            },
        }
    }

    fn pause(&self) -> Result<&Pause, Reason> {
        self.session.pause.as_ref().ok_or(match self.session.turn {
            Turn::None => Reason::NoTurnYet,
            Turn::Running { .. } | Turn::Ended { .. } => Reason::MidTurn,
        })
    }

    fn context(&self, fork: &Fork, moment: Moment) -> Result<(Time, Trigger), Reason> {
        if self.session.has_spent(&fork.name, moment) {
            return Err(Reason::ThresholdSpent(moment));
        }
        let gauge = self.session.gauge.ok_or(Reason::GaugeUnknown)?;
        let window = self.windows.size(&self.session.conversation);
        match threshold(moment, window) {
            Some(threshold) if gauge.tokens >= threshold => {
                Ok((gauge.at, Trigger::Context { moment, tokens: gauge.tokens }))
            }
            Some(threshold) => Err(Reason::BelowThreshold { tokens: gauge.tokens, threshold }),
            None => Err(Reason::GaugeUnknown),
        }
    }

    /// What keeps the fork from running although its moment has come.
    fn guards(&self, fork: &Fork, outlook: &mut Outlook) {
        let Self { session, config, stamps, now, .. } = *self;
        if session.fork_type == ForkType::Missing {
            outlook.blocked(Reason::ForkTypeMissing);
        }
        self.tag_filter(fork, outlook);
        if mode_forbids_wakes(session, config) {
            outlook.blocked(Reason::PlanMode);
        }
        if let Some(gap) = fork.throttle
            && let Some(last) = stamps.fork(&session.conversation, &fork.name)
        {
            outlook.not_before(now, last.after(gap), |until| Reason::Throttled { until });
        }
        for tag in &fork.tags {
            if let Some(gap) = config.tag_throttles.get(tag)
                && let Some(last) = stamps.tag(&session.root, tag)
            {
                let throttled = |until| Reason::TagThrottled { tag: tag.clone(), until };
                outlook.not_before(now, last.after(*gap), throttled);
            }
        }
        if let Some(held) = session.held.iter().find(|held| held.fork == fork.name) {
            outlook.blocked(Reason::HeldBack { after: held.after.clone() });
        }
        if fork.overlap == Overlap::Forbidden
            && let Some(run) = session.live_run_of(&fork.name, now)
        {
            outlook.not_before(now, run.ages_out(), |until| Reason::Running { until });
        }
    }

    /// A tag of the disable set keeps the fork out; so does having none of a non-empty enable set. The session's
    /// environment replaces the configured sets.
    fn tag_filter(&self, fork: &Fork, outlook: &mut Outlook) {
        let tags = &self.session.tags;
        let disabled = tags.disable.as_ref().unwrap_or(&self.config.disable_tags);
        let enabled = tags.enable.as_ref().unwrap_or(&self.config.enable_tags);
        if let Some(tag) = fork.tags.iter().find(|tag| disabled.contains(*tag)) {
            outlook.blocked(Reason::TagDisabled(tag.clone()));
        }
        if !enabled.is_empty() && !fork.tags.iter().any(|tag| enabled.contains(tag)) {
            outlook.blocked(Reason::NoEnabledTag);
        }
    }

    /// When background work stops holding the clock of the pause; `None` if it has no limit.
    fn held_until(&self) -> Option<Time> {
        let limit = self.config.background_hold_timeout;
        if limit.is_zero() {
            return None;
        }
        self.session.background.values().map(|since| since.after(limit)).max()
    }

    fn holding_task(&self, until: Option<Time>) -> Option<Reason> {
        let (task, _) = self.session.background.iter().max_by_key(|(_, since)| **since)?;
        Some(Reason::HeldByTask { task: task.clone(), until })
    }
}

impl Outlook {
    /// Only something other than time can clear this.
    fn blocked(&mut self, reason: Reason) {
        self.due = None;
        self.reasons.push(reason);
    }

    /// Time clears this at `until`.
    fn not_before(&mut self, now: Time, until: Time, reason: impl FnOnce(Time) -> Reason) {
        self.due = self.due.map(|due| due.max(until));
        if until > now {
            self.reasons.push(reason(until));
        }
    }
}

/// Whether the session is left alone because it plans.
pub(super) fn mode_forbids_wakes(session: &Session, config: &Config) -> bool {
    session.mode == Some(PermissionMode::Plan) && !config.wake_in_plan_mode
}

/// The instant at which a wake goes out for a window that opened at `opened`.
pub(super) fn window_closes(opened: Time, debounce: Seconds) -> Time {
    opened.after(debounce)
}
