//! The bootstrap: which binary it brings, when it does not, and that nobody ever waits for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::release;

/// What happens soon happens within this, on a busy machine too.
const SOON: Duration = Duration::from_secs(20);

/// The shells it is tried with: those that stand behind `sh`. The last is used where it is installed.
const SHELLS: [&[&str]; 4] = [&["sh"], &["dash"], &["bash", "--posix"], &["busybox", "sh"]];

/// The version of this checkout, which is that of its plugin.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A user with the plugin, and nothing of the machine's own but its basic tools.
struct World {
    folder: tempfile::TempDir,
    shell: &'static [&'static str],
}

impl World {
    /// The plugin is part of a checkout, and nothing is published.
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("o'brien \"x\" $HOME ").tempdir().unwrap();
        let world = Self { folder, shell: SHELLS[0] };
        world.plugin_at("checkout/plugin");
        world.checkout_at("checkout", VERSION);
        fs::create_dir_all(world.path("data")).unwrap();
        fs::create_dir_all(world.path("project")).unwrap();
        world
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

    fn script(&self, path: &str, body: &str) -> PathBuf {
        let path = self.write(path, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A program that says it is autofork, or what else its file is called, of this version.
    fn program(&self, path: &str, version: &str) -> PathBuf {
        self.script(path, &format!("[ \"$1\" != --version ] || echo \"${{0##*/}} {version}\""))
    }

    fn plugin_at(&self, folder: &str) {
        for file in [".claude-plugin/plugin.json", "hooks/autofork-bootstrap", "hooks/autofork-hook", "releases"] {
            let text = fs::read_to_string(super::plugin().join(file)).unwrap();
            self.write(&format!("{folder}/{file}"), &text);
        }
        let nothing = "base https://releases.autofork.invalid\n";
        self.write(&format!("{folder}/releases"), nothing);
    }

    fn checkout_at(&self, folder: &str, version: &str) {
        self.write(&format!("{folder}/Cargo.lock"), "");
        self.write(&format!("{folder}/Cargo.toml"), &format!("[workspace.package]\nversion = \"{version}\"\n"));
        self.write(&format!("{folder}/lsp/Cargo.toml"), "[package]\nname = \"autofork-lsp\"\n");
    }

    /// A cargo that notes its calls, runs `first`, and then brings a program of this version.
    fn cargo(&self, first: &str, version: &str) {
        let calls = self.path("calls");
        let calls = calls.display().to_string().replace('\'', r"'\''");
        self.script(
            "tools/cargo",
            &format!(
                "echo \"$$ $*\" >> '{calls}'\n{first}\n\
                 while [ $# -gt 0 ]; do case $1 in --root) root=$2 ;; --bin) bin=$2 ;; esac; shift; done\n\
                 mkdir -p \"$root/bin\" \"$CARGO_TARGET_DIR\"\n\
                 printf \"#!/bin/sh\\necho $bin {version}\\n\" > \"$root/bin/$bin\"\n\
                 chmod 755 \"$root/bin/$bin\""
            ),
        );
    }

    fn cargo_calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// The archive of `binary` lies in the folder `published`, and the plugin vouches for it.
    fn publish(&self, binary: &Path) {
        let out = self.path(&format!("published/v{VERSION}"));
        let archive = release::package(binary.parent().unwrap(), &out);
        assert!(archive.starts_with(&out));
        let sums = release::vouch(&format!("file://{}", self.path("published").display()), &out);
        self.write("checkout/plugin/releases", &sums);
    }

    fn command(&self, plugin: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::shim::shell_path(self.shell[0]));
        let tools = std::env::join_paths([self.path("tools"), "/usr/bin".into(), "/bin".into()]).unwrap();
        command
            .args(&self.shell[1..])
            .arg(self.path(plugin).join("hooks/autofork-bootstrap"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", tools)
            .env("CLAUDE_PLUGIN_DATA", self.path("data"))
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .current_dir(self.path("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Does the work, and waits for its end.
    fn work(&self) -> Output {
        let output = self.command("checkout/plugin", &["work"]).output().unwrap();
        assert_silent(&output);
        output
    }

    fn work_behind(&self) -> Child {
        self.command("checkout/plugin", &["work"]).spawn().unwrap()
    }

    /// What the installed program says of itself.
    fn installed(&self) -> Option<String> {
        self.version_of("autofork")
    }

    /// What the installed language server says of itself.
    fn installed_server(&self) -> Option<String> {
        self.version_of("autofork-lsp")
    }

    fn version_of(&self, program: &str) -> Option<String> {
        let output = Command::new(self.path("data/bin").join(program)).arg("--version").output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
    }

    /// The line for `doctor`.
    fn state(&self) -> String {
        fs::read_to_string(self.path("data/bootstrap.state")).unwrap_or_default()
    }

    /// Checks that nothing is left but the program and the line about it.
    fn assert_tidy(&self) {
        let entries = fs::read_dir(self.path("data")).unwrap().flatten();
        let mut left: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        left.retain(|name| name != "bin" && name != "bootstrap.state");
        assert_eq!(left, [""; 0]);
    }

    /// Lets time pass for the file that a failure is noted in, or for a lock.
    fn age(&self, path: &str, minutes: u64) {
        let then = SystemTime::now() - Duration::from_secs(minutes * 60);
        fs::File::open(self.path(path)).unwrap().set_modified(then).unwrap();
    }
}

#[track_caller]
fn assert_silent(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
    assert_eq!(output.status.code(), Some(0));
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn shells() -> impl Iterator<Item = &'static [&'static str]> {
    SHELLS.into_iter().filter(|shell| Path::new("/bin").join(shell[0]).exists() || shell[0] != "busybox")
}

#[test]
fn the_archive_that_the_plugin_vouches_for_is_installed() {
    for shell in shells() {
        let world = World { shell, ..World::new() };
        world.program("built/autofork-lsp", VERSION);
        world.publish(&world.program("built/autofork", VERSION));
        world.cargo("", VERSION);
        world.work();
        assert_eq!(world.installed().unwrap(), format!("autofork {VERSION}"), "{shell:?}: {}", world.state());
        assert_eq!(world.installed_server().unwrap(), format!("autofork-lsp {VERSION}"), "{shell:?}");
        assert_eq!(world.state(), format!("{VERSION} ok from the release archive\n"));
        assert_eq!(world.cargo_calls(), [""; 0]);
        world.assert_tidy();
        let mode = fs::metadata(world.path("data/bin/autofork")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}

#[test]
fn an_archive_that_is_another_one_or_holds_another_program_is_refused() {
    let world = World::new();
    world.publish(&world.program("built/autofork", VERSION));
    let archives = fs::read_dir(world.path(&format!("published/v{VERSION}"))).unwrap();
    let archive = archives.flatten().next().unwrap().path();
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(0);
    fs::write(&archive, bytes).unwrap();
    world.cargo("echo 'error: no' >&2; exit 1", VERSION);
    world.work();
    assert_eq!(world.installed(), None);
    assert!(world.state().contains("is not the one this plugin vouches for, and cargo cannot build it: no\n"));

    let world = World::new();
    world.publish(&world.program("built/autofork", "0.0.1"));
    world.cargo("exit 1", VERSION);
    world.work();
    assert_eq!(world.installed(), None);
    assert!(world.state().contains("the archive's program does not run here"), "{}", world.state());
    world.assert_tidy();
}

#[test]
fn an_archive_nobody_vouches_for_is_not_even_fetched() {
    let world = World::new();
    world.publish(&world.program("built/autofork", VERSION));
    world.write("checkout/plugin/releases", &format!("base file://{}\n", world.path("published").display()));
    world.script("tools/cp", "touch fetched");
    world.cargo("", VERSION);
    world.work();
    assert!(!world.path("data/fetched").exists());
    assert_eq!(world.state(), format!("{VERSION} ok built by cargo\n"));
}

#[test]
fn without_an_archive_cargo_builds_it_from_the_checkout_the_plugin_is_part_of() {
    for shell in shells() {
        let world = World { shell, ..World::new() };
        world.cargo("", VERSION);
        world.work();
        assert_eq!(world.installed().unwrap(), format!("autofork {VERSION}"), "{shell:?}: {}", world.state());
        assert_eq!(world.installed_server().unwrap(), format!("autofork-lsp {VERSION}"), "{shell:?}");
        let calls = world.cargo_calls();
        assert_eq!(calls.len(), 2);
        for (call, binary) in calls.iter().zip(["autofork", "autofork-lsp"]) {
            assert!(call.contains("install --quiet --locked --path"), "{calls:?}");
            assert!(call.contains(&format!(" --bin {binary} ")), "{calls:?}");
        }
        assert!(!world.path("checkout/target").exists(), "the checkout is its owner's");
        world.assert_tidy();
        world.work();
        assert_eq!(world.cargo_calls().len(), 2, "it is there");
    }
}

#[test]
fn an_installed_plugin_is_built_from_the_checkout_of_its_marketplace() {
    let world = World::new();
    let plugin = format!("plugins/cache/autofork/autofork/{VERSION}");
    world.plugin_at(&plugin);
    let (ours, other) = (world.path("ours"), world.path("other"));
    world.checkout_at("other", VERSION);
    // A path that JSON must escape is not read: the world's own has quotes. So the checkout is reached by another name.
    let link = tempfile::tempdir().unwrap();
    let reached = link.path().join("checkout");
    std::os::unix::fs::symlink(&ours, &reached).unwrap();
    let known = serde_json::json!({
        "autofork": {"source": {"source": "github"}, "installLocation": reached},
        "someone": {"source": {"source": "directory", "path": other}, "installLocation": other},
    });
    world.write("plugins/known_marketplaces.json", &serde_json::to_string_pretty(&known).unwrap());
    world.cargo("", VERSION);
    let work = || assert_silent(&world.command(&plugin, &["work"]).output().unwrap());

    work();
    assert!(world.state().contains("the plugin's source is not to be found"), "{}", world.state());
    fs::remove_file(world.path("data/bootstrap.state")).unwrap();
    world.checkout_at("ours", "0.0.1");
    work();
    assert!(world.state().contains("is of another version"), "{}", world.state());
    fs::remove_file(world.path("data/bootstrap.state")).unwrap();
    world.checkout_at("ours", VERSION);
    work();
    assert_eq!(world.state(), format!("{VERSION} ok built by cargo\n"));
    assert!(world.cargo_calls()[0].contains(&*reached.to_string_lossy()));
}

#[test]
fn after_a_failure_nothing_is_tried_for_an_hour() {
    let world = World::new();
    world.cargo("printf 'error[E1]: the \\033[31mtool\\007 is too old\\nmore\\n' >&2; exit 101", VERSION);
    world.work();
    let state = world.state();
    assert!(state.starts_with(&format!("{VERSION} failed no archive of version {VERSION} is published")), "{state}");
    assert!(state.contains("cargo cannot build it: the [31mtool is too old\n"), "{state:?}");
    assert_eq!(state.lines().count(), 1);
    world.assert_tidy();

    world.work();
    world.age("data/bootstrap.state", 55);
    world.work();
    assert_eq!(world.cargo_calls().len(), 1);
    world.age("data/bootstrap.state", 62);
    world.work();
    assert_eq!(world.cargo_calls().len(), 2);

    // A new version is another matter.
    let manifest = fs::read_to_string(world.path("checkout/plugin/.claude-plugin/plugin.json")).unwrap();
    world.write("checkout/plugin/.claude-plugin/plugin.json", &manifest.replace(VERSION, "99.0.0"));
    world.checkout_at("checkout", "99.0.0");
    world.cargo("", "99.0.0");
    world.work();
    assert_eq!(world.installed().unwrap(), "autofork 99.0.0");
}

#[test]
fn without_any_means_one_line_says_why() {
    let world = World::new();
    fs::remove_file(world.path("checkout/Cargo.lock")).unwrap();
    world.work();
    let state = world.state();
    assert!(state.contains("there is no cargo") || state.contains("source is not to be found"), "{state}");
    assert_eq!(state.lines().count(), 1, "{state}");
}

#[test]
fn an_older_binary_is_replaced_and_a_current_one_is_left_alone() {
    let world = World::new();
    world.program("data/bin/autofork", "0.0.1");
    world.cargo("", VERSION);
    world.work();
    assert_eq!(world.installed().unwrap(), format!("autofork {VERSION}"));
    world.work();
    assert_eq!(world.cargo_calls().len(), 2, "once each");
}

#[test]
fn a_language_server_that_cannot_be_had_is_no_failure() {
    let world = World::new();
    world.program("data/bin/autofork", "0.0.1");
    world.program("data/bin/autofork-lsp", "0.0.1");
    world.cargo("case \"$*\" in *autofork-lsp*) exit 101 ;; esac", VERSION);
    world.work();
    assert_eq!(world.installed().unwrap(), format!("autofork {VERSION}"));
    assert_eq!(world.state(), format!("{VERSION} ok built by cargo\n"));
    assert_eq!(world.installed_server(), None, "one of another version may know another language");
    world.assert_tidy();
}

#[test]
fn where_a_binary_is_found_already_nothing_is_brought() {
    let nothing = |world: &World, command: &mut Command| {
        world.cargo("", VERSION);
        assert_silent(&command.output().unwrap());
        assert_eq!((world.installed(), world.state()), (None, String::new()));
        world.assert_tidy();
    };
    let world = World::new();
    nothing(&world, world.command("checkout/plugin", &["work"]).env("AUTOFORK_BIN", "/opt/autofork"));
    let world = World::new();
    world.program("checkout/target/debug/autofork", "0.0.1");
    nothing(&world, &mut world.command("checkout/plugin", &["work"]));
    let world = World::new();
    world.program("tools/autofork", VERSION);
    nothing(&world, &mut world.command("checkout/plugin", &["work"]));
    // Nor where nobody would use it, or there is no folder for it.
    let world = World::new();
    nothing(&world, world.command("checkout/plugin", &["work"]).env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"));
    let world = World::new();
    nothing(&world, world.command("checkout/plugin", &["work"]).env_remove("CLAUDE_PLUGIN_DATA"));
    nothing(&world, world.command("checkout/plugin", &["work"]).env("CLAUDE_PLUGIN_DATA", "data"));

    // One of another version in PATH is no reason to do without.
    let world = World::new();
    world.program("tools/autofork", "0.0.1");
    world.cargo("", VERSION);
    world.work();
    assert_eq!(world.installed().unwrap(), format!("autofork {VERSION}"));
}

#[test]
fn the_hook_returns_at_once_and_the_work_goes_on_behind_it() {
    for shell in shells() {
        let world = World { shell, ..World::new() };
        world.cargo("sleep 3", VERSION);
        let began = Instant::now();
        // `output` reads until nobody holds the pipes open any more, as the client does.
        assert_silent(&world.command("checkout/plugin", &[]).output().unwrap());
        assert!(began.elapsed() < Duration::from_secs(3), "{shell:?}: the hook waited for the work");
        assert_eq!(world.installed(), None);
        wait_for("the program", || world.installed().is_some());
        wait_for("the end of the work", || !world.path("data/bootstrap.lock").exists());
        world.assert_tidy();
    }
}

#[test]
fn sessions_that_start_together_bring_it_once() {
    let world = World::new();
    world.cargo("sleep 1", VERSION);
    let workers: Vec<Child> = (0..8).map(|_| world.work_behind()).collect();
    for worker in workers {
        assert_silent(&worker.wait_with_output().unwrap());
    }
    assert_eq!(world.cargo_calls().len(), 2, "once each");
    assert_eq!(world.state(), format!("{VERSION} ok built by cargo\n"));
    world.assert_tidy();
}

#[test]
fn a_lock_that_nobody_holds_any_more_is_taken_over() {
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = gone.id();
    gone.wait().unwrap();
    let own = std::process::id();
    // Who holds it, how old it is in minutes, and whether it is taken over.
    let cases = [
        (Some(pid), 0, true),
        (Some(own), 0, false),
        (Some(own), 60, false),
        // Two builds may take so long.
        (Some(own), 125, false),
        (Some(own), 155, true),
        (None, 0, false),
        (None, 3, true),
    ];
    for (holder, minutes, taken) in cases {
        let world = World::new();
        world.cargo("", VERSION);
        fs::create_dir(world.path("data/bootstrap.lock")).unwrap();
        if let Some(holder) = holder {
            world.write("data/bootstrap.lock/pid", &holder.to_string());
        }
        world.age("data/bootstrap.lock", minutes);
        world.work();
        assert_eq!(world.installed().is_some(), taken, "{holder:?} for {minutes} minutes");
        assert_eq!(world.path("data/bootstrap.lock").exists(), !taken);
    }
}

#[test]
fn a_plugin_that_is_removed_meanwhile_leaves_nothing_running() {
    for remove in ["checkout/plugin/hooks/autofork-bootstrap", "mark"] {
        let world = World::new();
        world.cargo("exec sleep 60", VERSION);
        let worker = world.work_behind();
        wait_for("cargo", || !world.cargo_calls().is_empty());
        if remove == "mark" {
            world.write("checkout/plugin/.orphaned_at", "");
        } else {
            fs::remove_file(world.path(remove)).unwrap();
        }
        let began = Instant::now();
        assert_silent(&worker.wait_with_output().unwrap());
        assert!(began.elapsed() < SOON);
        let cargo = world.cargo_calls()[0].split_once(' ').unwrap().0.to_owned();
        wait_for("the end of cargo", || !Path::new("/proc").join(&cargo).exists() || !cfg!(target_os = "linux"));
        assert_eq!(world.installed(), None);
        assert!(!world.path("data/bootstrap.lock").exists());
    }
}

#[test]
fn nothing_in_the_project_is_ever_run() {
    let world = World::new();
    for tool in ["cargo", "uname", "sed", "mkdir", "find", "autofork"] {
        world.script(&format!("project/{tool}"), "touch ran");
    }
    for path in ["", ".", ":.", "project"] {
        assert_silent(&world.command("checkout/plugin", &["work"]).env("PATH", path).output().unwrap());
    }
    assert!(!world.path("project/ran").exists() && !world.path("data/ran").exists());
}
