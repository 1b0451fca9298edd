//! Why a command could not run, in words for a person.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// Why a command could not run: what went wrong, and what to do about it.
#[derive(Debug)]
pub struct CliError {
    message: String,
    help: Option<String>,
}

impl CliError {
    /// An error that says `message`: one plain sentence without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// The same error with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Writes the error to standard error, coloured if that is a terminal.
    pub fn print(&self) {
        let red: Style = AnsiColor::Red.on_default().bold();
        let blue: Style = AnsiColor::Blue.on_default().bold();
        anstream::eprintln!("{red}error{red:#}: {}", self.message);
        if let Some(help) = &self.help {
            anstream::eprintln!("{blue}help{blue:#}: {help}");
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}
