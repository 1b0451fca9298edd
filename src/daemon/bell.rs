//! The bell that rings when the clock has come to a deadline.
//!
//! The runtime's own timers stand still while the computer sleeps, so a deadline that passed in a closed laptop would
//! ring as late as the sleep was long. Linux has timers that do not; elsewhere the clock is looked at now and then.

use tokio::time::Instant;

use crate::ir::Time;

use super::clock::Clock;

/// A bell that is set to one deadline at a time.
#[derive(Debug)]
pub(super) struct Bell {
    /// None if the system gave none.
    timer: Option<Timer>,
    deadline: Option<Time>,
    /// When to look at the clock, for want of a timer.
    look: Option<Instant>,
}

impl Bell {
    /// A bell that is not set. To be made within the runtime.
    pub(super) fn new() -> Self {
        Self { timer: Timer::new(), deadline: None, look: None }
    }

    /// Sets it to a deadline of this clock, or to none.
    pub(super) fn set(&mut self, deadline: Option<Time>, clock: &Clock) {
        if self.timer.is_none() {
            self.look = deadline.map(|deadline| clock.look_for(deadline));
        } else if self.deadline != deadline {
            let left = deadline.map(|deadline| clock.left_until(deadline));
            let is_set = self.timer.as_ref().is_some_and(|timer| timer.set(left).is_ok());
            self.look = deadline.filter(|_| !is_set).map(|deadline| clock.look_for(deadline));
        }
        self.deadline = deadline;
    }

    /// Waits until it rings. It may ring too early, and must be set again then.
    pub(super) async fn rings(&mut self) {
        match (&mut self.timer, self.look) {
            (_, Some(look)) => tokio::time::sleep_until(look).await,
            (Some(timer), None) => timer.rings().await,
            (None, None) => std::future::pending().await,
        }
        self.deadline = None;
    }
}

#[cfg(target_os = "linux")]
use on_linux::Timer;

#[cfg(target_os = "linux")]
mod on_linux {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer of the system's that goes on while the computer sleeps, and rings when it wakes up.
    #[derive(Debug)]
    pub(super) struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        pub(super) fn new() -> Option<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            // SAFETY: an `OwnedFd` keeps its descriptor open for as long as it lives and always names the same one.
            unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }.ok().map(Self)
        }

        /// Sets it to so much time from now; to never if that is `None`.
        pub(super) fn set(&self, left: Option<Duration>) -> rustix::io::Result<()> {
            // Zero would switch it off.
            let left = left.map_or(Duration::ZERO, |left| left.max(Duration::from_nanos(1)));
            let it_value = Timespec::try_from(left).map_err(|_| rustix::io::Errno::INVAL)?;
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value }).map(drop)
        }

        pub(super) async fn rings(&mut self) {
            loop {
                let Ok(mut ready) = self.0.readable().await else { return };
                // It is ready until the number of times that it has rung is read.
                if rustix::io::read(ready.get_inner(), &mut [0; 8]).is_ok() {
                    return;
                }
                // It was set anew before anybody came to read that.
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::Timer;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::time::Duration;

    /// There is none: no value of this type exists.
    #[derive(Debug)]
    pub(super) enum Timer {}

    impl Timer {
        pub(super) fn new() -> Option<Self> {
            None
        }

        pub(super) fn set(&self, _: Option<Duration>) -> rustix::io::Result<()> {
            match *self {}
        }

        pub(super) async fn rings(&mut self) {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn in_millis(clock: &Clock, millis: i64) -> Time {
        Time::from_millis(clock.now().as_millis() + millis)
    }

    /// The system's timer, and looking at the clock for want of it.
    fn bells() -> [Bell; 2] {
        [Bell::new(), Bell { timer: None, deadline: None, look: None }]
    }

    #[tokio::test]
    async fn it_rings_when_the_deadline_has_come_and_not_before() {
        let clock = Clock::starting_at_least(Time::from_millis(0));
        for mut bell in bells() {
            for millis in [0, 30, -5] {
                let deadline = in_millis(&clock, millis);
                bell.set(Some(deadline), &clock);
                timeout(PATIENCE, bell.rings()).await.expect("it rings");
                assert!(clock.now() >= deadline);
            }
        }
    }

    #[tokio::test]
    async fn it_rings_for_the_deadline_that_was_set_last_and_for_none_if_there_is_none() {
        let clock = Clock::starting_at_least(Time::from_millis(0));
        for mut bell in bells() {
            bell.set(Some(in_millis(&clock, 0)), &clock);
            tokio::time::sleep(Duration::from_millis(5)).await;
            // It has rung, and nobody was there.
            bell.set(None, &clock);
            assert!(timeout(Duration::from_millis(50), bell.rings()).await.is_err(), "{bell:?}");
            bell.set(Some(in_millis(&clock, 3_600_000)), &clock);
            bell.set(Some(in_millis(&clock, 10)), &clock);
            timeout(PATIENCE, bell.rings()).await.expect("it rings");
        }
    }
}
