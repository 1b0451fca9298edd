//! Where the pinned client is, and what happens in a test when it is nowhere.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The client's version, pinned in one file that the install script reads too.
pub(crate) const VERSION: &str = include_str!("../claude_code/VERSION");

/// The client's program, or `None` after having said on the terminal that the test is skipped and why.
///
/// # Panics
/// If the client is missing and `AUTOFORK_REQUIRE_CLIENT=1` says that it must not be.
pub(crate) fn client_or_skip() -> Option<PathBuf> {
    let folder = folder();
    if let Some(client) = find(&folder) {
        return Some(client);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test");
    let why = format!(
        "no Claude Code {} in {}; `sh tests/claude_code/install` brings it",
        VERSION.trim(),
        folder.display()
    );
    assert!(
        std::env::var_os("AUTOFORK_REQUIRE_CLIENT").is_none_or(|value| value != "1"),
        "AUTOFORK_REQUIRE_CLIENT=1, but there is {why}"
    );
    // Written past the test harness, which would keep a passing test's `eprintln!` to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
    None
}

/// `<target>/claude-code/<version>`. Cargo tells tests of a folder in the target folder, wherever that is.
fn folder() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is target/tmp");
    target.join("claude-code").join(VERSION.trim())
}

/// The binary of the platform package, of which npm installs exactly the fitting one.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder.join("node_modules/@anthropic-ai")).ok()?;
    packages.flatten().map(|package| package.path().join("claude")).find(|path| path.is_file())
}
