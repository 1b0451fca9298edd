//! Where the daemon's programs come from: the compiler. And its gauges: the client's transcripts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::daemon::{GaugeReading, Loaded, ProgramSource};
use crate::db::Workspace;
use crate::host::claude_code::Transcript;
use crate::ir::LaunchDir;
use crate::project::UserDirs;

use super::surroundings;

/// A workspace that keeps what it has compiled, so that a load costs little more than looking at the files.
pub(super) struct Source {
    workspace: Workspace,
    user: UserDirs,
    /// How far each transcript was read.
    transcripts: HashMap<PathBuf, Transcript>,
}

/// How many transcripts are remembered. A forgotten one is read anew from its beginning.
const TRANSCRIPTS: usize = 1024;

impl Source {
    pub(super) fn new() -> Self {
        Self { workspace: Workspace::on_disk(), user: surroundings::user_dirs(), transcripts: HashMap::new() }
    }
}

impl ProgramSource for Source {
    fn load(&mut self, launch: &LaunchDir) -> Loaded {
        let loaded = self.workspace.load(launch, &self.user);
        Loaded { program: loaded.program, root: loaded.root }
    }

    fn gauge(&mut self, transcript: &Path) -> Option<GaugeReading> {
        if self.transcripts.len() >= TRANSCRIPTS && !self.transcripts.contains_key(transcript) {
            self.transcripts.clear();
        }
        let reading = self.transcripts.entry(transcript.to_owned()).or_default().read(transcript).ok()?;
        Some(GaugeReading { tokens: reading.tokens, window: reading.window })
    }
}
