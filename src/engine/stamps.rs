//! When forks were last issued: what throttles are reckoned from. Kept across sessions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::Conversation;
use crate::ir::{Fork, ForkName, Moment, ProjectRoot, Tag, Time};

/// The last issue of each fork per conversation, and of each tag per project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamps {
    forks: BTreeMap<Conversation, BTreeMap<ForkName, Time>>,
    tags: BTreeMap<ProjectRoot, BTreeMap<Tag, Time>>,
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
        self.forks.get(conversation)?.get(fork).copied()
    }

    /// When a fork with the tag was last issued in the project.
    pub fn tag(&self, root: &ProjectRoot, tag: &Tag) -> Option<Time> {
        self.tags.get(root)?.get(tag).copied()
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
        self.forks.entry(conversation.clone()).or_default().insert(fork.name.clone(), now);
        if !fork.tags.is_empty() {
            let tags = self.tags.entry(root.clone()).or_default();
            tags.extend(fork.tags.iter().map(|tag| (tag.clone(), now)));
        }
    }

    /// Gives the stamps of a fork back that was issued at `issued`, where they were not renewed since; of its tags,
    /// those that `unused` names.
    pub(super) fn give_back(
        &mut self,
        conversation: &Conversation,
        root: &ProjectRoot,
        fork: &ForkName,
        issued: Time,
        before: &Before,
        unused: impl Fn(&Tag) -> bool,
    ) {
        if let Some(forks) = self.forks.get_mut(conversation) {
            restore(forks, fork, issued, before.fork);
        }
        if let Some(tags) = self.tags.get_mut(root) {
            for (tag, before) in before.tags.iter().filter(|(tag, _)| unused(tag)) {
                restore(tags, tag, issued, *before);
            }
        }
    }
}

impl Before {
    /// The fork's tags.
    pub(super) fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.tags.iter().map(|(tag, _)| tag)
    }
}

fn restore<K: Ord + Clone>(stamps: &mut BTreeMap<K, Time>, key: &K, issued: Time, before: Option<Time>) {
    if stamps.get(key) != Some(&issued) {
        return;
    }
    match before {
        Some(before) => stamps.insert(key.clone(), before),
        None => stamps.remove(key),
    };
}
