//! `compile`: the program as JSON.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::{CliError, output, surroundings};
use crate::db::Workspace;
use crate::ir::{LaunchDir, Program, ProjectRoot};

/// Print what the forks and the configuration here come to, as JSON.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    launch: &'a LaunchDir,
    root: &'a ProjectRoot,
    program: &'a Program,
}

/// Runs the command. Exit code 1 if a fork is broken, so that a script notices.
pub(crate) fn run(_: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let loaded = Workspace::on_disk().load(&LaunchDir::new(&current), &surroundings::user_dirs());
    let document = Document { version: 1, launch: &loaded.launch, root: &loaded.root, program: &loaded.program };
    output::print_json(&document)?;
    let broken = loaded.in_state(crate::compile::State::Broken).count();
    Ok(if broken > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
