//! Names of forks and tags that may be referred to.

use std::collections::{BTreeSet, HashSet};

use autofork::compile::State;
use autofork::db::Linkage;
use autofork::ir::{ForkName, Program};

/// The forks that one may wait for: all that may fire, but not itself, and none that waits for it already.
pub(super) fn may_wait_for<'a>(linkage: &'a Linkage, own: &ForkName, taken: &HashSet<&str>) -> Vec<&'a ForkName> {
    let program = &linkage.linked.program;
    let all = linkage.linked.listing.iter().filter(|listed| listed.state == State::Active).map(|listed| &listed.name);
    let free = all.filter(|name| *name != own && !taken.contains(name.as_str()));
    // A comma parts names, however they are quoted.
    let free = free.filter(|name| !name.as_str().contains(',') && !waits_for(program, name, own));
    free.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether a fork waits for another, directly or through others.
fn waits_for(program: &Program, from: &ForkName, to: &ForkName) -> bool {
    let mut open = vec![from];
    let mut seen = HashSet::new();
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            open.extend(program.fork(name).into_iter().flat_map(|fork| &fork.after));
        }
    }
    false
}

/// Every tag that a fork has or the configuration names.
pub(super) fn tags(linkage: &Linkage) -> BTreeSet<&str> {
    let config = &linkage.config.config;
    let forks = linkage.linked.listing.iter().filter_map(|listed| listed.fork.as_ref());
    let named = config.enable_tags.iter().chain(&config.disable_tags).chain(config.tag_throttles.keys());
    forks
        .flat_map(|fork| &fork.tags)
        .chain(named)
        .map(autofork::ir::Tag::as_str)
        .filter(|tag| !tag.contains(','))
        .collect()
}
