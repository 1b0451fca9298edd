//! `autofork ticket ID`: what a ticket stands for. Redeems nothing.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;

use super::status::{PATIENCE, trouble};
use super::words::{path, plain};
use crate::cli::{CliError, output};
use crate::host::client::{Absence, Client};
use crate::host::dirs::Home;
use crate::host::protocol::{Instructions, Reply, Request, Token};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The ticket: `af-` and 32 hexadecimal digits
    id: String,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let token = Token::parse(arguments.id.trim())
        .ok_or_else(|| CliError::new("that is no ticket").help("a ticket is `af-` and 32 hexadecimal digits"))?;
    let home = Home::from_env()?;
    let reply = Client::new(&home)
        .ask(&Request::Ticket(token), Absence::Accept, PATIENCE)
        .map_err(|error| trouble(&error))?;
    let Reply::Ticket(Some(instructions)) = reply else {
        return Err(CliError::new("no such ticket is known").help("tickets are kept for 30 days"));
    };
    if arguments.json {
        output::print_json(&instructions)?;
    } else {
        output::print(|out| print(&instructions, out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(instructions: &Instructions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "fork          {}", plain(instructions.fork.as_str()))?;
    if let Some(description) = &instructions.description {
        writeln!(out, "for           {}", plain(description))?;
    }
    writeln!(out, "file          {}", path(&instructions.path))?;
    writeln!(out, "due           {}", instructions.trigger)?;
    writeln!(out, "session       {}", plain(instructions.session.as_str()))?;
    writeln!(out, "conversation  {}", plain(instructions.conversation.as_str()))?;
    writeln!(out, "project       {}", path(instructions.root.as_path()))?;
    writeln!(out)?;
    for line in instructions.body.lines() {
        writeln!(out, "{}", plain(line))?;
    }
    Ok(())
}
