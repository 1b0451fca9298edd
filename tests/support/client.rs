//! The real client in a pseudo-terminal: typed into like a person would, read like a person would.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::json;

use super::mock_api::MockApi;
use super::sandbox::{Sandbox, Told};

/// How long anything may take that should happen soon. Generous: the machine may be busy with a build.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// How long the client takes, at most, to take in typed text before it can be sent.
const TYPING: Duration = Duration::from_secs(1);

/// How many clients run at a time, over all test processes: each takes a good part of a core while it starts.
const CLIENTS_AT_ONCE: usize = 3;

/// A key in the form of a real one, of which the client asks to know the last twenty characters.
const KEY: &str = "sk-ant-api03-made-up-for-a-test-0000000000000000000000000000";

/// The terminal's size: wide enough that a line of the client's is a line of the screen.
const ROWS: NonZeroU16 = NonZeroU16::new(50).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(150).unwrap();

/// What the client may do without asking.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Permissions {
    /// The mode a new user is in, `auto`. A server of the client's maker judges each call there, so that here every
    /// call that no hook approved is asked about.
    OfNewUser,
    /// The mode `default`, which an older client's new user is in.
    OfNewUserThen,
    /// The mode `default`, with agents and reading allowed in general.
    AgentsAndReading,
    /// The mode `default`, with all allowed that a scenario directs: commands and stopping what was started, too.
    AllThatIsDirected,
    /// The mode `plan`.
    Plan,
}

/// A running client. Dropping it ends it.
pub(crate) struct Client {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Held as long as the client runs.
    slot: Option<File>,
}

impl Client {
    /// Starts an interactive session in the sandbox's project and waits until it takes input.
    #[track_caller]
    pub(crate) fn start(
        program: &Path,
        sandbox: &Sandbox,
        api: &MockApi,
        permissions: Permissions,
        further_arguments: &[&str],
    ) -> Self {
        let (arguments, mark): (&[&str], _) = match permissions {
            Permissions::OfNewUser => (&[], "auto mode on"),
            Permissions::OfNewUserThen => (&["--permission-mode", "default"], "? for shortcuts"),
            Permissions::AgentsAndReading => {
                (&["--permission-mode", "default", "--allowedTools", "Agent Read"], "? for shortcuts")
            }
            Permissions::AllThatIsDirected => {
                (&["--permission-mode", "default", "--allowedTools", "Agent Read Bash TaskStop"], "? for shortcuts")
            }
            Permissions::Plan => (&["--permission-mode", "plan"], "plan mode on"),
        };
        let client = Self::spawn(program, sandbox, api, &[arguments, further_arguments].concat());
        client.wait_for_screen(mark);
        client
    }

    /// Starts the client with these arguments, and does not wait.
    pub(crate) fn spawn(program: &Path, sandbox: &Sandbox, api: &MockApi, arguments: &[&str]) -> Self {
        let slot = wait_for_slot();
        write_settings(sandbox);
        let size = PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let child = pty.slave.spawn_command(command(program, sandbox, api, arguments)).expect("the client starts");
        let keyboard = pty.master.take_writer().expect("it was not taken before");
        let mut output = pty.master.try_clone_reader().expect("another handle");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 500)));
        let shown = Arc::clone(&screen);
        // Ends by itself: reading fails once the client and with it the other side of the terminal is gone.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                shown.lock().unwrap_or_else(PoisonError::into_inner).process(&buffer[..count]);
            }
        });
        Self { child, master: pty.master, keyboard, screen, slot: Some(slot) }
    }

    /// What a person sees now.
    pub(crate) fn screen(&self) -> String {
        let contents = self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents();
        let lines = contents.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Waits until the screen contains `text`.
    ///
    /// # Panics
    /// If it does not within [`SOON`].
    #[track_caller]
    pub(crate) fn wait_for_screen(&self, text: &str) {
        let end = Instant::now() + SOON;
        while !self.screen().contains(text) {
            assert!(Instant::now() < end, "the screen never showed {text:?}:\n{}", self.screen());
            sleep(Duration::from_millis(100));
        }
    }

    /// Types a prompt and sends it.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.press(text);
        sleep(TYPING);
        self.press("\r");
    }

    /// Sends keys as they are.
    pub(crate) fn press(&mut self, keys: &str) {
        // A client that is gone is found by what the test waits for next, with a better message.
        let _ = self.keyboard.write_all(keys.as_bytes()).and_then(|()| self.keyboard.flush());
    }

    /// Leaves as a person does, and says whether the client went by itself.
    pub(crate) fn quit(&mut self) -> bool {
        self.prompt("/exit");
        self.wait_for_end(Duration::from_secs(20))
    }

    /// Whether the client ended within `limit`.
    pub(crate) fn wait_for_end(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                self.slot = None;
                return true;
            }
            sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // Hangs up; the rest of what it started is ended by the sandbox.
        let _ = self.child.kill();
        if !self.wait_for_end(Duration::from_secs(5))
            && let Some(pid) = self.child.process_id().and_then(|id| i32::try_from(id).ok())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Waits for one of the slots, which are locked files, so that they also count between test processes.
fn wait_for_slot() -> File {
    loop {
        for slot in 0..CLIENTS_AT_ONCE {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("client-slot-{slot}"));
            let file = File::create(path).expect("cargo made the folder");
            if file.try_lock().is_ok() {
                return file;
            }
        }
        sleep(Duration::from_millis(200));
    }
}

/// Answers, before they are asked, the questions the client asks a new user.
fn write_settings(sandbox: &Sandbox) {
    let approved = &KEY[KEY.len() - 20..];
    let project = sandbox.project().to_string_lossy().into_owned();
    let settings = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "numStartups": 50,
        "customApiKeyResponses": {"approved": [approved], "rejected": []},
        "projects": {project: {
            "hasTrustDialogAccepted": true,
            "hasCompletedProjectOnboarding": true,
            "allowedTools": [],
        }},
    });
    let path = sandbox.home().join(".claude.json");
    if !path.exists() {
        std::fs::write(path, settings.to_string()).expect("the home is ours");
    }
}

/// The client with an empty environment but for what a session needs and what keeps it on this machine.
fn command(program: &Path, sandbox: &Sandbox, api: &MockApi, arguments: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.env_clear();
    command.cwd(sandbox.project());
    if sandbox.told() == Told::Both {
        command.arg("--plugin-dir");
        command.arg(sandbox.plugin());
        command.env("AUTOFORK_BIN", sandbox.binary());
    }
    command.args(arguments);
    let url = api.url();
    for (name, value) in [
        ("PATH", "/usr/bin:/bin"),
        ("SHELL", "/bin/sh"),
        ("TERM", "xterm-256color"),
        ("LANG", "C.UTF-8"),
        ("ANTHROPIC_BASE_URL", &url),
        ("ANTHROPIC_API_KEY", KEY),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ] {
        command.env(name, value);
    }
    command.env("HOME", sandbox.home());
    // Where the client keeps the outputs of background tasks.
    command.env("TMPDIR", sandbox.temporary());
    command.env("AUTOFORK_HOME", sandbox.autofork_home());
    for (name, value) in sandbox.variables() {
        command.env(name, value);
    }
    command
}
