//! All forks that may fire at one launch folder, and what lies between them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use super::config::ConfigLayer;
use super::file::ForkFile;
use super::lower::Lowered;
use crate::ir::{Config, ForkName, Moment, Seconds};
use crate::syntax::yaml::Place;

/// The forks of a program with their files.
pub(crate) struct Graph<'a> {
    /// The forks that may fire, in byte order of their names.
    pub(crate) members: Vec<Member<'a>>,
    /// Every name that is taken, by forks that cannot fire too.
    pub(crate) names: HashSet<&'a ForkName>,
    /// Every tag that some file has.
    pub(crate) tags: BTreeSet<&'a str>,
    pub(crate) config: &'a Config,
    pub(crate) layers: &'a [&'a ConfigLayer],
    /// The project's root.
    pub(crate) root: &'a Path,
    by_name: HashMap<&'a ForkName, usize>,
    exists: &'a dyn Fn(&Path) -> bool,
}

/// A fork that may fire, and its file.
pub(crate) struct Member<'a> {
    pub(crate) file: &'a ForkFile,
    pub(crate) lowered: &'a Lowered,
}

/// One entry of an `after` that names another member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// The one that waits.
    pub(crate) from: usize,
    /// The one that it waits for.
    pub(crate) to: usize,
    /// The entry.
    pub(crate) place: Place,
}

impl Member<'_> {
    pub(crate) fn path(&self) -> &Arc<Path> {
        self.file.source.path()
    }

    pub(crate) fn moments(&self) -> Vec<Moment> {
        self.lowered.run_on.moments.iter().map(|(moment, _)| *moment).collect()
    }
}

/// What a graph is made under.
pub(crate) struct Setting<'a> {
    pub(crate) config: &'a Config,
    pub(crate) layers: &'a [&'a ConfigLayer],
    pub(crate) root: &'a Path,
    /// Whether there is a file at a path.
    pub(crate) exists: &'a dyn Fn(&Path) -> bool,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(
        mut members: Vec<Member<'a>>,
        names: HashSet<&'a ForkName>,
        tags: BTreeSet<&'a str>,
        setting: &Setting<'a>,
    ) -> Self {
        members.sort_by(|left, right| left.file.name.cmp(&right.file.name));
        let by_name = members.iter().enumerate().map(|(index, member)| (&member.file.name, index)).collect();
        let Setting { config, layers, root, exists } = *setting;
        Self { members, names, tags, config, layers, root, by_name, exists }
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        (self.exists)(path)
    }

    /// How long a session must be quiet for an idle moment; none for other moments, and for bare `idle` switched off.
    pub(crate) fn deadline(&self, moment: Moment) -> Option<Seconds> {
        match moment {
            Moment::Idle(Some(deadline)) => Some(deadline),
            Moment::Idle(None) => Some(self.config.default_idle_deadline).filter(|deadline| !deadline.is_zero()),
            _ => None,
        }
    }

    /// The earliest idle deadline among moments.
    pub(crate) fn earliest(&self, moments: &[Moment]) -> Option<Seconds> {
        moments.iter().filter_map(|moment| self.deadline(*moment)).min()
    }

    /// The entries of a member's `after` that name other members.
    pub(crate) fn edges(&self, from: usize) -> impl Iterator<Item = Edge> + '_ {
        self.members[from].lowered.after.iter().filter_map(move |(name, place)| {
            let to = *self.by_name.get(name)?;
            (to != from).then_some(Edge { from, to, place: *place })
        })
    }

    /// Whether two members come due in one batch: their idle deadlines are close, or they share a threshold.
    pub(crate) fn due_together(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.members[left].moments(), self.members[right].moments());
        let shared = left.iter().any(|moment| !matches!(moment, Moment::Idle(_)) && right.contains(moment));
        let close = self
            .earliest(&left)
            .zip(self.earliest(&right))
            .is_some_and(|(one, other)| one.get().abs_diff(other.get()) <= self.config.wake_debounce.get());
        shared || close
    }

    /// Whether one of two members waits for the other, directly or through others.
    pub(crate) fn ordered(&self, left: usize, right: usize) -> bool {
        self.path(left, right, &HashSet::new()).is_some() || self.path(right, left, &HashSet::new()).is_some()
    }

    /// The cycles, each from the edge that is dropped at run time onwards. When all of these edges are gone, there is no
    /// cycle left.
    pub(crate) fn cycles(&self) -> Vec<Vec<Edge>> {
        let mut dropped: HashSet<(usize, usize)> = HashSet::new();
        let mut cycles = Vec::new();
        // Members are in byte order, so the first one on a cycle is the one that starts.
        for start in self.tangled() {
            let outgoing: Vec<Edge> = self.edges(start).collect();
            for edge in outgoing {
                if dropped.contains(&(edge.from, edge.to)) {
                    continue;
                }
                if let Some(mut rest) = self.path(edge.to, start, &dropped) {
                    dropped.insert((edge.from, edge.to));
                    rest.insert(0, edge);
                    cycles.push(rest);
                }
            }
        }
        cycles
    }

    /// The members that are on a cycle or wait for one that is: those that are left when again and again those that wait
    /// for nobody are taken away. Most often there are none, and then there is nothing to search.
    fn tangled(&self) -> Vec<usize> {
        let mut waits_for: Vec<usize> = vec![0; self.members.len()];
        let mut waited_for: Vec<Vec<usize>> = vec![Vec::new(); self.members.len()];
        for edge in (0..self.members.len()).flat_map(|index| self.edges(index)) {
            waits_for[edge.from] += 1;
            waited_for[edge.to].push(edge.from);
        }
        let mut free: Vec<usize> = (0..waits_for.len()).filter(|index| waits_for[*index] == 0).collect();
        while let Some(done) = free.pop() {
            for from in &waited_for[done] {
                waits_for[*from] -= 1;
                if waits_for[*from] == 0 {
                    free.push(*from);
                }
            }
        }
        (0..waits_for.len()).filter(|index| waits_for[*index] > 0).collect()
    }

    /// The shortest path along edges that are not dropped.
    fn path(&self, from: usize, to: usize, dropped: &HashSet<(usize, usize)>) -> Option<Vec<Edge>> {
        let mut came_by: HashMap<usize, Edge> = HashMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(here) = open.pop_front() {
            for edge in self.edges(here) {
                if edge.to == from || dropped.contains(&(edge.from, edge.to)) || came_by.contains_key(&edge.to) {
                    continue;
                }
                came_by.insert(edge.to, edge);
                if edge.to == to {
                    return Some(trace(&came_by, from, to));
                }
                open.push_back(edge.to);
            }
        }
        None
    }
}

fn trace(came_by: &HashMap<usize, Edge>, from: usize, to: usize) -> Vec<Edge> {
    let mut path = Vec::new();
    let mut here = to;
    while here != from {
        let edge = came_by[&here];
        path.push(edge);
        here = edge.from;
    }
    path.reverse();
    path
}
