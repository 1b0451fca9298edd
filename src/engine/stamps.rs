//! When forks were last issued: what throttles are reckoned from. Kept across sessions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::Conversation;
use crate::ir::{Fork, ForkName, Moment, ProjectRoot, Tag, Time};

/// The last issue of each fork per conversation, and of each tag per project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamps {
    forks: BTreeMap<Conversation, BTreeMap<ForkName, Stamp>>,
    tags: BTreeMap<ProjectRoot, BTreeMap<Tag, Stamp>>,
}

/// When something was last issued, and how many times at that very instant: the forks of a batch share the stamps of
/// their tags, and two sessions can be woken in the same millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
struct Stamp {
    at: Time,
    /// `None` if that is not known any more: then none of it is given back. Too late is better than twice.
    issues: Option<u32>,
}

/// A stamp as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    At(Time),
    Counted(Time, u32),
}

impl From<Written> for Stamp {
    fn from(written: Written) -> Self {
        match written {
            Written::At(at) => Self { at, issues: None },
            Written::Counted(at, issues) => Self { at, issues: Some(issues) },
        }
    }
}

impl From<Stamp> for Written {
    fn from(Stamp { at, issues }: Stamp) -> Self {
        issues.map_or(Self::At(at), |issues| Self::Counted(at, issues))
    }
}

/// What the stamps and latches were before a fork was issued, to be restored if that comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Before {
    fork: Option<Time>,
    tags: Vec<(Tag, Option<Time>)>,
    /// Whether firing has latched its idle moments.
    #[serde(default)]
    pub(super) latched_idle: bool,
    /// The thresholds that firing has spent.
    #[serde(default)]
    pub(super) spent: Vec<Moment>,
}

impl Stamps {
    /// When the fork was last issued in the conversation.
    pub fn fork(&self, conversation: &Conversation, fork: &ForkName) -> Option<Time> {
        self.forks.get(conversation)?.get(fork).map(|stamp| stamp.at)
    }

    /// When a fork with the tag was last issued in the project.
    pub fn tag(&self, root: &ProjectRoot, tag: &Tag) -> Option<Time> {
        self.tags.get(root)?.get(tag).map(|stamp| stamp.at)
    }

    /// The stamps of a fork and its tags as they are.
    pub(super) fn before(&self, conversation: &Conversation, root: &ProjectRoot, fork: &Fork) -> Before {
        Before {
            fork: self.fork(conversation, &fork.name),
            tags: fork.tags.iter().map(|tag| (tag.clone(), self.tag(root, tag))).collect(),
            latched_idle: false,
            spent: Vec::new(),
        }
    }

    /// Stamps a fork and its tags as issued `now`.
    pub(super) fn issue(&mut self, conversation: &Conversation, root: &ProjectRoot, fork: &Fork, now: Time) {
        renew(self.forks.entry(conversation.clone()).or_default(), &fork.name, now);
        if !fork.tags.is_empty() {
            let tags = self.tags.entry(root.clone()).or_default();
            fork.tags.iter().for_each(|tag| renew(tags, tag, now));
        }
    }

    /// Gives the stamps of a fork back that was issued at `issued`, where they were not renewed since and nobody else
    /// was issued at the same instant.
    pub(super) fn give_back(
        &mut self,
        conversation: &Conversation,
        root: &ProjectRoot,
        fork: &ForkName,
        issued: Time,
        before: &Before,
    ) {
        if let Some(forks) = self.forks.get_mut(conversation) {
            restore(forks, fork, issued, before.fork);
        }
        if let Some(tags) = self.tags.get_mut(root) {
            for (tag, before) in &before.tags {
                restore(tags, tag, issued, *before);
            }
        }
    }
}

fn renew<K: Ord + Clone>(stamps: &mut BTreeMap<K, Stamp>, key: &K, now: Time) {
    match stamps.get_mut(key).filter(|stamp| stamp.at == now) {
        Some(again) => again.issues = again.issues.and_then(|issues| issues.checked_add(1)),
        None => drop(stamps.insert(key.clone(), Stamp { at: now, issues: Some(1) })),
    }
}

fn restore<K: Ord + Clone>(stamps: &mut BTreeMap<K, Stamp>, key: &K, issued: Time, before: Option<Time>) {
    let Some(stamp) = stamps.get_mut(key).filter(|stamp| stamp.at == issued) else { return };
    match (stamp.issues, before) {
        (None, _) => {}
        (Some(2..), _) => stamp.issues = stamp.issues.map(|issues| issues - 1),
        // How many were issued then was overwritten.
        (Some(_), Some(before)) => *stamp = Stamp { at: before, issues: None },
        (Some(_), None) => drop(stamps.remove(key)),
    }
}
