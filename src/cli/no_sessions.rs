//! What stands in for `sessions` in a build without the daemon.

use std::ffi::OsString;
use std::process::ExitCode;

/// The name of the command that the plugin calls.
pub(super) const HOOK: &str = "hook";

/// Does nothing, and says so in one line for whoever reads the client's log. Exiting with 0, it shows in no session.
pub(super) fn hook(_arguments: impl Iterator<Item = OsString>) -> ExitCode {
    eprintln!("autofork: this build has no daemon, which needs Linux or macOS; no fork will fire");
    ExitCode::SUCCESS
}
