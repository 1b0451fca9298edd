//! The command line: one file per command, each with its arguments and a `run` function.
//!
//! This is the outermost layer: it reads arguments, environment and files, calls the rooms that do the work, and
//! prints. Exit codes: 0 done, 1 findings or problems, 2 could not run. What has to do with sessions and their daemon is
//! in `sessions`; the rest is the compiler's, and is built without the feature `daemon` too.

mod check;
mod compile;
mod completions;
mod config;
mod diff;
mod error;
mod explain;
mod fmt;
mod forks;
mod init;
mod lsp;
mod mend;
mod output;
mod schema;
mod scope;
#[cfg(feature = "daemon")]
mod sessions;
#[cfg(not(feature = "daemon"))]
#[path = "no_sessions.rs"]
mod sessions;
mod style;
mod surroundings;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use error::CliError;
pub use surroundings::user_dirs;

use output::written;

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
    run().unwrap_or_else(|error| {
        error.print();
        ExitCode::from(2)
    })
}

fn run() -> Result<ExitCode, CliError> {
    let arguments = match asked()? {
        Ok(arguments) => arguments,
        Err(code) => return Ok(code),
    };
    match arguments.command {
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
    }
}

/// What the arguments ask for; an exit code where they ask for nothing but words on how to use the program.
fn asked() -> Result<Result<Arguments, ExitCode>, CliError> {
    match Arguments::try_parse() {
        Ok(arguments) => Ok(Ok(arguments)),
        Err(help) if !help.use_stderr() => written(help.print()).map(|()| Err(ExitCode::SUCCESS)),
        Err(error) => error.exit(),
    }
}
