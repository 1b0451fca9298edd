//! What runs: the forks in force at a launch folder and the configuration around them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Body, Config, Fork, ForkName, LaunchDir, Moment, Seconds};

/// The forks that may fire for sessions of one launch folder, by name, and the configuration in force there.
///
/// Shadowed, broken and switched-off forks are not in it: it holds only what the engine may schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct Program {
    config: Config,
    forks: BTreeMap<ForkName, Arc<Fork>>,
    /// The forks that come due by being quiet alone, by the deadline after which they do. Derived from the above.
    by_deadline: Vec<(Seconds, Arc<Fork>)>,
    /// The forks that have a threshold. Derived from the above.
    with_threshold: Vec<Arc<Fork>>,
}

/// What of a program is written down.
#[derive(Serialize, Deserialize)]
struct Parts {
    config: Config,
    forks: BTreeMap<ForkName, Arc<Fork>>,
}

impl From<Parts> for Program {
    fn from(parts: Parts) -> Self {
        Self::new(parts.config, parts.forks.into_values())
    }
}

impl From<Program> for Parts {
    fn from(program: Program) -> Self {
        Self { config: program.config, forks: program.forks }
    }
}

impl Program {
    /// A program of `forks` under `config`. Of several forks with one name the first counts.
    pub fn new(config: Config, forks: impl IntoIterator<Item = Arc<Fork>>) -> Self {
        let mut by_name = BTreeMap::new();
        for fork in forks {
            by_name.entry(fork.name.clone()).or_insert(fork);
        }
        let mut by_deadline = Vec::new();
        let mut with_threshold = Vec::new();
        for fork in by_name.values() {
            if fork.run_on.iter().any(|moment| !matches!(moment, Moment::Idle(_))) {
                with_threshold.push(Arc::clone(fork));
            } else if let Some(deadline) = fork.run_on.iter().filter_map(|moment| config.deadline(*moment)).min() {
                by_deadline.push((deadline, Arc::clone(fork)));
            }
        }
        by_deadline.sort_by_key(|(deadline, _)| *deadline);
        Self { config, forks: by_name, by_deadline, with_threshold }
    }

    /// Effective configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The forks that come due by being quiet alone, each with the time for which the session must have been quiet:
    /// shortest first. A fork whose only moment is switched off is not among them.
    pub fn by_deadline(&self) -> impl Iterator<Item = (Seconds, &Arc<Fork>)> {
        self.by_deadline.iter().map(|(deadline, fork)| (*deadline, fork))
    }

    /// The forks that have a threshold of the context's size among their moments.
    pub fn with_threshold(&self) -> impl Iterator<Item = &Arc<Fork>> {
        self.with_threshold.iter()
    }

    /// The fork of that name.
    pub fn fork(&self, name: &ForkName) -> Option<&Arc<Fork>> {
        self.forks.get(name)
    }

    /// All forks in byte order of their names.
    pub fn forks(&self) -> impl Iterator<Item = &Arc<Fork>> {
        self.forks.values()
    }

    /// How many forks there are.
    pub fn len(&self) -> usize {
        self.forks.len()
    }

    /// Whether there is no fork.
    pub fn is_empty(&self) -> bool {
        self.forks.is_empty()
    }

    /// The same program without the forks' bodies: all that scheduling depends on. The journal keeps this form, so
    /// that a replay decides as the daemon did.
    #[must_use]
    pub fn without_bodies(&self) -> Self {
        let strip = |fork: &Arc<Fork>| Arc::new(Fork { body: Body::default(), ..Fork::clone(fork) });
        Self::new(self.config.clone(), self.forks.values().map(strip))
    }
}

/// The programs of all launch folders that have sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Programs {
    by_launch: BTreeMap<LaunchDir, Arc<Program>>,
}

impl Programs {
    /// The program for sessions launched in `launch`; none was compiled yet if `None`.
    pub fn get(&self, launch: &LaunchDir) -> Option<&Arc<Program>> {
        self.by_launch.get(launch)
    }

    /// Puts `program` in force for `launch`; true if that changed anything.
    pub fn set(&mut self, launch: LaunchDir, program: Arc<Program>) -> bool {
        let changed = self.by_launch.get(&launch) != Some(&program);
        if changed {
            self.by_launch.insert(launch, program);
        }
        changed
    }

    /// Forgets the programs of launch folders that `keep` does not name.
    pub fn retain(&mut self, mut keep: impl FnMut(&LaunchDir) -> bool) {
        self.by_launch.retain(|launch, _| keep(launch));
    }

    /// Launch folders and their programs.
    pub fn iter(&self) -> impl Iterator<Item = (&LaunchDir, &Arc<Program>)> {
        self.by_launch.iter()
    }
}

impl FromIterator<(LaunchDir, Arc<Program>)> for Programs {
    fn from_iter<I: IntoIterator<Item = (LaunchDir, Arc<Program>)>>(programs: I) -> Self {
        Self { by_launch: programs.into_iter().collect() }
    }
}
