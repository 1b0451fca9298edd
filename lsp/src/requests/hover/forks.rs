//! Forks and tags in a few lines.

use std::fmt::Write as _;

use autofork::compile::{Listed, Merged};
use autofork::db::Linkage;
use autofork::ir::{Fork, ForkName, Overlap, Tag};
use autofork::text::visible;

use super::{origin, paragraphs};
use crate::requests::words::{length, when};
use crate::view::{File, owner};

/// Names one after the other, for a sentence.
pub(super) fn names(names: &[ForkName]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", visible(name.as_str()))).collect();
    names.join(", ")
}

/// What the configuration has to say about a tag.
pub(super) fn tag_rules(config: &Merged, tag: &Tag) -> String {
    let mut says = Vec::new();
    if let Some(gap) = config.config.tag_throttles.get(tag) {
        let origin = origin(config, &format!("tag_throttles.{tag}"));
        says.push(format!("at most one run of any fork with it in {}, {origin}", length(*gap)));
    }
    if config.config.disable_tags.contains(tag) {
        says.push(format!("switched off with `disable_tags`, {}", origin(config, "disable_tags")));
    }
    if config.config.enable_tags.contains(tag) {
        says.push(format!("among the only ones that run, `enable_tags`, {}", origin(config, "enable_tags")));
    }
    if says.is_empty() { String::new() } else { format!("`{}`: {}.", visible(tag.as_str()), says.join("; ")) }
}

/// A tag: who has it, and what the configuration makes of it.
pub(super) fn tag_here(linkage: &Linkage, tag: &Tag) -> String {
    let forks = linkage.linked.program.forks().filter(|fork| fork.tags.contains(tag));
    let forks: Vec<ForkName> = forks.map(|fork| fork.name.clone()).collect();
    let forks = if forks.is_empty() {
        "No fork that may fire has this tag".into()
    } else {
        format!("Tag of {}", names(&forks))
    };
    paragraphs([format!("{forks}."), tag_rules(&linkage.config, tag)])
}

/// A fork that another one waits for.
pub(super) fn fork_named(file: &File<'_>, name: &ForkName) -> String {
    match file.named(name) {
        Some(listed) => summary(listed, file.linkage),
        None => format!("There is no fork `{}` here.", visible(name.as_str())),
    }
}

/// A fork in a few lines.
pub(crate) fn summary(listed: &Listed, linkage: &Linkage) -> String {
    let title = format!("**{}** ({})", visible(listed.name.as_str()), listed.state.name());
    let Some(fork) = &listed.fork else { return title };
    let description = fork.description.as_deref().map(|text| visible(text).into_owned()).unwrap_or_default();
    let mut facts = String::new();
    for moment in &fork.run_on {
        let _ = writeln!(facts, "- {}", when(*moment, linkage.config.config.deadline(*moment)));
    }
    if fork.run_on.is_empty() {
        facts.push_str("- never fires\n");
    }
    if let Some(gap) = fork.throttle {
        let _ = writeln!(facts, "- at most once in {}", length(gap));
    }
    if fork.overlap == Overlap::Allowed {
        facts.push_str("- two runs at once are fine\n");
    }
    if !fork.tags.is_empty() {
        let tags: Vec<String> = fork.tags.iter().map(|tag| format!("`{}`", visible(tag.as_str()))).collect();
        let _ = writeln!(facts, "- tags {}", tags.join(", "));
    }
    paragraphs([title, description, facts.trim_end().to_owned()])
}

/// The names in a fork's `after`: those that there are, and those that there are not.
pub(super) fn predecessors(fork: &Fork, linkage: &Linkage) -> (Vec<ForkName>, Vec<ForkName>) {
    fork.after.iter().cloned().partition(|name| owner(linkage, name).is_some())
}

/// The fork of this file as compiled, and who runs before and after it.
pub(super) fn whole(file: &File<'_>) -> Option<String> {
    let listed = file.linkage.linked.listing.iter().find(|listed| listed.path == file.path)?;
    let Some(fork) = file.fork() else { return Some(summary(listed, file.linkage)) };
    let waiting = file.linkage.linked.program.forks().filter(|other| other.after.contains(&fork.name));
    let waiting: Vec<ForkName> = waiting.map(|other| other.name.clone()).collect();
    let (before, _) = predecessors(fork, file.linkage);
    let order = match (names(&before).as_str(), names(&waiting).as_str()) {
        ("", "") => String::new(),
        (before, "") => format!("Runs after {before}."),
        ("", after) => format!("Runs before {after}."),
        (before, after) => format!("Runs after {before} and before {after}."),
    };
    Some(paragraphs([summary(listed, file.linkage), order]))
}
