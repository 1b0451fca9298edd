//! Expectations, and what is said of one that is not met.

use std::fmt::Write as _;
use std::ops::Range;

use super::timeline::{Timeline, What};
use crate::engine::{Outlook, Reason};
use crate::ir::{ForkName, Seconds, Time};

/// Something that a scenario expects at an instant.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// When, after the beginning.
    pub at: Seconds,
    /// Of which session.
    pub session: String,
    /// Of which forks.
    pub forks: Vec<ForkName>,
    pub(super) what: Expected,
    /// Its place in the file.
    pub span: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Expected {
    /// It has fired at this instant, or not longer ago than `within`; all in all so many `times`.
    Fires { within: Seconds, times: Option<usize> },
    /// It has not fired since then, or since the user's last turn.
    Silent { since: Option<Seconds> },
    /// It does not fire, and this is one of the reasons.
    Waits { because: &'static str, until: Option<Seconds> },
    /// If nothing but time passes it comes due then.
    Due { until: Seconds },
}

/// An expectation that was not met.
#[derive(Debug, Clone)]
pub struct Unmet {
    /// The expectation.
    pub expectation: Expectation,
    /// The fork that it is not met for.
    pub fork: ForkName,
    /// What was expected.
    pub expected: String,
    /// When it fires, in the whole play.
    pub fired: Vec<Time>,
    /// Why it did not fire at that instant.
    pub reasons: Vec<Reason>,
    /// When it was to come due at that instant.
    pub due: Option<Time>,
}

impl Expectation {
    /// Whom it is not met for. `began` is the beginning of the play, `turn` that of the user's last turn; `outlook`
    /// tells of a fork at this instant, `None` if there is no such fork or no such session.
    pub(super) fn check(
        &self,
        began: Time,
        turn: Time,
        timeline: &Timeline,
        outlook: impl Fn(&ForkName) -> Option<Outlook>,
    ) -> Vec<Unmet> {
        let at = began.after(self.at);
        let mut unmet = Vec::new();
        for fork in &self.forks {
            let fired = self.firings(timeline, fork);
            let now = outlook(fork);
            let until_is = |until: Option<Seconds>, found: Option<Time>| {
                until.is_none_or(|until| found == Some(began.after(until)))
            };
            let met = match &self.what {
                Expected::Fires { within, times } => {
                    let in_time = fired.iter().any(|fired| *fired <= at && fired.after(*within) >= at);
                    in_time && times.is_none_or(|times| fired.len() == times)
                }
                Expected::Silent { since } => {
                    let since = since.map_or(turn, |since| began.after(since));
                    !fired.iter().any(|fired| *fired >= since)
                }
                Expected::Waits { because, until } => now.as_ref().is_some_and(|now| {
                    now.reasons
                        .iter()
                        .any(|reason| reason.name() == *because && until_is(*until, reason.until().or(now.due)))
                }),
                Expected::Due { until } => now.as_ref().is_some_and(|now| until_is(Some(*until), now.due)),
            };
            if !met {
                let (reasons, due) = now.map(|now| (now.reasons, now.due)).unwrap_or_default();
                let expected = self.words();
                unmet.push(Unmet { expectation: self.clone(), fork: fork.clone(), expected, fired, reasons, due });
            }
        }
        unmet
    }

    pub(super) fn firings(&self, timeline: &Timeline, fork: &ForkName) -> Vec<Time> {
        let of_session = timeline.lines.iter().filter(|line| line.session.as_deref() == Some(&self.session));
        let woken = of_session.filter(|line| match &line.what {
            What::Woken { forks, again: false, .. } => forks.iter().any(|(name, _)| name == fork),
            _ => false,
        });
        woken.map(|line| line.at).collect()
    }

    fn words(&self) -> String {
        let when = super::timeline::offset(self.at);
        match &self.what {
            Expected::Fires { within, times } => {
                let mut words = if within.is_zero() {
                    format!("fires at {when}")
                } else {
                    format!("fires in the last {} before {when}", super::timeline::offset(*within))
                };
                if let Some(times) = times {
                    let _ = write!(words, ", {times} times in all so far");
                }
                words
            }
            Expected::Silent { since: None } => format!("has not fired since the user's last turn, at {when}"),
            Expected::Silent { since: Some(since) } => {
                format!("does not fire from {} to {when}", super::timeline::offset(*since))
            }
            Expected::Waits { because, until } => {
                let until =
                    until.map(|until| format!(" until {}", super::timeline::offset(until))).unwrap_or_default();
                format!("waits at {when}, because `{because}`{until}")
            }
            Expected::Due { until } => {
                format!("is to come due at {}, seen from {when}", super::timeline::offset(*until))
            }
        }
    }
}
