//! Which processes belong to a sandbox. Linux only, like the client's tests: it reads `/proc`.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A process of a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: Pid,
    /// Its arguments, the program first.
    pub(crate) arguments: Vec<String>,
}

impl Process {
    /// Whether it is an autofork daemon. A binary under test may be a script, so the command's place is not fixed.
    pub(crate) fn is_daemon(&self) -> bool {
        self.arguments.iter().skip(1).any(|argument| argument == "daemon")
    }

    /// Whether it is a Stop hook, parked or on its way.
    pub(crate) fn is_stop_hook(&self) -> bool {
        self.arguments.windows(2).any(|pair| pair == ["hook", "stop"])
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&self) {
        let _ = kill_process(self.pid, Signal::KILL);
    }

    /// Waits until it is gone, or only a zombie is left of it.
    pub(crate) fn wait_until_gone(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while test_kill_process(self.pid).is_ok() && !is_zombie(self.pid) {
            if Instant::now() > end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

/// The live processes whose `HOME` or `AUTOFORK_HOME` is in the sandbox at `root`: what its client and its commands
/// started, and nothing that a person started to look at it.
pub(crate) fn of_sandbox(root: &Path) -> Vec<Process> {
    let marks = ["HOME", "AUTOFORK_HOME"].map(|name| format!("{name}={}/", root.display()));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = read(&entry.path().join("environ"));
            let mut variables = environment.split('\0');
            let ours = variables.any(|variable| marks.iter().any(|mark| variable.starts_with(mark)));
            let command = read(&entry.path().join("cmdline"));
            let arguments = command.split_terminator('\0').map(str::to_owned).collect();
            (ours && !is_zombie(pid)).then_some(Process { pid, arguments })
        })
        .collect()
}

/// A process may end, or be somebody else's, at any time: then it has no text.
fn read(path: &Path) -> String {
    std::fs::read(path).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn is_zombie(pid: Pid) -> bool {
    let stat = read(Path::new(&format!("/proc/{}/stat", pid.as_raw_nonzero())));
    // The state follows the command name, which may itself hold blanks and brackets.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}
