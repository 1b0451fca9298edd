//! `autofork run NAME`: the instruction that starts forks by hand, to be pasted into a live session. It only prints.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use crate::cli::{CliError, output, surroundings};
use crate::compile::{self, State, nearest};
use crate::db::{Loaded, Workspace};
use crate::engine::predecessors;
use crate::host::claude_code::{ByHand, spawn_text};
use crate::ir::{Fork, ForkName, LaunchDir, Tag};
use crate::text::visible;

/// Print the instruction that starts forks by hand, to paste into a live session
///
/// Forks that wait for others of them by `after` come after those. Nothing is stamped: the forks still fire when their
/// moments come.
#[derive(Debug, Args)]
#[group(id = "which", required = true, multiple = false)]
pub(crate) struct Arguments {
    /// The forks to start
    #[arg(value_name = "NAME", group = "which")]
    names: Vec<String>,
    /// Start all forks with this tag
    #[arg(long, group = "which")]
    tag: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let loaded = Workspace::on_disk().load(&LaunchDir::new(&current), &surroundings::user_dirs());
    let chosen = match &arguments.tag {
        Some(tag) => tagged(&loaded, tag)?,
        None => arguments.names.iter().map(|name| named(&loaded, name)).collect::<Result<_, _>>()?,
    };
    let text = spawn_text(&in_order(&chosen));
    output::print_raw(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn named(loaded: &Loaded, name: &str) -> Result<Arc<Fork>, CliError> {
    let wanted = compile::fork_name(name);
    if let Some(fork) = loaded.program.fork(&wanted) {
        return Ok(Arc::clone(fork));
    }
    let shown = visible(name);
    let state = loaded.listing.iter().find(|listed| listed.name == wanted).map(|listed| listed.state);
    Err(match state {
        Some(State::Broken) => CliError::new(format!("the fork `{shown}` is broken")).help("see `autofork check`"),
        Some(State::Off) => CliError::new(format!("the fork `{shown}` is switched off here with `fork: false`")),
        _ => {
            let error = CliError::new(format!("there is no fork `{shown}` here"));
            let names = || loaded.program.forks().map(|fork| fork.name.as_str());
            error.help(suggestion(nearest(wanted.as_str(), names()), names()))
        }
    })
}

fn tagged(loaded: &Loaded, tag: &str) -> Result<Vec<Arc<Fork>>, CliError> {
    let wanted = Tag::from(tag);
    let chosen: Vec<Arc<Fork>> =
        loaded.program.forks().filter(|fork| fork.tags.contains(&wanted)).map(Arc::clone).collect();
    if chosen.is_empty() {
        let mut tags: Vec<&str> = loaded.program.forks().flat_map(|fork| &fork.tags).map(Tag::as_str).collect();
        tags.sort_unstable();
        tags.dedup();
        return Err(CliError::new(format!("no fork here has the tag `{}`", visible(tag)))
            .help(suggestion(nearest(tag, tags.iter().copied()), tags.iter().copied())));
    }
    Ok(chosen)
}

/// How many names are listed where none is near.
const LISTED: usize = 12;

fn suggestion<'a>(near: Option<&str>, known: impl Iterator<Item = &'a str>) -> String {
    if let Some(near) = near {
        return format!("did you mean `{}`?", visible(near));
    }
    let known: Vec<_> = known.map(visible).collect();
    match known.len() {
        0 => "there is none; `autofork init` writes a first fork".to_owned(),
        1..=LISTED => format!("there is {}", known.join(", ")),
        _ => "`autofork forks` lists them".to_owned(),
    }
}

/// The forks, none before one that it waits for, else in byte order of their names.
fn in_order(forks: &[Arc<Fork>]) -> Vec<ByHand> {
    let by_name: BTreeMap<&ForkName, &Arc<Fork>> = forks.iter().map(|fork| (&fork.name, fork)).collect();
    let mut left = predecessors(by_name.values().map(|fork| &***fork));
    let waits_for = left.clone();
    let mut ordered = Vec::new();
    // A batch has no cycle any more, so somebody is always free.
    while let Some(name) = left.iter().find(|(_, after)| after.iter().all(|name| !left.contains_key(name))) {
        let name = name.0.clone();
        left.remove(&name);
        ordered.push(ByHand {
            path: by_name.get(&name).map(|fork| fork.path.clone()).unwrap_or_default(),
            after: waits_for.get(&name).into_iter().flatten().cloned().collect(),
            fork: name,
        });
    }
    ordered
}
