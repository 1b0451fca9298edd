//! `check`: lint fork files and configuration.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::scope::{self, Scope};
use super::{CliError, surroundings, written};
use crate::db::Workspace;
use crate::diagnostic::{Level, Report, full, json};
use crate::text::visible;

/// Check fork files and configuration.
///
/// Without a path: everything that is visible here, every root below the current folder, and your own forks.
/// Exit code 0 if nothing is wrong, 1 for errors, 2 if the check could not run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Fork files, configuration files, or folders with them.
    paths: Vec<PathBuf>,
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = Format::Full)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With source and help, for people.
    Full,
    /// One versioned document, for programs.
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let user = surroundings::user_dirs();
    let mut workspace = Workspace::on_disk();
    let scope = if arguments.paths.is_empty() {
        scope::everything(&mut workspace, &current, &user)
    } else {
        scope::paths(&mut workspace, &current, &user, &arguments.paths)
    };
    written(print(&scope, &current, arguments.format))?;
    for path in &scope.missing {
        let message = format!("there is nothing at {}", visible(&path.to_string_lossy()));
        CliError::new(message).help("the other paths were checked").print();
    }
    let failed = scope.diagnostics.iter().any(|found| found.level >= Level::Error);
    Ok(match (scope.missing.is_empty(), failed) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::from(1),
        (true, false) => ExitCode::SUCCESS,
    })
}

fn print(scope: &Scope, base: &Path, format: Format) -> io::Result<()> {
    let report = Report { diagnostics: &scope.diagnostics, sources: &scope.sources, files: scope.files, base };
    let mut out = io::BufWriter::new(io::stdout().lock());
    match format {
        Format::Full => full::render(&report, surroundings::look(), &mut out)?,
        Format::Json => json::render(&report, &mut out)?,
    }
    out.flush()
}
