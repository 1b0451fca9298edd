//! What can happen in a schedule.
//!
//! Numbers choose among what there is when the step is taken, so that a schedule from which steps were removed still
//! means something: that is what lets a failing one shrink.

use super::random::Random;
use crate::engine::SpawnFailure;

/// How many sessions there are.
pub(super) const SLOTS: u64 = 4;

/// One thing that happens. The first number is the session.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Time passes: so many milliseconds.
    Wait(u64),
    /// The clock is set back, or forwards without anybody having waited.
    ClockJump(i64),
    /// The session begins, resumes, is cleared or compacted.
    Start(u64, u64, Fate),
    /// A turn of the user's begins.
    Human(u64, Mode, Fate),
    /// A turn begins that a wake of ours asked for.
    WakeTurn(u64, Mode, Fate),
    OtherHook(u64, Fate),
    /// A turn begins because background work has ended: this many of our runs and this many others.
    Notices(u64, u64, u64, Fate),
    /// A turn ends, with so many foreign background tasks unfinished, and its hook parks.
    Stop(u64, u64, Mode, Fate),
    /// The hook of the last Stop parks anew.
    ParkAgain(u64),
    /// The hook goes away.
    DropPoll(u64),
    Delivered(u64),
    Gauge(u64, u64),
    /// A ticket is presented: which, by whom.
    Redeem(u64, u64, u64, Fate),
    /// A call that was let through has started a subagent.
    Link(u64, u64, Fate),
    /// A subagent was started and nobody was asked.
    LinkUnasked(u64, u64),
    ForkStarted(u64),
    /// A call that was let through has failed, since the client knows no forks perhaps.
    Fail(u64, u64, SpawnFailure, Fate),
    Finish(u64, u64, Fate),
    End(u64, Fate),
    ClientGone(u64),
    ClientAlive(u64),
    /// A hook that was late arrives.
    Arrive(u64),
    /// Fork files or configuration change: where, and to what.
    Edit(u64, u64),
    /// A snapshot is written.
    Snapshot,
    /// The daemon dies and another one takes over.
    Crash,
}

/// What becomes of a hook on its way to the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    ArrivesTwice,
    ArrivesLater,
    IsLost,
}

/// The permission mode that a hook tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Untold,
    Plan,
    Other,
}

impl Step {
    pub(super) fn random(random: &mut Random) -> Self {
        let slot = random.below(SLOTS);
        let which = random.below(5);
        let fate = match random.below(40) {
            0 => Fate::ArrivesTwice,
            1 | 2 => Fate::ArrivesLater,
            3 => Fate::IsLost,
            _ => Fate::Arrives,
        };
        let mode = match random.below(12) {
            0 => Mode::Plan,
            1..=3 => Mode::Other,
            _ => Mode::Untold,
        };
        match random.below(78) {
            0..=10 => Self::Wait(random.one_of(&[0, 1, 999, 3_000, 5_000, 9_000, 20_000, 45_000, 100_000])),
            11 => Self::Wait(random.one_of(&[1_000_000, 2_000_000, 20_000_000])),
            12 => Self::ClockJump(random.one_of(&[-1, -4_000, -100_000, -50_000_000, 5_000, 100_000])),
            13 | 14 => Self::Start(slot, random.below(8), fate),
            15..=20 => Self::Human(slot, mode, fate),
            21..=25 => Self::WakeTurn(slot, mode, fate),
            26 => Self::OtherHook(slot, fate),
            27..=29 => Self::Notices(slot, which, random.below(4) / 2, fate),
            30..=42 => Self::Stop(slot, random.below(6) / 4, mode, fate),
            43 => Self::ParkAgain(slot),
            44 => Self::DropPoll(slot),
            45..=48 => Self::Delivered(slot),
            49..=52 => Self::Gauge(slot, random.one_of(&[0, 50, 100, 150, 199, 200, 250, 250_000])),
            53..=60 => Self::Redeem(slot, which, random.below(10), fate),
            61..=64 => Self::Link(slot, which, fate),
            65 => Self::LinkUnasked(slot, which),
            66 => Self::ForkStarted(slot),
            67 => {
                let failure = random.one_of(&[SpawnFailure::Other, SpawnFailure::ForkTypeMissing]);
                Self::Fail(slot, which, failure, fate)
            }
            68..=71 => Self::Finish(slot, which, fate),
            72 => match random.below(4) {
                0 => Self::ClientGone(slot),
                1 => Self::ClientAlive(slot),
                _ => Self::End(slot, fate),
            },
            73 => Self::Arrive(which),
            74 | 75 => Self::Edit(random.below(3), random.next()),
            76 => Self::Snapshot,
            _ => Self::Crash,
        }
    }
}
