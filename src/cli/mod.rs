//! The command line: one file per command, each with its arguments and a `run` function.
//!
//! This is the outermost layer: it reads arguments, environment and files, calls the rooms that do the work, and
//! prints. Exit codes: 0 done, 1 findings or problems, 2 could not run. What has to do with sessions and their daemon is
//! in `sessions`; the rest is the compiler's, and is built without the feature `daemon` too.

mod check;
mod compile;
mod completions;
mod config;
mod error;
mod explain;
mod fmt;
mod forks;
mod init;
mod lsp;
mod mend;
mod schema;
mod scope;
#[cfg(feature = "daemon")]
mod sessions;
#[cfg(not(feature = "daemon"))]
#[path = "no_sessions.rs"]
mod sessions;
mod surroundings;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use error::CliError;
pub use surroundings::user_dirs;

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
enum Command {
    Init(init::Arguments),
    Check(check::Arguments),
    Fmt(fmt::Arguments),
    Forks(forks::Arguments),
    Explain(explain::Arguments),
    #[cfg(feature = "daemon")]
    #[command(flatten)]
    Sessions(sessions::Command),
    Config(config::Arguments),
    Compile(compile::Arguments),
    Schema(schema::Arguments),
    /// Start the language server on standard input and output, for editors
    Lsp,
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
}

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    // Before the arguments are parsed: a session waits for every hook.
    let mut raw = std::env::args_os().skip(1);
    if raw.next().is_some_and(|command| command == sessions::HOOK) {
        return sessions::hook(raw);
    }
    let arguments = Arguments::parse();
    let outcome: Result<ExitCode, CliError> = match arguments.command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Forks(arguments) => forks::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        #[cfg(feature = "daemon")]
        Command::Sessions(command) => sessions::run(&command),
        Command::Config(arguments) => config::run(&arguments),
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Lsp => lsp::run(),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        error.print();
        ExitCode::from(2)
    })
}

/// Takes the outcome of writing to standard output. A reader that has gone away, such as `head`, is no failure.
fn written(outcome: std::io::Result<()>) -> Result<(), CliError> {
    match outcome {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::new(format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}
