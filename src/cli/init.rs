//! `init`: write a first fork.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Args;

use super::check::shown;
use super::{CliError, output, surroundings};
use crate::ir::LaunchDir;
use crate::project::{self, Disk};
use crate::text::visible;

/// Write a first fork into this project.
///
/// Starters: journal, groom-todos, distill-notes, deep-review. A file that is there is never overwritten.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The starter to write.
    #[arg(default_value = "journal")]
    name: String,
}

const STARTERS: [(&str, &str); 4] = [
    ("journal", include_str!("starters/journal.md")),
    ("groom-todos", include_str!("starters/groom-todos.md")),
    ("distill-notes", include_str!("starters/distill-notes.md")),
    ("deep-review", include_str!("starters/deep-review.md")),
];

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let Some((name, text)) = STARTERS.iter().find(|(name, _)| *name == arguments.name) else {
        let names = STARTERS.map(|(name, _)| name).join(", ");
        return Err(CliError::new(format!("there is no starter `{}`", visible(&arguments.name)))
            .help(format!("choose one of {names}")));
    };
    let current = surroundings::current_folder()?;
    let root = project::project_root(&Disk, &LaunchDir::new(&current), &surroundings::user_dirs());
    let folder = root.as_path().join(".autofork").join("forks");
    let path = folder.join(format!("{name}.md"));
    let show = shown(&path, &current);
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::new(format!("{show} is there already"))
            .help("it was left as it is; remove it first to start anew"),
        _ => CliError::new(format!("{show} cannot be written: {error}")),
    };
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    output::say(&format!(
        "Wrote {show}.\nEdit it to your liking, then see what it comes to with `autofork forks`.\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
