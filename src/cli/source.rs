//! Where the daemon's programs come from.
//!
//! A stand-in until the compiler moves in: it reads `idle:` lines and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::daemon::{Loaded, ProgramSource};
use crate::ir::{Body, Config, Fork, LaunchDir, Moment, Overlap, Program, ProjectRoot, Seconds};

pub(super) struct Source {
    base: PathBuf,
}

impl Source {
    pub(super) fn new(base: &Path) -> Self {
        Self { base: base.to_owned() }
    }
}

fn seconds(text: &str) -> Option<Seconds> {
    let text = text.trim().trim_matches('"');
    Seconds::new(text.strip_suffix('s').unwrap_or(text).parse().ok()?)
}

impl ProgramSource for Source {
    fn load(&mut self, launch: &LaunchDir) -> Loaded {
        let mut config = Config::default();
        for line in fs::read_to_string(self.base.join("config.toml")).unwrap_or_default().lines() {
            match line.split_once('=').map(|(key, value)| (key.trim(), seconds(value))) {
                Some(("wake_debounce", Some(value))) => config.wake_debounce = value,
                Some(("quiet_period", Some(value))) => config.quiet_period = value,
                Some(("session_timeout", Some(value))) => config.session_timeout = value,
                _ => {}
            }
        }
        let mut forks = Vec::new();
        for entry in fs::read_dir(launch.as_path().join(".autofork/forks")).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let idle = text.lines().find_map(|line| line.split_once("idle:")).and_then(|(_, value)| seconds(value));
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let body = text.splitn(3, "---\n").nth(2).unwrap_or_default();
            forks.push(Arc::new(Fork {
                name: name.as_str().into(),
                path: path.clone(),
                description: None,
                run_on: vec![Moment::Idle(idle)],
                throttle: None,
                after: Vec::new(),
                overlap: Overlap::Forbidden,
                tags: Vec::new(),
                body: Body { first_line: 1, text: body.into() },
            }));
        }
        Loaded { program: Arc::new(Program::new(config, forks)), root: ProjectRoot::new(launch.as_path()) }
    }
}
