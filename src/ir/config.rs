//! The configuration in force for one launch folder: both layers merged, defaults filled in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Moment, Seconds, Tag};

/// Effective settings. The keys of `config.toml` carry the same names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// How long a session must be quiet for a bare `idle` moment; zero switches bare `idle` off.
    pub default_idle_deadline: Seconds,
    /// A session without any event for so long has ended; zero: never.
    pub session_timeout: Seconds,
    /// The daemon leaves after so long without sessions or connections.
    pub quiet_period: Seconds,
    /// From the first fork that comes due, how long to wait for others to join its wake; zero: not at all.
    pub wake_debounce: Seconds,
    /// If not empty, only forks with one of these tags run.
    pub enable_tags: BTreeSet<Tag>,
    /// Forks with one of these tags do not run.
    pub disable_tags: BTreeSet<Tag>,
    /// The least time between two runs of any forks with a tag, in all sessions of a project.
    pub tag_throttles: BTreeMap<Tag, Seconds>,
    /// Whether unfinished background work keeps the idle clock from starting.
    pub background_hold: bool,
    /// How long one piece of background work may hold the clock; zero: without limit.
    pub background_hold_timeout: Seconds,
    /// Whether sessions in plan mode are woken.
    pub wake_in_plan_mode: bool,
}

impl Config {
    /// How long a session must be quiet for an idle moment; `None` for another moment, or if bare `idle` is switched
    /// off.
    pub fn deadline(&self, moment: Moment) -> Option<Seconds> {
        match moment {
            Moment::Idle(Some(length)) => Some(length),
            Moment::Idle(None) => Some(self.default_idle_deadline).filter(|deadline| !deadline.is_zero()),
            Moment::ContextTokens(_) | Moment::ContextUsed(_) | Moment::ContextLeft(_) => None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_idle_deadline: Seconds::minutes(10),
            session_timeout: Seconds::minutes(12 * 60),
            quiet_period: Seconds::minutes(20),
            wake_debounce: Seconds::new(5).unwrap_or(Seconds::ZERO),
            enable_tags: BTreeSet::new(),
            disable_tags: BTreeSet::new(),
            tag_throttles: BTreeMap::new(),
            background_hold: true,
            background_hold_timeout: Seconds::minutes(30),
            wake_in_plan_mode: false,
        }
    }
}
