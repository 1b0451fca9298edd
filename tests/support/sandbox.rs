//! One test's own world on disk: a home, a project with forks, a plugin folder, and the binary under test.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::processes::{self, Process};

/// What a client is told by its command line and environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Where the plugin is, and where the binary.
    Both,
    /// Neither: it finds what was installed.
    Nothing,
}

/// The folder tree of a test. Dropping it ends every process that still belongs to it, and removes it.
pub(crate) struct Sandbox {
    root: tempfile::TempDir,
    /// The value of `AUTOFORK_HOME`.
    autofork_home: PathBuf,
    /// The plugin folder the client loads.
    plugin: PathBuf,
    /// What `AUTOFORK_BIN` names.
    binary: PathBuf,
    /// Whether the client is told where plugin and binary are.
    told: Told,
    /// What else is in the client's environment.
    variables: Vec<(String, String)>,
}

impl Sandbox {
    /// An empty home and project, this checkout's plugin, and the binary cargo built for the tests.
    ///
    /// Two variables are for people: `AUTOFORK_TEST_BIN` tests another binary, and `AUTOFORK_TEST_RECORD=1` records
    /// every hook's payload for the report of a failed test.
    pub(crate) fn new() -> Self {
        // Short, since the daemon's socket path has a limit, and canonical, since the client reports real paths.
        let temporary = fs::canonicalize(std::env::temp_dir()).expect("there is a temporary folder");
        let root = tempfile::Builder::new().prefix("af-").tempdir_in(temporary).expect("a folder");
        for folder in ["home", "tmp", "project/.autofork/forks"] {
            fs::create_dir_all(root.path().join(folder)).expect("a new folder");
        }
        let binary =
            std::env::var_os("AUTOFORK_TEST_BIN").unwrap_or_else(|| OsString::from(env!("CARGO_BIN_EXE_autofork")));
        let mut sandbox = Self {
            autofork_home: root.path().join("home/.autofork"),
            plugin: Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin"),
            binary: PathBuf::from(binary),
            told: Told::Both,
            variables: Vec::new(),
            root,
        };
        if std::env::var_os("AUTOFORK_TEST_RECORD").is_some_and(|value| value == "1") {
            sandbox.record_hooks();
        }
        sandbox
    }

    /// The folder all others are in.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The user's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The project the session runs in.
    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// The plugin folder the client loads.
    pub(crate) fn plugin(&self) -> &Path {
        &self.plugin
    }

    /// The value of `AUTOFORK_HOME`.
    pub(crate) fn autofork_home(&self) -> &Path {
        &self.autofork_home
    }

    /// The value of `AUTOFORK_BIN`.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// What the scenario put into the client's environment.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Puts a variable into the client's environment.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Leaves it to the client to find plugin and binary.
    pub(crate) fn tell_nothing(&mut self) {
        self.told = Told::Nothing;
    }

    /// What the client is told.
    pub(crate) fn told(&self) -> Told {
        self.told
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("it is below the project")).expect("a folder");
        fs::write(path, text).expect("a new file");
    }

    /// Puts `AUTOFORK_HOME` where no folder can be, whoever the user is: below a regular file.
    pub(crate) fn make_home_unusable(&mut self) {
        let file = self.root().join("not-a-folder");
        fs::write(&file, "").expect("a new file");
        self.autofork_home = file.join("autofork");
    }

    /// Puts a file in the binary's place that is executable and cannot be executed.
    pub(crate) fn break_binary(&mut self) {
        self.binary = self.root().join("broken");
        fs::write(&self.binary, "#!/no/such/interpreter\n").expect("a new file");
        fs::set_permissions(&self.binary, fs::Permissions::from_mode(0o755)).expect("our own file");
    }

    /// Lets the client load a copy of the plugin that lacks one hook.
    pub(crate) fn remove_hook(&mut self, event: &str) {
        let copy = self.root().join("plugin");
        for path in
            [".claude-plugin/plugin.json", "hooks/hooks.json", "hooks/autofork-hook", "hooks/autofork-bootstrap"]
        {
            let target = copy.join(path);
            fs::create_dir_all(target.parent().expect("it is below the plugin")).expect("a folder");
            fs::copy(self.plugin.join(path), target).expect("the plugin has this file");
        }
        let manifest = copy.join("hooks/hooks.json");
        let text = fs::read_to_string(&manifest).expect("it was just copied");
        let mut hooks: Value = serde_json::from_str(&text).expect("the manifest is JSON");
        let removed = hooks["hooks"].as_object_mut().and_then(|events| events.remove(event));
        assert!(removed.is_some(), "the plugin has no {event} hook");
        fs::write(manifest, hooks.to_string()).expect("it was just copied");
        self.plugin = copy;
    }

    /// Records each hook's payload, then hands it on to the real binary, so that timing and status stay its own.
    pub(crate) fn record_hooks(&mut self) {
        let (log, recorder) = (self.root().join("hooks"), self.root().join("recorder"));
        fs::create_dir(&log).expect("a new folder");
        let (log, binary) = (log.display(), self.binary.display());
        // The process id follows the time, as two hooks can start within one nanosecond's rounding.
        let script = format!(
            "#!/bin/sh\nfile='{log}'/$(date +%s.%N)-$$-$2\ncat > \"$file\"\nexec '{binary}' \"$@\" < \"$file\"\n"
        );
        fs::write(&recorder, script).expect("a new file");
        fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).expect("our own file");
        self.binary = recorder;
    }

    /// The recorded payloads in the order of their starts: event, payload.
    pub(crate) fn recorded_hooks(&self) -> Vec<(String, Value)> {
        let entries = fs::read_dir(self.root().join("hooks")).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let read = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?;
            let event = name.splitn(3, '-').nth(2)?.to_owned();
            let payload = serde_json::from_slice(&fs::read(path).ok()?).unwrap_or(Value::Null);
            Some((event, payload))
        };
        paths.iter().filter_map(read).collect()
    }

    /// Runs the binary under test in this sandbox.
    pub(crate) fn autofork(&self, arguments: &[&str]) -> Output {
        Command::new(&self.binary)
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("AUTOFORK_HOME", &self.autofork_home)
            .current_dir(self.project())
            .output()
            .expect("the binary runs")
    }

    /// The live processes of this sandbox.
    pub(crate) fn processes(&self) -> Vec<Process> {
        processes::of_sandbox(self.root())
    }

    /// The sandbox's daemon, if one lives.
    pub(crate) fn daemon(&self) -> Option<Process> {
        self.processes().into_iter().find(Process::is_daemon)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.daemon().is_some() {
            self.autofork(&["stop-daemon"]);
        }
        for process in self.processes() {
            process.kill();
        }
    }
}
