//! `lsp`: start the language server that lies beside this binary.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::CliError;
use crate::platform;

/// The server's binary.
const SERVER: &str = "autofork-lsp";

/// Runs the command: this process becomes the server.
pub(crate) fn run() -> Result<ExitCode, CliError> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let beside = own.with_file_name(SERVER).with_extension(std::env::consts::EXE_EXTENSION);
    let Some(server) = [beside].into_iter().chain(in_path()).find(|path| path.is_file()) else {
        return Err(
            CliError::new("there is no language server").help(format!("install `{SERVER}` beside `autofork`"))
        );
    };
    let error = platform::become_program(Command::new(&server).arg("--stdio"));
    Err(CliError::new(format!("the language server cannot be started: {error}"))
        .help(format!("install `{SERVER}` beside `autofork` anew")))
}

/// Where one that was installed apart may be. Not below the folder that the editor happens to have open, which is what
/// an entry that is not absolute means.
fn in_path() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(|folder| folder.join(SERVER).with_extension(std::env::consts::EXE_EXTENSION))
}
