//! The daemon's clock: wall time that never runs backwards.
//!
//! Wall time is read once, at the start; from there on only the time that has passed is added. So a clock that is set
//! while the daemon runs neither fires forks nor holds them back. Time in which the computer slept counts as passed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::ClockId;
use tokio::time::Instant;

use crate::ir::{Seconds, Time};

/// How long the clock goes unlooked at where nothing but a timer that stands still in the computer's sleep tells of a
/// deadline. A fork is no later than that, counted from the end of the sleep.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// The system's clock that goes on while the computer sleeps.
#[cfg(target_os = "linux")]
const PASSED: ClockId = ClockId::Boottime;

/// Elsewhere that is the plain one, on macOS for example.
#[cfg(not(target_os = "linux"))]
const PASSED: ClockId = ClockId::Monotonic;

/// By so much two clocks may differ without a word: that is how far one is put right at a time.
const TOLERANCE: Duration = Duration::from_mins(5);

#[derive(Debug)]
pub(super) struct Clock {
    origin: Time,
    started: Duration,
    /// By how much it was ahead of the wall's time at its start.
    ahead: Duration,
}

impl Clock {
    /// A clock that shows the wall's time now, or `floor` if that is later: the latest instant an earlier life saw.
    pub(super) fn starting_at_least(floor: Time) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = after(Time::from_millis(0), wall);
        let ahead = floor.as_millis().saturating_sub(wall.as_millis());
        let ahead = Duration::from_millis(u64::try_from(ahead).unwrap_or(0));
        Self { origin: wall.max(floor), started: passed(), ahead }
    }

    /// By how much this clock is ahead of the wall's, where that is worth telling.
    pub(super) fn ahead(&self) -> Option<Seconds> {
        Seconds::new(self.ahead.as_secs().min(Seconds::MAX.get())).filter(|_| self.ahead > TOLERANCE)
    }

    pub(super) fn now(&self) -> Time {
        after(self.origin, passed().saturating_sub(self.started))
    }

    /// How long it takes this clock to come to `time`.
    pub(super) fn left_until(&self, time: Time) -> Duration {
        let left = time.as_millis().saturating_sub(self.now().as_millis());
        Duration::from_millis(u64::try_from(left).unwrap_or(0))
    }

    /// When to look whether this clock has come to `time`, for want of something that rings then.
    pub(super) fn look_for(&self, time: Time) -> Instant {
        Instant::now() + self.left_until(time).min(LOOK_AGAIN)
    }
}

fn after(time: Time, length: Duration) -> Time {
    Time::from_millis(time.as_millis().saturating_add(i64::try_from(length.as_millis()).unwrap_or(i64::MAX)))
}

/// Sleeps until then; for ever without one.
pub(super) async fn sleep_until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => tokio::time::sleep_until(alarm).await,
        None => std::future::pending().await,
    }
}

/// Time since some fixed instant.
fn passed() -> Duration {
    let time = rustix::time::clock_gettime(PASSED);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_shows_less_than_an_earlier_life_saw() {
        let late = Time::from_millis(i64::MAX / 2);
        let clock = Clock::starting_at_least(late);
        assert!(clock.now() >= late);
        assert!(clock.ahead().is_some(), "and that is told");
        let clock = Clock::starting_at_least(Time::from_millis(0));
        assert!(clock.now() > Time::from_millis(1_700_000_000_000), "it is later than 2023");
        assert_eq!(clock.ahead(), None);
        let soon = Time::from_millis(clock.now().as_millis() + 60_000);
        assert_eq!(Clock::starting_at_least(soon).ahead(), None, "a minute is not worth a word");
    }

    #[test]
    fn the_time_left_is_never_less_than_nothing_and_the_clock_is_looked_at_again_before_long() {
        let clock = Clock::starting_at_least(Time::from_millis(0));
        let now = clock.now();
        assert!(clock.left_until(Time::from_millis(now.as_millis() + 3_600_000)) > Duration::from_mins(59));
        assert_eq!(clock.left_until(Time::from_millis(i64::MIN)), Duration::ZERO);
        assert!(clock.look_for(Time::from_millis(i64::MAX)) <= Instant::now() + LOOK_AGAIN);
        assert!(clock.look_for(now) <= Instant::now());
    }
}
