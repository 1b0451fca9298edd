//! What a command finds around it: folders, the user, the screen.

use std::env;
use std::io;
use std::path::PathBuf;

use crate::diagnostic::full::{Colours, Links, Look};
use crate::platform;
use crate::project::UserDirs;

use super::CliError;

/// The folder that the command runs in. As the shell spells it where that is the same folder, so that paths look
/// familiar.
pub(crate) fn current_folder() -> Result<PathBuf, CliError> {
    let real =
        env::current_dir().map_err(|error| CliError::new(format!("the current folder cannot be found: {error}")))?;
    let spelt = env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let same = |path: &PathBuf| *path == real || platform::is_same_folder(path, &real);
    Ok(spelt.filter(same).unwrap_or(real))
}

/// The user's folders, from `AUTOFORK_HOME` and `HOME`.
pub fn user_dirs() -> UserDirs {
    let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = path("HOME").or_else(|| etcetera::home_dir().ok());
    UserDirs::new(path("AUTOFORK_HOME"), home, platform::user())
}

/// What standard output can show.
pub(crate) fn look() -> Look {
    let colours = match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => Colours::Off,
        _ => Colours::On,
    };
    let linked = colours == Colours::On && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout);
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    Look { colours, links: if linked { Links::On } else { Links::Off }, width: width.clamp(60, 120) }
}
