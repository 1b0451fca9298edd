//! What a release is made of: versions that agree, archives, and the file by which the plugin vouches for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The name by which releases know this machine.
pub(crate) fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{system}", std::env::consts::ARCH)
}

fn run(script: &str, arguments: &[&str]) -> String {
    let output = Command::new("sh").arg(root().join(script)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Packs the program in `folder`, for this machine, into `out`. Returns the archive.
pub(crate) fn package(folder: &Path, out: &Path) -> PathBuf {
    let (folder, out) = (folder.to_str().unwrap(), out.to_str().unwrap());
    PathBuf::from(run(".ci/package", &[&target(), folder, out]).trim_end())
}

/// The text of the plugin's file `releases` for the archives in `folder`.
pub(crate) fn vouch(base: &str, folder: &Path) -> String {
    run(".ci/vouch", &[base, folder.to_str().unwrap()])
}

#[test]
fn package_plugin_and_marketplace_are_of_one_version() {
    let read =
        |path: &str| -> Value { serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap() };
    let marketplace = read(".claude-plugin/marketplace.json");
    let [entry] = marketplace["plugins"].as_array().unwrap().as_slice() else { panic!("{marketplace}") };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(marketplace["metadata"]["version"], version);
    assert_eq!(entry["version"], version);
    assert_eq!(read("plugin/.claude-plugin/plugin.json")["version"], version);
    // A client takes the folder relative to the marketplace only if it is written so.
    assert_eq!((&marketplace["name"], &entry["name"]), (&"autofork".into(), &"autofork".into()));
    assert_eq!(entry["source"], "./plugin");
    for key in ["description", "license", "author", "keywords"] {
        assert_eq!(entry[key], read("plugin/.claude-plugin/plugin.json")[key], "{key}");
    }
}

#[test]
fn an_archive_holds_the_program_and_what_belongs_to_it_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_autofork")).parent().unwrap();
    let archive = package(built, &folder.path().join("out"));
    let name = format!("autofork-{}-{}", env!("CARGO_PKG_VERSION"), target());
    assert_eq!(archive.file_name().unwrap().to_str().unwrap(), format!("{name}.tar.gz"));
    let listed = Command::new("tar").arg("-tzf").arg(&archive).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files = ["autofork", "LICENSE", "man/autofork.1", "man/autofork-check.1", "completions/_autofork"];
    for file in files {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "{listed}");
    }

    let releases = vouch("https://example.invalid/download", &folder.path().join("out"));
    let lines: Vec<&str> = releases.lines().filter(|line| !line.starts_with('#')).collect();
    let [base, sum] = lines.as_slice() else { panic!("{releases}") };
    assert_eq!(*base, "base https://example.invalid/download");
    let words: Vec<&str> = sum.split(' ').collect();
    assert_eq!((words[0], words[1].len(), words[2]), ("sha256", 64, &*format!("{name}.tar.gz")));
    let ours = fs::read_to_string(super::plugin().join("releases")).unwrap();
    let comment =
        |text: &str| text.lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(comment(&releases), comment(&ours), "the workflow keeps what explains the file");
}

/// The real program, from the build to where the shim finds it, as a user gets it.
#[test]
fn a_released_program_reaches_the_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let out = path("published").join(concat!("v", env!("CARGO_PKG_VERSION")));
    package(Path::new(env!("CARGO_BIN_EXE_autofork")).parent().unwrap(), &out);
    for file in [".claude-plugin/plugin.json", "hooks/autofork-bootstrap", "hooks/autofork-hook"] {
        let copy = path("plugin").join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(super::plugin().join(file), copy).unwrap();
    }
    fs::write(path("plugin/releases"), vouch("https://example.invalid", &out)).unwrap();
    let run = |script: &str, argument: &str| {
        Command::new("sh")
            .arg(path("plugin/hooks").join(script))
            .arg(argument)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", path("home"))
            .env("CLAUDE_PLUGIN_DATA", path("data"))
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("AUTOFORK_RELEASES", format!("file://{}", path("published").display()))
            .output()
            .unwrap()
    };
    run("autofork-bootstrap", "work");
    let state = fs::read_to_string(path("data/bootstrap.state")).unwrap();
    assert_eq!(state, concat!(env!("CARGO_PKG_VERSION"), " ok from the release archive\n"));
    let output = run("autofork-hook", "stop");
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}
