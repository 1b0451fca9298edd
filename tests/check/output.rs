//! What becomes of the program when its output cannot be written, or nobody reads on.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use crate::program::Sandbox;

/// Every command that prints, with what it needs to have something to say.
const COMMANDS: [&[&str]; 21] = [
    &["check"],
    &["check", "--diff"],
    &["compile"],
    &["completions", "bash"],
    &["config"],
    &["demo"],
    &["doctor"],
    &["explain"],
    &["fmt", "--check"],
    &["forks"],
    &["help"],
    &["history"],
    &["init"],
    &["logs"],
    &["prune"],
    &["run", "x"],
    &["schema"],
    &["simulate", "day.toml"],
    &["status"],
    &["stop-daemon"],
    &["why", "x"],
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", "---\nrun_on: idle\nfork: true\n---\nBring LOG.md up to date.\n");
    sandbox.write("day.toml", "forks_from = \".autofork/forks\"\nsteps = [{ at = \"0s\", do = \"turn\" }]\n");
    let base = sandbox.home().join(".autofork");
    fs::create_dir_all(&base).expect("a folder");
    fs::write(base.join("daemon.log"), "a line\n").expect("a log");
    sandbox
}

#[test]
fn no_command_succeeds_whose_output_cannot_be_written() {
    for arguments in COMMANDS.iter().copied().chain([&["--version"][..], &["check", "--help"]]) {
        let sandbox = sandbox();
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = sandbox.command(&sandbox.project()).args(arguments).stdout(full).output().expect("it runs");
        let run = sandbox.outcome(&output);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains("the output cannot be written: No space left"), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn no_command_complains_when_nobody_reads_on() {
    for arguments in COMMANDS.iter().filter(|arguments| arguments[0] != "demo") {
        let sandbox = sandbox();
        let mut child = sandbox
            .command(&sandbox.project())
            .args(*arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        let code = child.wait().expect("an end").code();
        assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {code:?} {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn the_commands_above_are_all_that_there_are() {
    let help = Sandbox::new().run(&["--help"]).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    for name in listed.filter(|name| *name != "lsp") {
        assert!(COMMANDS.iter().any(|arguments| arguments[0] == name), "{name} is not tried");
    }
}
