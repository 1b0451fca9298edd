//! The `autofork` binary: hands its arguments to `cli` and turns the outcome into an exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    autofork::cli::main()
}
