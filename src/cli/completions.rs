//! `autofork completions SHELL`: what a shell needs to complete our command line. And the man pages, which a release
//! is made with.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{CliError, output};

/// The program's name, as a shell knows it.
const NAME: &str = "autofork";

/// Print what a shell needs to complete autofork's command line
///
/// For bash: `source <(autofork completions bash)` in ~/.bashrc. For zsh: write it to a file `_autofork` in a folder of
/// $fpath. For fish: `autofork completions fish | source` in config.fish.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), NAME, &mut script);
    output::print_raw(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Write the man pages into a folder
#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The folder, which must be there
    folder: PathBuf,
}

pub(super) fn man(arguments: &ManArguments) -> Result<ExitCode, CliError> {
    clap_mangen::generate_to(super::Arguments::command(), &arguments.folder)
        .map_err(|error| CliError::new(format!("the man pages cannot be written: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
