//! The plugin folder: the hook manifest says what the client must do, the shim finds the binary and is never noticed.
//!
//! Nothing here needs Claude Code. The binary is a two-line script in a temporary folder that says which one it is.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is the failure")]

mod manifest;
mod shim;

use std::path::{Path, PathBuf};

/// The plugin folder of this checkout.
fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}
