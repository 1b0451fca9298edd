//! The binary: a server on standard input and output.

use std::process::ExitCode;

use autofork::cli::user_dirs;
use autofork_lsp::{Ended, Options, serve, transport};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // Some clients name the transport; there is one.
        None | Some("--stdio") => {}
        Some("--version" | "-V") => {
            println!("autofork-lsp {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Some(_) => {
            eprintln!(
                "autofork-lsp speaks the language server protocol on standard input and output.\nIt takes no arguments but --stdio and --version."
            );
            return ExitCode::from(2);
        }
    }
    let (connection, threads) = transport::stdio();
    let ended = serve(connection, Options::on_disk(user_dirs()));
    let written = threads.join();
    if ended == Ended::InOrder && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
