//! Why a fork does not fire now.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::id::TaskId;
use crate::ir::{ForkName, Moment, Tag, Time};

/// One thing that stands between a fork and its wake. A fork can have several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No moment is left that could ever make it due.
    NeverFires,
    /// Its only moment is bare `idle`, and the configuration switches that off.
    IdleSwitchedOff,
    /// The session has had no turn since it began: there is no pause.
    NoTurnYet,
    /// A turn is under way, or was interrupted.
    MidTurn,
    /// The session has not been quiet for long enough.
    NotYetQuiet {
        /// When it will have been.
        until: Time,
    },
    /// It has fired in this pause.
    Latched,
    /// The gap to its last run is too short.
    Throttled {
        /// When it is long enough.
        until: Time,
    },
    /// The gap to the last run of a fork with the same tag is too short.
    TagThrottled {
        /// The tag.
        tag: Tag,
        /// When it is long enough.
        until: Time,
    },
    /// One of its tags is switched off.
    TagDisabled(Tag),
    /// None of its tags is among those switched on.
    NoEnabledTag,
    /// An earlier run of it is live.
    Running {
        /// When that run counts as dead if it gives no sign.
        until: Time,
    },
    /// It waits for others that came due together with it.
    HeldBack {
        /// The others.
        after: BTreeSet<ForkName>,
    },
    /// Unfinished background work keeps the clock of the pause from running.
    HeldByTask {
        /// The work.
        task: TaskId,
        /// When it stops doing so; `None` if only its end counts.
        until: Option<Time>,
    },
    /// The size of the context is not known, so its thresholds are inactive.
    GaugeUnknown,
    /// The context is too small for its threshold.
    BelowThreshold {
        /// Tokens in the context.
        tokens: u64,
        /// Tokens that it takes.
        threshold: u64,
    },
    /// This threshold has fired in this session.
    ThresholdSpent(Moment),
    /// The session is in plan mode.
    PlanMode,
    /// Its client knows no subagent of type fork: a wake would come to nothing.
    ForkTypeMissing,
    /// No hook is parked through which the session could be woken.
    NotParked,
    /// It is due, and others may still join its wake.
    Debouncing {
        /// When the wake goes out.
        until: Time,
    },
}

impl Reason {
    /// Its name in JSON and in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NeverFires => "never_fires",
            Self::IdleSwitchedOff => "idle_switched_off",
            Self::NoTurnYet => "no_turn_yet",
            Self::MidTurn => "mid_turn",
            Self::NotYetQuiet { .. } => "not_yet_quiet",
            Self::Latched => "latched",
            Self::Throttled { .. } => "throttled",
            Self::TagThrottled { .. } => "tag_throttled",
            Self::TagDisabled(_) => "tag_disabled",
            Self::NoEnabledTag => "no_enabled_tag",
            Self::Running { .. } => "running",
            Self::HeldBack { .. } => "held_back",
            Self::HeldByTask { .. } => "held_by_task",
            Self::GaugeUnknown => "gauge_unknown",
            Self::BelowThreshold { .. } => "below_threshold",
            Self::ThresholdSpent(_) => "threshold_spent",
            Self::PlanMode => "plan_mode",
            Self::ForkTypeMissing => "fork_type_missing",
            Self::NotParked => "not_parked",
            Self::Debouncing { .. } => "debouncing",
        }
    }

    /// The names of all reasons.
    pub const NAMES: [&'static str; 20] = [
        "never_fires",
        "idle_switched_off",
        "no_turn_yet",
        "mid_turn",
        "not_yet_quiet",
        "latched",
        "throttled",
        "tag_throttled",
        "tag_disabled",
        "no_enabled_tag",
        "running",
        "held_back",
        "held_by_task",
        "gauge_unknown",
        "below_threshold",
        "threshold_spent",
        "plan_mode",
        "fork_type_missing",
        "not_parked",
        "debouncing",
    ];

    /// When this reason ends by itself, if time alone can end it.
    pub const fn until(&self) -> Option<Time> {
        match self {
            Self::NotYetQuiet { until }
            | Self::Throttled { until }
            | Self::TagThrottled { until, .. }
            | Self::Running { until }
            | Self::Debouncing { until } => Some(*until),
            Self::HeldByTask { until, .. } => *until,
            _ => None,
        }
    }
}
