//! Waiting for programs: who waits for which, what a tick waits for, and when to stop waiting.

use std::time::Duration;

use tokio::time::Instant;

use crate::engine::{Event, SessionId};
use crate::ir::{LaunchDir, ProjectRoot};

use super::Actor;

/// How long to wait for a program before going on with the one that was in force: a network drive may hang.
pub(super) const LOAD_PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before a tick that changed nothing is tried again. It should not happen.
const IDLE_TICK: Duration = Duration::from_secs(1);

/// A program that was ordered.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) since: Instant,
    /// Nobody waits for it any more.
    pub(super) overdue: bool,
    waiting: Vec<Waiter>,
    /// Who came after it had begun, and must see a program read later.
    again: Vec<Waiter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Waiter {
    Session(SessionId),
    Tick,
    Nobody,
}

impl Actor {
    pub(super) fn load(&mut self, launch: &LaunchDir, waiter: Waiter) {
        match self.loads.get_mut(launch) {
            Some(load) if load.overdue => self.go_on(waiter, launch, None),
            Some(load) => load.again.push(waiter),
            None if self.loader.order(launch) => {
                let load = Load { since: Instant::now(), overdue: false, waiting: vec![waiter], again: Vec::new() };
                self.loads.insert(launch.clone(), load);
            }
            None => {
                let consequences = self.core.not_loaded(self.clock.now(), launch);
                self.carry_out(consequences, None);
                self.go_on(waiter, launch, None);
            }
        }
    }

    /// Whether a program for `launch` is of any use: for somebody who waits, or a session that is there.
    pub(super) fn is_wanted(&self, launch: &LaunchDir) -> bool {
        let waits = |load: &Load| load.waiting.iter().chain(&load.again).any(|waiter| *waiter != Waiter::Nobody);
        self.loads.get(launch).is_some_and(waits)
            || self.core.state().sessions().any(|session| session.launch == *launch)
    }

    pub(super) fn loaded(&mut self, launch: &LaunchDir, root: Option<&ProjectRoot>) {
        let Some(load) = self.loads.remove(launch) else { return };
        for waiter in load.again {
            self.load(launch, waiter);
        }
        for waiter in load.waiting {
            self.go_on(waiter, launch, root);
        }
    }

    fn go_on(&mut self, waiter: Waiter, launch: &LaunchDir, root: Option<&ProjectRoot>) {
        match waiter {
            Waiter::Session(id) => {
                for job in self.waiting.remove(&id).unwrap_or_default() {
                    let known = self.core.state().session(&id).filter(|_| !job.fact.places_session());
                    let pinned = known.map(|session| session.root.clone());
                    let root = pinned.or_else(|| root.cloned());
                    self.take_in(job, root.unwrap_or_else(|| ProjectRoot::new(launch.as_path())));
                }
            }
            Waiter::Tick => {
                self.tick = self.tick.map(|loads| loads.saturating_sub(1));
                if self.tick == Some(0) {
                    self.finish_tick();
                }
            }
            Waiter::Nobody => {}
        }
    }

    /// Goes on without the program that is waited for too long. Those ordered after it may only have waited for it:
    /// they are ordered anew from another thread.
    pub(super) fn give_up_waiting(&mut self, now: Instant) {
        let late = self.loads.iter_mut().filter(|(_, load)| !load.overdue && load.since + LOAD_PATIENCE <= now);
        let Some((launch, load)) = late.min_by_key(|(_, load)| load.since) else { return };
        let launch = launch.clone();
        load.overdue = true;
        let waiters: Vec<Waiter> = load.waiting.drain(..).chain(load.again.drain(..)).collect();
        self.cannot_read(&launch, "take too long to be read");
        if self.loader.replace() {
            for (launch, load) in self.loads.iter_mut().filter(|(_, load)| !load.overdue) {
                load.since = now;
                // The new thread has only just begun to listen.
                self.loader.order(launch);
            }
        }
        let consequences = self.core.not_loaded(self.clock.now(), &launch);
        self.carry_out(consequences, None);
        for waiter in waiters {
            self.go_on(waiter, &launch, None);
        }
    }

    /// A deadline has come: forks may have changed since they were last read, so they are read again first.
    pub(super) fn begin_tick(&mut self) {
        let mut launches: Vec<LaunchDir> =
            self.core.state().due_at(self.clock.now()).map(|session| session.launch.clone()).collect();
        if launches.is_empty() {
            return;
        }
        launches.sort();
        launches.dedup();
        self.tick = Some(launches.len());
        for launch in launches {
            self.load(&launch, Waiter::Tick);
        }
    }

    fn finish_tick(&mut self) {
        self.tick = None;
        self.happened(Event::Tick, None);
        let still_due = self.core.state().next_deadline().is_some_and(|deadline| deadline <= self.clock.now());
        self.tick_not_before = still_due.then(|| Instant::now() + IDLE_TICK);
    }
}
