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
    // One that was installed apart is found as any command is.
    let server = if beside.is_file() { beside } else { PathBuf::from(SERVER) };
    let error = platform::become_program(Command::new(&server).arg("--stdio"));
    Err(CliError::new(format!("the language server cannot be started: {error}"))
        .help(format!("install `{SERVER}` beside `autofork`")))
}
