//! The configuration for Neovim, in a headless Neovim. Says so and passes where there is none, unless
//! `AUTOFORK_REQUIRE_NEOVIM` is set.

use std::path::Path;
use std::process::Command;

#[test]
fn neovim_attaches_gets_a_diagnostic_and_applies_a_fix() {
    if Command::new("nvim").arg("--version").output().is_err() {
        assert!(std::env::var_os("AUTOFORK_REQUIRE_NEOVIM").is_none(), "there is no nvim");
        eprintln!("skipped: there is no nvim");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    let forks = project.join(".autofork/forks");
    std::fs::create_dir_all(&forks).unwrap();
    std::fs::write(forks.join("tidy.md"), "---\nfork: true\nthrotle: 1h\n---\nTidy.\n").unwrap();
    std::fs::write(project.join("README.md"), "# Hello\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/neovim/test.lua");
    let output = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-S"])
        .arg(script)
        .env("HOME", home.path())
        .env("XDG_STATE_HOME", home.path())
        .env("AUTOFORK_LSP", env!("CARGO_BIN_EXE_autofork-lsp"))
        .env("AUTOFORK_PROJECT", &project)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("attached, diagnosed, mended"), "{out}\n{err}");
}
