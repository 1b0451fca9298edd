//! When forks were last issued: what throttles are reckoned from. Kept across sessions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::Conversation;
use crate::ir::{Fork, ForkName, ProjectRoot, Tag, Time};

/// The last issue of each fork per conversation, and of each tag per project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamps {
    forks: BTreeMap<Conversation, BTreeMap<ForkName, Time>>,
    tags: BTreeMap<ProjectRoot, BTreeMap<Tag, Time>>,
}

/// What the stamps were before a fork was issued, to be restored if that comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Before {
    fork: Option<Time>,
    tags: Vec<(Tag, Option<Time>)>,
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

    /// Stamps a fork and its tags as issued `now`.
    pub(super) fn issue(
        &mut self,
        conversation: &Conversation,
        root: &ProjectRoot,
        fork: &Fork,
        now: Time,
    ) -> Before {
        let forks = self.forks.entry(conversation.clone()).or_default();
        let fork_before = forks.insert(fork.name.clone(), now);
        let mut tags_before = Vec::new();
        if !fork.tags.is_empty() {
            let tags = self.tags.entry(root.clone()).or_default();
            tags_before.extend(fork.tags.iter().map(|tag| (tag.clone(), tags.insert(tag.clone(), now))));
        }
        Before { fork: fork_before, tags: tags_before }
    }

    /// Gives the stamps of a fork back that was issued at `issued`, where they were not renewed since.
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
            // Backwards: a tag named twice was stamped twice.
            for (tag, before) in before.tags.iter().rev() {
                restore(tags, tag, issued, *before);
            }
        }
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
