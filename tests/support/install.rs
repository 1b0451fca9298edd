//! Where the clients are, and what happens in a test when one is nowhere.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The clients' versions, pinned in one file that the install script reads too; the newest comes first.
const VERSIONS: &str = include_str!("../claude_code/VERSIONS");

/// The newest client's program, or `None` after having said on the terminal that the test is skipped and why.
pub(crate) fn client_or_skip() -> Option<PathBuf> {
    client_of_version_or_skip(versions().next().expect("the file names one"))
}

/// The program of the client of that version, or `None` after having said on the terminal that the test is skipped and why.
///
/// # Panics
/// If the client is missing and `AUTOFORK_REQUIRE_CLIENT=1` says that it must not be.
pub(crate) fn client_of_version_or_skip(version: &str) -> Option<PathBuf> {
    assert!(versions().any(|known| known == version), "{version} is not among those that are installed");
    let folder = folder(version);
    if let Some(client) = find(&folder) {
        return Some(client);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test");
    let why = format!("no Claude Code {version} in {}; `sh tests/claude_code/install` brings it", folder.display());
    assert!(
        std::env::var_os("AUTOFORK_REQUIRE_CLIENT").is_none_or(|value| value != "1"),
        "AUTOFORK_REQUIRE_CLIENT=1, but there is {why}"
    );
    // Written past the test harness, which would keep a passing test's `eprintln!` to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
    None
}

fn versions() -> impl Iterator<Item = &'static str> {
    VERSIONS.lines().filter(|line| !line.starts_with('#'))
}

/// `<target>/claude-code/<version>`. Cargo tells tests of a folder in the target folder, wherever that is.
fn folder(version: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is target/tmp");
    target.join("claude-code").join(version)
}

/// The binary of the platform package, of which npm installs exactly the fitting one.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder.join("node_modules/@anthropic-ai")).ok()?;
    packages.flatten().map(|package| package.path().join("claude")).find(|path| path.is_file())
}
