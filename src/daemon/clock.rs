//! The daemon's clock: wall time that never runs backwards.
//!
//! Wall time is read once, at the start; from there on only the time that has passed is added. So a clock that is set
//! while the daemon runs neither fires forks nor holds them back. Where the system can tell, time in which the
//! computer slept counts as passed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::ir::Time;

/// The longest sleep at a stretch. Timers cannot be set for ever, and one wake-up a month does no harm.
const LONGEST_SLEEP: Duration = Duration::from_hours(30 * 24);

#[derive(Debug)]
pub(super) struct Clock {
    origin: Time,
    started: Duration,
}

impl Clock {
    /// A clock that shows the wall's time now, or `floor` if that is later: the latest instant an earlier life saw.
    pub(super) fn starting_at_least(floor: Time) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { origin: after(Time::from_millis(0), wall).max(floor), started: passed() }
    }

    pub(super) fn now(&self) -> Time {
        after(self.origin, passed().saturating_sub(self.started))
    }

    /// When a timer has to ring for this clock to have reached `time`.
    pub(super) fn instant_of(&self, time: Time) -> Instant {
        let now = Instant::now();
        let left = time.as_millis().saturating_sub(self.now().as_millis());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        now + left.min(LONGEST_SLEEP)
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
#[cfg(target_os = "linux")]
fn passed() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn passed() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_shows_less_than_an_earlier_life_saw() {
        let late = Time::from_millis(i64::MAX / 2);
        let clock = Clock::starting_at_least(late);
        assert!(clock.now() >= late);
        let clock = Clock::starting_at_least(Time::from_millis(0));
        assert!(clock.now() > Time::from_millis(1_700_000_000_000), "it is later than 2023");
    }

    #[test]
    fn a_timer_rings_when_the_clock_has_come_that_far_and_not_before() {
        let clock = Clock::starting_at_least(Time::from_millis(0));
        let deadline = Time::from_millis(clock.now().as_millis() + 20);
        std::thread::sleep(clock.instant_of(deadline) - Instant::now());
        assert!(clock.now() >= deadline);
        assert!(clock.instant_of(Time::from_millis(i64::MAX)) > Instant::now());
        assert!(clock.instant_of(Time::from_millis(i64::MIN)) <= Instant::now());
    }
}
