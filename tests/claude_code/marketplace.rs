//! The checkout as a marketplace, in the eyes of the client itself: added, installed, used, removed. Nothing is said to
//! the client of plugin or binary: it has what a stranger has after two commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::scene::{self, Counts, Scene, body_of};
use crate::support::client::{Client, Permissions, SOON};
use crate::support::install;
use crate::support::mock_api::{Conduct, MockApi, Scripted};
use crate::support::sandbox::Sandbox;

/// A checkout as far as a client looks at it, whose plugin vouches for an archive of the binary under test.
fn checkout(sandbox: &Sandbox) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checkout = sandbox.root().join("checkout");
    for file in [
        ".claude-plugin/marketplace.json",
        "plugin/.claude-plugin/plugin.json",
        "plugin/README.md",
        "plugin/hooks/hooks.json",
        "plugin/hooks/autofork-hook",
        "plugin/hooks/autofork-bootstrap",
    ] {
        let copy = checkout.join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(root.join(file), copy).unwrap();
    }
    let published = sandbox.root().join("published");
    let archives = published.join(concat!("v", env!("CARGO_PKG_VERSION")));
    let built = sandbox.root().join("built");
    fs::create_dir(&built).unwrap();
    fs::copy(sandbox.binary(), built.join("autofork")).unwrap();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    run(root, ".ci/package", &[Path::new(&target), &built, &archives]);
    let releases = run(root, ".ci/vouch", &[Path::new(&format!("file://{}", published.display())), &archives]);
    fs::write(checkout.join("plugin/releases"), releases).unwrap();
    checkout
}

fn run(root: &Path, script: &str, arguments: &[&Path]) -> Vec<u8> {
    let output = Command::new("sh").arg(root.join(script)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Runs `claude plugin ...` to its end and checks that it says it is done.
#[track_caller]
fn plugin(program: &Path, sandbox: &Sandbox, arguments: &[&str]) {
    let api = MockApi::start(Scripted::new(Conduct::Obedient));
    let arguments: Vec<&str> = ["plugin"].iter().chain(arguments).copied().collect();
    let mut client = Client::spawn(program, sandbox, &api, &arguments);
    assert!(client.wait_for_end(SOON), "{}", client.screen());
    let screen = client.screen();
    assert!(screen.contains('✔') && !screen.contains('✘'), "{arguments:?} says:\n{screen}");
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_stranger_adds_the_checkout_installs_the_plugin_and_has_forks() {
    let Some(program) = install::client_or_skip() else {
        return;
    };
    let mut sandbox = scene::sandbox(&["journal"]);
    sandbox.tell_nothing();
    fs::create_dir_all(sandbox.autofork_home()).unwrap();
    fs::write(sandbox.autofork_home().join("config.toml"), "quiet_period = \"1s\"\n").unwrap();
    let checkout = checkout(&sandbox);
    let folder = checkout.to_str().unwrap();
    plugin(&program, &sandbox, &["validate", folder]);
    plugin(&program, &sandbox, &["marketplace", "add", folder]);
    plugin(&program, &sandbox, &["install", "autofork@autofork"]);

    // The session that starts brings the binary, and nobody notices.
    let Some(mut scene) = Scene::start_in(sandbox, Conduct::Obedient, Permissions::OfNewUser) else {
        return;
    };
    let data = scene.sandbox.home().join(".claude/plugins/data/autofork-autofork");
    wait_for("the binary", || data.join("bin/autofork").exists());
    wait_for("the line about it", || data.join("bootstrap.state").exists());
    let state = fs::read_to_string(data.join("bootstrap.state")).unwrap();
    assert_eq!(state, concat!(env!("CARGO_PKG_VERSION"), " ok from the release archive\n"));
    scene.prompt("hello there");
    let directive = scene.wait_for_forks(1)[0].fork_directive().unwrap();
    assert!(directive.contains(&body_of("journal")), "{directive}");
    scene.wait_for_reports(1);
    scene.assert_quiet();
    scene.assert_counts(Counts { wakes: 1, forks: 1, reports: 1 });
    scene.assert_clean_screen();
    assert!(scene.client.quit(), "the client did not leave by itself");
    wait_for("the end of the daemon", || scene.sandbox.processes().is_empty());

    // Switched off, it is not there.
    plugin(&program, &scene.sandbox, &["disable", "autofork@autofork"]);
    let mut client = Client::start(&program, &scene.sandbox, &scene.api, Permissions::OfNewUser, &[]);
    client.prompt("and once more");
    client.wait_for_screen("Reply #");
    std::thread::sleep(Duration::from_secs(2));
    assert!(scene.sandbox.daemon().is_none());
    assert!(client.quit());
    plugin(&program, &scene.sandbox, &["uninstall", "autofork@autofork"]);
    plugin(&program, &scene.sandbox, &["marketplace", "remove", "autofork"]);
    wait_for("the end of everything", || scene.sandbox.processes().is_empty());
}
