//! The plugin folder: the hook manifest says what the client must do, the shim finds the binary and is never noticed.
//!
//! The bootstrap puts the binary where the shim looks, and a release is what the bootstrap can read.
//!
//! Nothing here needs Claude Code or a network. Mostly the binary is a two-line script in a temporary folder that says
//! which one it is.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is the failure")]

mod bootstrap;
mod manifest;
mod release;
mod shim;

use std::path::{Path, PathBuf};

/// The plugin folder of this checkout.
fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}
