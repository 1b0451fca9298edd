//! The client: which version would be started here, and what it knows of forks.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::finding::{Check, Finding};
use crate::cli::sessions::words;

/// How long a program may take to say which version it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much it may say.
const LONGEST_ANSWER: u64 = 4096;

const CLIENT: Check = Check {
    name: "client",
    why: "forks are a kind of subagent, which older clients know by another name or not at all",
};

/// A client's version. Anything behind its three numbers does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version([u64; 3]);

impl Version {
    /// The first word of a text that is a version.
    pub(super) fn find_in(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let core = word.trim_start_matches('v').split(['-', '+']).next()?;
            let mut numbers = core.split('.').map(|number| number.parse().ok());
            let version = [numbers.next()??, numbers.next()??, numbers.next()??];
            numbers.next().is_none().then_some(Self(version))
        })
    }

    /// What a client of this version knows of forks. The boundaries were measured with the real client.
    pub(super) fn support(self) -> Support {
        match self.0 {
            version if version >= [2, 1, 232] => Support::BuiltIn,
            version if version >= [2, 1, 190] => Support::Pinned,
            version if version >= [2, 1, 117] => Support::Untyped,
            _ => Support::None,
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// What a client knows of forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    /// Nothing that works.
    None,
    /// With the pin, a spawn without a type is a fork.
    Untyped,
    /// With the pin, there is the type `fork`.
    Pinned,
    /// There is the type `fork`.
    BuiltIn,
}

/// What is known of the client that this shell would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Client {
    /// It is of this version.
    Found(PathBuf, Version),
    /// It does not say its version.
    Mute(PathBuf),
    /// It lies in the project's folder, so it is not run.
    InProject(PathBuf),
    /// There is none.
    Absent,
}

impl Client {
    /// Looks for it in `path`, and asks it for its version unless it lies below one of the `untrusted` folders.
    pub(super) fn find(path: Option<&OsStr>, untrusted: &[PathBuf]) -> Self {
        let Some(program) = search("claude", path) else { return Self::Absent };
        if lies_below(&program, untrusted) {
            return Self::InProject(program);
        }
        match ask_version(&program, path).as_deref().and_then(Version::find_in) {
            Some(version) => Self::Found(program, version),
            None => Self::Mute(program),
        }
    }

    pub(super) fn support(&self) -> Option<Support> {
        match self {
            Self::Found(_, version) => Some(version.support()),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Finding {
        match self {
            Self::Found(path, version) => {
                let found = format!("Claude Code {version}, {}", words::path(path));
                match version.support() {
                    Support::BuiltIn => CLIENT.ok(format!("{found}: it has forks")),
                    Support::Pinned => CLIENT.ok(format!("{found}: it has forks when they are switched on")),
                    Support::Untyped => CLIENT
                        .ok(format!("{found}: when they are switched on, it has forks as subagents without a type")),
                    Support::None => CLIENT.problem(
                        format!("{found}: it is older than any Claude Code that is known to have forks"),
                        "update it: `claude update` (2.1.232 or newer has forks without further ado)",
                    ),
                }
                .at(path)
            }
            Self::Mute(path) => CLIENT
                .warn(
                    format!("{} does not say which version it is", words::path(path)),
                    "see what `claude --version` says in a terminal, and install it anew if it says nothing",
                )
                .at(path),
            Self::InProject(path) => CLIENT
                .warn(
                    format!("the `claude` found first lies in the project and was not run: {}", words::path(path)),
                    "take folders of the project, and relative ones, out of PATH",
                )
                .at(path),
            Self::Absent => CLIENT.note("no `claude` on this PATH, so its version is not known"),
        }
    }
}

/// The first executable file of that name. Relative entries are skipped: they depend on the folder one stands in.
pub(super) fn search(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    absolute_entries(path?).map(|folder| folder.join(name)).find(|program| is_executable(program))
}

/// Whether the file, or what it is a link to, is in one of these folders.
pub(super) fn lies_below(program: &Path, folders: &[PathBuf]) -> bool {
    let real = program.canonicalize().ok();
    folders.iter().any(|folder| {
        let real_folder = folder.canonicalize().ok();
        program.starts_with(folder)
            || real.as_ref().zip(real_folder.as_ref()).is_some_and(|(program, folder)| program.starts_with(folder))
    })
}

fn absolute_entries(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute())
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What a program answers to `--version`. It is run from the root folder, so that nothing of a project is near it, it
/// is not waited for long, and nothing that it started is left.
pub(super) fn ask_version(program: &Path, path: Option<&OsStr>) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let entries: Vec<PathBuf> = path.map(|path| absolute_entries(path).collect()).unwrap_or_default();
    command.env("PATH", std::env::join_paths(entries).unwrap_or_else(|_| OsString::new()));
    // It is asked for its version and nothing else.
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    command.env_remove("PWD").env_remove("OLDPWD");
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (answer, answered) = mpsc::channel();
    // Whoever holds the pipe open could make a reader wait for ever, so that is done beside.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(LONGEST_ANSWER).read_to_string(&mut text);
        let _ = answer.send(read.ok().map(|_| text));
    });
    let text = answered.recv_timeout(PATIENCE).ok().flatten();
    // Its number is still taken, since it was not collected yet.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_clients_print() {
        let version = |text: &str| Version::find_in(text).map(|version| version.to_string());
        assert_eq!(version("2.1.332 (Claude Code)\n").as_deref(), Some("2.1.332"));
        assert_eq!(version("claude v2.1.190-beta.1").as_deref(), Some("2.1.190"));
        assert_eq!(version("command not found"), None);
        assert_eq!(version("1.2"), None);
    }

    #[test]
    fn what_a_client_knows_of_forks_goes_by_its_version() {
        for (version, support) in [
            ("2.0.99", Support::None),
            ("2.1.116", Support::None),
            ("2.1.117", Support::Untyped),
            ("2.1.172", Support::Untyped),
            ("2.1.190", Support::Pinned),
            ("2.1.231", Support::Pinned),
            ("2.1.232", Support::BuiltIn),
            ("2.1.332", Support::BuiltIn),
            ("3.0.0", Support::BuiltIn),
        ] {
            assert_eq!(Version::find_in(version).unwrap().support(), support, "{version}");
        }
    }

    #[test]
    fn relative_entries_of_the_path_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        std::fs::write(&program, "#!/bin/sh\necho 2.1.332\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(search("claude", Some(OsStr::new(":.:bin"))), None);
        let path = OsString::from(folder.path());
        assert_eq!(search("claude", Some(&path)), Some(program.clone()));
        assert_eq!(Client::find(Some(&path), &[folder.path().to_owned()]), Client::InProject(program));
    }
}
