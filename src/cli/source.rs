//! Where the daemon's programs come from: the compiler.

use crate::daemon::{Loaded, ProgramSource};
use crate::db::Workspace;
use crate::ir::LaunchDir;
use crate::project::UserDirs;

use super::surroundings;

/// A workspace that keeps what it has compiled, so that a load costs little more than looking at the files.
pub(super) struct Source {
    workspace: Workspace,
    user: UserDirs,
}

impl Source {
    pub(super) fn new() -> Self {
        Self { workspace: Workspace::on_disk(), user: surroundings::user_dirs() }
    }
}

impl ProgramSource for Source {
    fn load(&mut self, launch: &LaunchDir) -> Loaded {
        let loaded = self.workspace.load(launch, &self.user);
        Loaded { program: loaded.program, root: loaded.root }
    }
}
