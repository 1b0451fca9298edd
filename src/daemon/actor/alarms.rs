//! What the actor wakes up for of itself: deadlines of the engine, loads that take too long, second looks, and the end of
//! a quiet period.

use std::time::Duration;

use tokio::time::Instant;

use crate::ir::Time;

use super::loads::LOAD_PATIENCE;
use super::{Actor, Course};

/// A daemon lives at least so long without anybody, whatever the configuration says: whoever started it must get the
/// chance to connect.
const LEAST_QUIET: Duration = Duration::from_secs(1);

impl Actor {
    /// The engine's next deadline, unless a tick is under way or must wait.
    pub(super) fn next_tick(&self) -> Option<Time> {
        let may_tick = self.tick.is_none() && self.tick_not_before.is_none();
        self.core.state().next_deadline().filter(|_| may_tick)
    }

    /// When to wake up if nothing is heard and no deadline comes before.
    pub(super) fn alarm(&mut self) -> Option<Instant> {
        let overdue = self.loads.values().filter(|load| !load.overdue).map(|load| load.since + LOAD_PATIENCE).min();
        let nobody = self.connections == 0 && self.core.state().sessions().next().is_none();
        self.quiet_since = if nobody { self.quiet_since.or_else(|| Some(Instant::now())) } else { None };
        [self.tick_not_before, overdue, self.second_looks.next(), self.quiet_ends()].into_iter().flatten().min()
    }

    fn quiet_ends(&self) -> Option<Instant> {
        let length = Duration::from_secs(self.quiet_period.get()).max(LEAST_QUIET);
        self.quiet_since.and_then(|since| since.checked_add(length))
    }

    pub(super) fn ring(&mut self) -> Course {
        let now = Instant::now();
        if self.quiet_ends().is_some_and(|ends| ends <= now) {
            tracing::info!("nobody has been here for {}", self.quiet_period);
            return Course::Leave;
        }
        self.give_up_waiting(now);
        for (session, transcript) in self.second_looks.take_due(now) {
            self.loader.order_gauge(&session, &transcript);
        }
        self.tick_not_before = self.tick_not_before.filter(|not_before| *not_before > now);
        if self.next_tick().is_some() {
            self.begin_tick();
        }
        Course::Stay
    }
}
