//! The commands that have to do with sessions and their daemon, and the daemon and the hooks themselves.

mod daemon;
mod demo;
mod doctor;
mod history;
mod hook;
mod last_words;
mod logs;
mod prune;
mod run;
mod simulate;
mod source;
mod status;
mod stop_daemon;
mod ticket;
mod why;
mod words;

use std::process::ExitCode;

use clap::Subcommand;

use super::CliError;

pub(super) use hook::{COMMAND as HOOK, main as hook};

/// One of these commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Simulate(simulate::Arguments),
    Run(run::Arguments),
    /// Show how things stand: sessions, what comes due next, recent wakes, live runs
    Status(status::Arguments),
    Why(why::Arguments),
    History(history::Arguments),
    Doctor(doctor::Arguments),
    Logs(logs::Arguments),
    Prune(prune::Arguments),
    /// Send the daemon away; sessions that are quiet now are not woken until their next turn
    StopDaemon,
    /// Watch a short session with one fork, played from beginning to end in a temporary folder
    Demo,
    /// Show what a ticket stands for
    #[command(hide = true)]
    Ticket(ticket::Arguments),
    /// The daemon; hooks start it
    #[command(hide = true)]
    Daemon,
}

/// Runs the command.
pub(super) fn run(command: &Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Why(arguments) => why::run(arguments),
        Command::History(arguments) => history::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Logs(arguments) => logs::run(arguments),
        Command::Prune(arguments) => prune::run(arguments),
        Command::StopDaemon => stop_daemon::run(),
        Command::Demo => demo::run(),
        Command::Ticket(arguments) => ticket::run(arguments),
        Command::Daemon => daemon::run(),
    }
}
