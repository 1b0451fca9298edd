//! `fmt`: bring frontmatters into their canonical form.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::check::shown;
use super::scope::{self, What};
use super::{CliError, mend, output, surroundings};
use crate::db::Workspace;
use crate::format;
use crate::project;

/// Bring the frontmatter of fork files into its canonical form.
///
/// Keys in one order, lists in one style; comments stay with what they are about, and nothing else changes. Without a
/// path: everything that `check` looks at. Exit code 0, or 1 if `--check` finds a file in another form, 2 if the command could not run.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Fork files, or folders with them.
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that would change.
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let what = if arguments.paths.is_empty() { What::Everything } else { What::Paths(arguments.paths.clone()) };
    let scope = scope::look(&mut Workspace::on_disk(), &current, &surroundings::user_dirs(), &what);
    let mut changed = 0;
    let forks = scope.sources.iter().filter(|source| source.path().extension().is_some_and(|kind| kind == "md"));
    for source in forks.filter(|source| what_is_asked_for(source.path(), &current, arguments)) {
        let text = source.text();
        let Some((span, words)) = format::frontmatter(text) else { continue };
        let show = shown(source.path(), &current);
        if arguments.check {
            output::say(&format!("{show} has another form.\n"))?;
        } else {
            let formatted = [&text[..span.start()], &words, &text[span.end()..]].concat();
            mend::save(source.path(), &formatted)
                .map_err(|error| CliError::new(format!("{show} cannot be written: {error}")))?;
            output::say(&format!("Formatted {show}.\n"))?;
        }
        changed += 1;
    }
    if let Some(refused) = scope.refused.first() {
        return Err(CliError::new(refused.as_str()));
    }
    Ok(if arguments.check && changed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// A scope holds the texts of whole projects, also where one file of them was asked for.
fn what_is_asked_for(path: &Path, current: &Path, arguments: &Arguments) -> bool {
    let given = || arguments.paths.iter().map(|given| project::cleaned(&current.join(given)));
    arguments.paths.is_empty() || given().any(|given| path.starts_with(given))
}
