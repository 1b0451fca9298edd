//! The command line: one file per command, each with its arguments and a `run` function.
//!
//! This is the outermost layer: it reads arguments, environment and files, calls the rooms that do the work, and
//! prints. Exit codes: 0 done, 1 findings or problems, 2 could not run.

mod error;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use error::CliError;

/// Background thoughts for coding-agent sessions.
///
/// A fork is a markdown file that says when (frontmatter) and what (body). When a session goes quiet, its own model
/// spawns a background copy of itself that does the work and reports.
#[derive(Debug, Parser)]
#[command(name = "autofork", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {}

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome: Result<ExitCode, CliError> = match arguments.command {};
    outcome.unwrap_or_else(|error| {
        error.print();
        ExitCode::from(2)
    })
}
