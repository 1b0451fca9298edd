//! The shim: where it looks for the binary, in which order, and how it behaves when there is none.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The shells the shim is tried with: the two that stand behind `sh` on nearly every machine.
const SHELLS: [&[&str]; 3] = [&["sh"], &["dash"], &["bash", "--posix"]];

/// A world with nothing of the machine's own environment in it. The names have a blank and a quote on purpose.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("o'brien \"x\" $HOME ").tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A fake binary that prints its own name, its arguments and its input.
    fn binary(&self, path: &str) -> PathBuf {
        self.script(path, "printf '%s ' \"$0\" \"$@\"; cat")
    }

    fn script(&self, path: &str, body: &str) -> PathBuf {
        let path = self.write(path, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A copy of the shim in a plugin folder; inside what looks like our checkout if `neighbour` is our crate.
    fn plugin_beside(&self, root: &str, neighbour: Option<&str>) -> PathBuf {
        if let Some(name) = neighbour {
            self.write(&format!("{root}/lsp/Cargo.toml"), &format!("[package]\nname = \"{name}\"\n"));
        }
        let shim = fs::read_to_string(super::plugin().join("hooks/autofork-hook")).unwrap();
        self.write(&format!("{root}/plugin/hooks/autofork-hook"), &shim)
    }

    /// The shim alone: no checkout around it.
    fn plugin(&self) -> PathBuf {
        self.plugin_beside("installed", None)
    }
}

/// Runs the shim with exactly these variables and `payload` as its input.
fn run(shell: &[&str], shim: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
    let program = shell_path(shell[0]);
    let mut child = Command::new(program)
        .args(&shell[1..])
        .arg(shim)
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .current_dir(shim.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The shim may be gone before it reads anything.
    let _ = child.stdin.take().unwrap().write_all(b"payload");
    child.wait_with_output().unwrap()
}

/// Where a shell is: the tests clear `PATH`, so it cannot be found by name.
pub(crate) fn shell_path(name: &str) -> PathBuf {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// The shim's environment also needs the folder of `cat`, for the fake binaries.
fn with_tools(folders: &[&Path]) -> PathBuf {
    let tools = [Path::new("/usr/bin"), Path::new("/bin")];
    let all = folders.iter().copied().chain(tools);
    PathBuf::from(std::env::join_paths(all).unwrap())
}

#[track_caller]
fn assert_became(output: &Output, binary: &Path) {
    let wanted = format!("{} hook stop payload", binary.display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[track_caller]
fn assert_unnoticed(output: &Output) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn it_looks_in_five_places_in_order() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin_beside("checkout", Some("autofork-lsp"));
        let named = world.binary("named/af");
        let data = world.binary("data/bin/autofork");
        let release = world.binary("checkout/target/release/autofork");
        let debug = world.binary("checkout/target/debug/autofork");
        let first = world.path("no such folder");
        let installed = world.binary("usr bin/autofork");
        let path = with_tools(&[&first, installed.parent().unwrap()]);
        let variables: [(&str, &Path); 3] =
            [("AUTOFORK_BIN", &named), ("CLAUDE_PLUGIN_DATA", &world.path("data")), ("PATH", &path)];
        let through = |name: &str| world.path("checkout/plugin/hooks/../..").join(name);

        assert_became(&run(shell, &shim, &["stop"], &variables), &named);
        fs::remove_file(&named).unwrap();
        assert_became(&run(shell, &shim, &["stop"], &variables), &data);
        fs::remove_file(data).unwrap();
        assert_became(&run(shell, &shim, &["stop"], &variables), &through("target/release/autofork"));
        fs::remove_file(release).unwrap();
        assert_became(&run(shell, &shim, &["stop"], &variables), &through("target/debug/autofork"));
        fs::remove_file(debug).unwrap();
        assert_became(&run(shell, &shim, &["stop"], &variables), &installed);
        fs::remove_file(installed).unwrap();
        assert_unnoticed(&run(shell, &shim, &["stop"], &variables));
    }
}

#[test]
fn no_environment_and_no_event_are_no_error() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin();
        assert_unnoticed(&run(shell, &shim, &["stop"], &[]));
        assert_unnoticed(&run(shell, &shim, &[], &[]));
        assert_unnoticed(&run(shell, &shim, &[""], &[("AUTOFORK_BIN", &world.binary("af"))]));
    }
}

#[test]
fn what_is_not_an_executable_file_is_passed_over() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin();
        let installed = world.binary("bin/autofork");
        let path = with_tools(&[installed.parent().unwrap()]);
        let plain = world.write("plain", "#!/bin/sh\necho no\n");
        let folder = world.path("folder");
        fs::create_dir(&folder).unwrap();
        for wrong in [plain, folder, world.path("missing"), PathBuf::from("autofork"), PathBuf::from("*")] {
            let variables: [(&str, &Path); 2] = [("AUTOFORK_BIN", &wrong), ("PATH", &path)];
            assert_became(&run(shell, &shim, &["stop"], &variables), &installed);
        }
    }
}

#[test]
fn a_binary_that_cannot_run_ends_in_nothing_but_never_in_a_wake() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin();
        let broken = world.write("broken", "#!/no/such/interpreter\n");
        fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
        let foreign = world.write("foreign", "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0\u{2}\0\u{77}\0");
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o755)).unwrap();
        for binary in [broken, foreign] {
            let variables: [(&str, &Path); 1] = [("AUTOFORK_BIN", &binary)];
            assert_unnoticed(&run(shell, &shim, &["user-prompt-submit"], &variables));
            // Here the shell's complaint cannot be told from a wake text, but the status can: 0, which the client drops.
            let output = run(shell, &shim, &["stop"], &variables);
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        }
    }
}

#[test]
fn nothing_in_the_project_folder_is_ever_run() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin();
        // The shim runs in its own folder here, so this stands where a hostile project's file would.
        world.binary("installed/plugin/hooks/autofork");
        world.binary("installed/plugin/hooks/bin/autofork");
        for path in ["", ":", ".", ".:bin", "bin", "/nowhere::/nowhere"] {
            let variables: [(&str, &Path); 2] = [("PATH", Path::new(path)), ("CLAUDE_PLUGIN_DATA", Path::new(""))];
            assert_unnoticed(&run(shell, &shim, &["stop"], &variables));
        }
    }
}

#[test]
fn a_neighbouring_target_folder_counts_only_in_our_own_checkout() {
    for shell in SHELLS {
        let world = World::new();
        for (root, neighbour) in [("vendored", Some("something-else")), ("bare", None)] {
            let shim = world.plugin_beside(root, neighbour);
            world.binary(&format!("{root}/target/release/autofork"));
            assert_unnoticed(&run(shell, &shim, &["stop"], &[]));
        }
    }
    let neighbour = fs::read_to_string(super::plugin().join("../lsp/Cargo.toml")).unwrap();
    assert!(
        neighbour.starts_with("[package]\nname = \"autofork-lsp\"\n"),
        "the shim knows our checkout by these lines"
    );
}

#[test]
fn status_and_output_are_the_binarys_own() {
    for shell in SHELLS {
        let world = World::new();
        let shim = world.plugin();
        let binary = world.script("af", "printf out; printf wake >&2; exit 2");
        let variables: [(&str, &Path); 1] = [("AUTOFORK_BIN", &binary)];
        let output = run(shell, &shim, &["stop"], &variables);
        assert_eq!(
            (output.status.code(), output.stdout.as_slice(), output.stderr.as_slice()),
            (Some(2), &b"out"[..], &b"wake"[..])
        );
        // A hook that must say nothing says nothing, whatever its binary does; its stdout is its answer.
        let output = run(shell, &shim, &["pre-tool-use"], &variables);
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out"[..], &b""[..]));
    }
}

#[test]
fn it_uses_builtins_only() {
    let text = fs::read_to_string(super::plugin().join("hooks/autofork-hook")).unwrap();
    assert!(text.is_ascii() && !text.contains('\r'));
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        // A pipe, a command substitution and a background job each cost a process; `||` and `2>&3` do not.
        let bare = line.replace("||", "").replace("&&", "");
        assert!(
            !bare.contains("$(") && !bare.contains('`') && !bare.contains(" | ") && !bare.contains(" & "),
            "{line}"
        );
    }
    for shell in SHELLS {
        // With no PATH at all, and no binary to find, a subprocess would be an error message.
        let world = World::new();
        assert_unnoticed(&run(shell, &world.plugin(), &["stop"], &[("PATH", Path::new("/nowhere"))]));
    }
}
