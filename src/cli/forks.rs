//! `forks`: the forks that are visible here.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::AnsiColor;
use clap::Args;
use serde::Serialize;

use super::{CliError, output, surroundings};
use crate::cli::style::{BOLD, DIM};
use crate::compile::{Listed, State};
use crate::db::{Loaded, Workspace};
use crate::diagnostic::{Report, full, json};
use crate::ir::{Fork, LaunchDir, Moment};
use crate::text::visible;

/// List the forks that are visible here, and what each comes to.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let loaded = Workspace::on_disk().load(&LaunchDir::new(&current), &surroundings::user_dirs());
    let report =
        Report { diagnostics: &loaded.diagnostics, sources: &loaded.sources, files: loaded.files, base: &current };
    if arguments.json {
        output::print_raw(|out| print_json(&loaded, &report, out))?;
    } else {
        output::print(|out| print(&loaded, &report, out))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    forks: Vec<ListedFork<'a>>,
    diagnostics: Vec<json::Finding<'a>>,
}

#[derive(Serialize)]
struct ListedFork<'a> {
    name: &'a str,
    path: String,
    state: &'static str,
    description: Option<&'a str>,
    run_on: &'a [Moment],
    throttle: Option<u64>,
    after: Vec<&'a str>,
    overlap: bool,
    tags: Vec<&'a str>,
}

fn print_json(loaded: &Loaded, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let forks = loaded.listing.iter().filter(|listed| listed.state != State::Note);
    let document = Document {
        version: json::VERSION,
        forks: forks.map(|listed| listed_fork(listed, report)).collect(),
        diagnostics: json::findings(report),
    };
    json::write(&document, out)
}

fn listed_fork<'a>(listed: &'a Listed, report: &Report<'_>) -> ListedFork<'a> {
    let fork = listed.fork.as_deref();
    ListedFork {
        name: listed.name.as_str(),
        path: report.path(&listed.path).into_owned(),
        state: listed.state.name(),
        description: fork.and_then(|fork| fork.description.as_deref()),
        run_on: fork.map(|fork| fork.run_on.as_slice()).unwrap_or_default(),
        throttle: fork.and_then(|fork| fork.throttle).map(crate::ir::Seconds::get),
        after: fork.map(|fork| fork.after.iter().map(crate::ir::ForkName::as_str).collect()).unwrap_or_default(),
        overlap: fork.is_some_and(|fork| fork.overlap.into()),
        tags: fork.map(|fork| fork.tags.iter().map(crate::ir::Tag::as_str).collect()).unwrap_or_default(),
    }
}

fn print(loaded: &Loaded, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let listed: Vec<&Listed> = loaded.listing.iter().filter(|listed| listed.state != State::Note).collect();
    if listed.is_empty() {
        writeln!(out, "There are no forks here.")?;
        writeln!(
            out,
            "{DIM}A fork is a file .autofork/forks/NAME.md that starts with `fork: true` between two lines of ---.{DIM:#}"
        )?;
    }
    for fork in &listed {
        print_fork(out, fork, report)?;
    }
    let count = |state| loaded.in_state(state).count();
    let states = [State::Active, State::Shadowed, State::Broken, State::Off];
    let counts = states.map(|state| (count(state), state.name()));
    let counts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    if !counts.is_empty() {
        writeln!(out, "{}", counts.join(", "))?;
    }
    if !report.diagnostics.is_empty() {
        writeln!(out)?;
        full::render(report, surroundings::look(), out)?;
    }
    Ok(())
}

fn print_fork(out: &mut dyn Write, listed: &Listed, report: &Report<'_>) -> io::Result<()> {
    let (colour, note) = match listed.state {
        State::Active => (AnsiColor::Green, ""),
        State::Shadowed => (AnsiColor::BrightBlack, "  hidden by a nearer file of this name"),
        State::Broken => (AnsiColor::Red, "  broken, does not fire"),
        State::Off | State::Note => (AnsiColor::BrightBlack, "  switched off with `fork: false`"),
    };
    let mark = colour.on_default();
    let name = visible(listed.name.as_str());
    writeln!(out, "{mark}●{mark:#} {BOLD}{name}{BOLD:#}{mark}{note}{mark:#}")?;
    if let Some(fork) = &listed.fork {
        if let Some(description) = &fork.description {
            writeln!(out, "  {}", visible(description))?;
        }
        writeln!(out, "  {}", summary(fork))?;
    }
    writeln!(out, "  {DIM}{}{DIM:#}\n", visible(&report.path(Path::new(&listed.path))))
}

/// When a fork fires, in one line.
pub(super) fn summary(fork: &Fork) -> String {
    let moments: Vec<String> = fork.run_on.iter().map(ToString::to_string).collect();
    let mut parts =
        vec![if moments.is_empty() { "never fires".to_owned() } else { format!("on {}", moments.join(", ")) }];
    let names = |names: Vec<&str>| names.iter().map(|name| visible(name).into_owned()).collect::<Vec<_>>().join(", ");
    if let Some(throttle) = fork.throttle {
        parts.push(format!("at most every {throttle}"));
    }
    if !fork.after.is_empty() {
        parts.push(format!("after {}", names(fork.after.iter().map(crate::ir::ForkName::as_str).collect())));
    }
    if fork.overlap == crate::ir::Overlap::Allowed {
        parts.push("may overlap".to_owned());
    }
    if !fork.tags.is_empty() {
        parts.push(format!("tags {}", names(fork.tags.iter().map(crate::ir::Tag::as_str).collect())));
    }
    parts.join(" · ")
}
