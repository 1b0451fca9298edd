//! The order within a batch: forks that come due together, some of which wait for others.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Fork, ForkName};

/// For each fork of a batch, which others of it it waits for. A name that is not in the batch is no edge, nor is a
/// fork's own. No fork is lost to a cycle: the first of its names in byte order does not wait for the rest of it.
pub fn predecessors<'a>(batch: impl Iterator<Item = &'a Fork>) -> BTreeMap<ForkName, BTreeSet<ForkName>> {
    let forks: Vec<&Fork> = batch.collect();
    let names: BTreeSet<&ForkName> = forks.iter().map(|fork| &fork.name).collect();
    let mut edges: BTreeMap<ForkName, BTreeSet<ForkName>> = forks
        .iter()
        .map(|fork| {
            let others = fork.after.iter().filter(|name| names.contains(name) && **name != fork.name);
            (fork.name.clone(), others.cloned().collect())
        })
        .collect();
    while let Some((first, cycle)) = first_in_a_cycle(&edges) {
        if let Some(waits_for) = edges.get_mut(&first) {
            waits_for.retain(|name| !cycle.contains(name));
        }
    }
    edges
}

/// The first name in byte order that reaches itself, and all names on a way from it to itself.
fn first_in_a_cycle(edges: &BTreeMap<ForkName, BTreeSet<ForkName>>) -> Option<(ForkName, BTreeSet<ForkName>)> {
    // Whoever waits for nobody, or only for such, is in no cycle. What is left is in one, or behind one.
    let mut left: BTreeSet<&ForkName> = edges.keys().collect();
    loop {
        let free: Vec<&ForkName> =
            left.iter().filter(|name| edges[**name].iter().all(|other| !left.contains(other))).copied().collect();
        if free.is_empty() {
            break;
        }
        for name in free {
            left.remove(name);
        }
    }
    let reachable = |from: &ForkName| {
        let mut seen: BTreeSet<ForkName> = BTreeSet::new();
        let mut next: Vec<ForkName> = edges[from].iter().cloned().collect();
        while let Some(name) = next.pop() {
            if seen.insert(name.clone()) {
                next.extend(edges[&name].iter().cloned());
            }
        }
        seen
    };
    left.iter().find_map(|name| {
        let ahead = reachable(name);
        ahead.contains(*name).then(|| {
            let cycle = ahead.iter().filter(|other| reachable(other).contains(*name)).cloned().collect();
            ((*name).clone(), cycle)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::fork;

    /// `"a b; b a"` is a batch of two forks that wait for each other; the result has the same form.
    fn check(batch: &str, expected: &str) {
        let forks: Vec<Fork> = batch
            .split(';')
            .map(|line| {
                let mut names = line.split_whitespace();
                let name = names.next().unwrap();
                Fork { after: names.map(ForkName::from).collect(), ..fork(name, 0) }
            })
            .collect();
        let shown: Vec<String> = predecessors(forks.iter())
            .into_iter()
            .map(|(name, waits_for)| {
                let names: Vec<String> =
                    std::iter::once(name).chain(waits_for).map(|name| name.to_string()).collect();
                names.join(" ")
            })
            .collect();
        assert_eq!(shown.join("; "), expected, "{batch}");
    }

    #[test]
    fn only_edges_within_the_batch_count() {
        check("a; b a; c a b elsewhere", "a; b a; c a b");
        check("a a", "a");
        check("a nobody; b a", "a; b a");
    }

    #[test]
    fn a_cycle_begins_with_its_first_name() {
        check("a b; b a", "a; b a");
        check("a b; b c; c a", "a; b c; c a");
        check("b c; c d; d b; a b", "a b; b; c d; d b");
        check("a b; b a; c d; d c", "a; b a; c; d c");
        check("a b c; b a; c a", "a; b a; c a");
        check("a z; b c; c b z; z", "a z; b; c b z; z");
    }
}
