//! What the language server costs, with a thousand forks: from start to the first diagnostics, from a keystroke to the
//! word on it, and how much memory it takes. Drives the real binary and prints numbers; holds nothing against them. Beside
//! the time that passed stands the time that the server's threads ran, which another load on the machine does not lengthen.
//!
//! `cargo bench -p autofork-lsp`; with `AUTOFORK_LSP` naming another binary, that one is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use autofork_lsp::uri;
use serde_json::{Value, json};

const FORKS: usize = 1_000;
const KEYSTROKES: usize = 400;

/// Lines of the texts below, from 0: the description, and the first line of the instructions.
const FRONTMATTER: u32 = 2;
const BODY: u32 = 7;

fn main() {
    let home = tempfile::tempdir().expect("a folder");
    let project = home.path().join("project");
    let forks = write_forks(&project);

    let start = Instant::now();
    let mut server = Server::start(home.path());
    server.initialize(&project, &json!({}));
    server.wait_for(&forks[7]);
    println!("start to first diagnostics, {FORKS} forks on disk    {:>8.1} ms", ms(start.elapsed()));

    let start = Instant::now();
    for (number, path) in forks.iter().enumerate() {
        server.open(path, &text(number));
    }
    server.settle();
    println!("opening all {FORKS}                                  {:>8.1} ms", ms(start.elapsed()));

    report("keystroke in a body to diagnostics", &server.type_at(&forks[7], BODY));
    report("keystroke in a body, after one in a frontmatter", &server.type_here_and_there(&forks[7], &forks[17]));
    report("keystroke in a frontmatter to diagnostics", &server.type_at(&forks[7], FRONTMATTER));
    println!("resident memory                                     {:>8.1} MB", server.memory());
    server.stop();

    let mut server = Server::start(home.path());
    server.initialize(&project, &json!({ "textDocument": { "diagnostic": {} } }));
    for (number, path) in forks.iter().enumerate() {
        server.open(path, &text(number));
    }
    server.settle();
    let asked = |server: &mut Server, line: u32| -> Vec<Keystroke> {
        (0..KEYSTROKES).map(|_| server.keystroke(&forks[7], line, Server::ask)).collect()
    };
    report("keystroke in a body to diagnostics, asked for", &asked(&mut server, BODY));
    report("keystroke in a frontmatter, asked for", &asked(&mut server, FRONTMATTER));
    server.stop();
}

/// Forks as people write them: they name files, some wait for others, a few have something wrong with them.
fn text(number: usize) -> String {
    let wrong = if number % 10 == 7 { "owner: me\n" } else { "tags: [notes]\n" };
    let after = if number % 5 == 3 { format!("after: [fork-{}]\n", number - 1) } else { "throttle: 2h\n".to_owned() };
    format!(
        "---\nfork: true\ndescription: Keep list {number} in step\nrun_on: [idle: {}m]\n{after}{wrong}---\n\
         Read GUIDE.md and [the list](../../lists.md) first. Compare this session with the list, and tick in \
         list-{number}.md what was finished.\n\n{}",
        15 + number % 30,
        "Say why, not only what. Leave earlier entries as they are.\n".repeat(12)
    )
}

fn write_forks(project: &Path) -> Vec<PathBuf> {
    let folder = project.join(".autofork/forks");
    std::fs::create_dir_all(&folder).expect("a folder");
    for companion in ["GUIDE.md", "lists.md"] {
        std::fs::write(project.join(companion), "").expect("a file");
    }
    (0..FORKS)
        .map(|number| {
            let path = folder.join(format!("fork-{number}.md"));
            std::fs::write(&path, text(number)).expect("a file");
            path
        })
        .collect()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What one keystroke took.
struct Keystroke {
    passed: Duration,
    ran: Duration,
}

fn report(what: &str, keystrokes: &[Keystroke]) {
    let line = |name: &str, of: fn(&Keystroke) -> Duration| {
        let mut sorted: Vec<Duration> = keystrokes.iter().map(of).collect();
        sorted.sort();
        let at = |percent: usize| ms(sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]);
        println!("{name:<52}p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms", at(50), at(99), at(100));
    };
    line(what, |keystroke| keystroke.passed);
    line("  of that, on a processor", |keystroke| keystroke.ran);
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
    version: i64,
}

impl Server {
    fn start(home: &Path) -> Self {
        let other = std::env::var_os("AUTOFORK_LSP");
        let mut command = Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_autofork-lsp").into()));
        command.env_clear().env("HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output, version: 1 }
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a server");
        self.input.flush().expect("a server");
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("a message");
            match line.trim().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a number"),
                _ if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn initialize(&mut self, project: &Path, capabilities: &Value) {
        let folders = json!([{ "uri": uri::of_path(project), "name": "project" }]);
        let params =
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        self.notify("initialized", &json!({}));
    }

    /// Reads until a file's diagnostics come; of the newest version, if one was sent.
    fn wait_for(&mut self, path: &Path) {
        let uri = json!(uri::of_path(path));
        loop {
            let message = self.read();
            let params = &message["params"];
            let newest = params["version"].as_i64().is_none_or(|version| version == self.version);
            if message["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri && newest {
                return;
            }
        }
    }

    /// Asks for a file's diagnostics, as clients do that are not sent them, and waits for the answer.
    fn ask(&mut self, path: &Path) {
        let params = json!({ "textDocument": { "uri": uri::of_path(path) } });
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.version, "method": "textDocument/diagnostic", "params": params }),
        );
        while self.read()["id"] != self.version {}
    }

    fn settle(&mut self) {
        self.send(&json!({ "jsonrpc": "2.0", "id": "settled", "method": "autofork/settled" }));
        while self.read()["id"] != "settled" {}
    }

    fn open(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": uri::of_path(path), "languageId": "markdown", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Types at the end of a line, letter by letter, as a person would who waits for the word on each.
    fn type_at(&mut self, path: &Path, line: u32) -> Vec<Keystroke> {
        (0..KEYSTROKES).map(|_| self.keystroke(path, line, Self::wait_for)).collect()
    }

    /// Types in one file's body, each time after a keystroke in another file's frontmatter.
    fn type_here_and_there(&mut self, here: &Path, there: &Path) -> Vec<Keystroke> {
        let after = |server: &mut Self| {
            server.keystroke(there, FRONTMATTER, Self::wait_for);
            server.keystroke(here, BODY, Self::wait_for)
        };
        (0..KEYSTROKES).map(|_| after(self)).collect()
    }

    fn keystroke(&mut self, path: &Path, line: u32, word: fn(&mut Self, &Path)) -> Keystroke {
        self.version += 1;
        let place = json!({ "line": line, "character": 9_999 });
        let change = json!([{ "range": { "start": place, "end": place }, "text": "x" }]);
        let document = json!({ "uri": uri::of_path(path), "version": self.version });
        let (start, ran) = (Instant::now(), self.ran());
        self.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": change }));
        word(self, path);
        Keystroke { passed: start.elapsed(), ran: self.ran().saturating_sub(ran) }
    }

    /// How long the server's threads have run.
    fn ran(&self) -> Duration {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        let of_one = |thread: std::fs::DirEntry| -> Option<u64> {
            let stat = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            stat.split_whitespace().next()?.parse().ok()
        };
        Duration::from_nanos(threads.filter_map(of_one).sum())
    }

    /// What the process holds, in megabytes.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        let kilobytes: f64 =
            line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(f64::NAN);
        kilobytes / 1024.0
    }

    fn stop(mut self) {
        self.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
        self.notify("exit", &Value::Null);
        let _ = self.child.wait();
    }
}
