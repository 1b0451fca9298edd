//! The command line: one file per command, each with its arguments and a `run` function.
//!
//! This is the outermost layer: it reads arguments, environment and files, calls the rooms that do the work, and
//! prints. Exit codes: 0 done, 1 findings or problems, 2 could not run.

mod check;
mod compile;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod error;
mod explain;
mod fmt;
mod forks;
mod history;
mod hook;
mod init;
mod last_words;
mod logs;
mod lsp;
mod mend;
mod prune;
mod run;
mod schema;
mod scope;
mod simulate;
mod source;
mod status;
mod stop_daemon;
mod surroundings;
mod ticket;
mod watch;
mod why;
mod words;

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
enum Command {
    /// Watch a short session with one fork, played from beginning to end in a temporary folder
    Demo,
    /// Show how things stand: sessions, what comes due next, recent wakes, live runs
    Status(status::Arguments),
    Why(why::Arguments),
    History(history::Arguments),
    Simulate(simulate::Arguments),
    Doctor(doctor::Arguments),
    /// Send the daemon away; sessions that are quiet now are not woken until their next turn
    StopDaemon,
    Logs(logs::Arguments),
    Prune(prune::Arguments),
    Run(run::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
    /// Show what a ticket stands for
    #[command(hide = true)]
    Ticket(ticket::Arguments),
    /// The daemon; hooks start it
    #[command(hide = true)]
    Daemon,
    Check(check::Arguments),
    Forks(forks::Arguments),
    Explain(explain::Arguments),
    Compile(compile::Arguments),
    Config(config::Arguments),
    Schema(schema::Arguments),
    Init(init::Arguments),
    Fmt(fmt::Arguments),
    /// Start the language server on standard input and output, for editors
    Lsp,
}

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    // Before the arguments are parsed: a session waits for every hook.
    let mut raw = std::env::args_os().skip(1);
    if raw.next().is_some_and(|command| command == hook::COMMAND) {
        return hook::main(raw);
    }
    let arguments = Arguments::parse();
    let outcome: Result<ExitCode, CliError> = match arguments.command {
        Command::Demo => demo::run(),
        Command::Status(arguments) => status::run(&arguments),
        Command::Why(arguments) => why::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::StopDaemon => stop_daemon::run(),
        Command::Logs(arguments) => logs::run(&arguments),
        Command::Prune(arguments) => prune::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::Ticket(arguments) => ticket::run(&arguments),
        Command::Daemon => daemon::run(),
        Command::Check(arguments) => check::run(&arguments),
        Command::Forks(arguments) => forks::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Lsp => lsp::run(),
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
