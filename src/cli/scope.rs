//! What a command that takes paths looks at.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compile::Purpose;
use crate::db::{Loaded, Workspace};
use crate::diagnostic::Diagnostic;
use crate::ir::LaunchDir;
use crate::project::{self, Disk, EntryKind, FileSystem, Root, UserDirs};
use crate::text::Sources;

/// Everything that was found in a scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// By file and place, each once.
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) sources: Sources,
    /// How many files were looked at.
    pub(crate) files: usize,
    /// Paths that do not exist.
    pub(crate) missing: Vec<PathBuf>,
}

/// What to look at.
pub(crate) enum What {
    /// Everything that is visible, and every root below.
    Everything,
    /// These paths, which may be fork files, configuration files, and folders with either.
    Paths(Vec<PathBuf>),
}

/// Looks at it.
pub(crate) fn look(workspace: &mut Workspace, current: &Path, user: &UserDirs, what: &What) -> Scope {
    match what {
        What::Everything => everything(workspace, current, user),
        What::Paths(given) => paths(workspace, current, user, given),
    }
}

/// Looks at everything that is visible from `current`, and at every root below it.
fn everything(workspace: &mut Workspace, current: &Path, user: &UserDirs) -> Scope {
    let mut scope = Gathered::default();
    scope.add(workspace.check(&LaunchDir::new(current), user), None);
    for project in project::projects_below(&Disk, current) {
        if project != current {
            scope.add(workspace.check(&LaunchDir::new(project), user), None);
        }
    }
    scope.finish()
}

/// Looks at these paths, which may be fork files, configuration files, and folders with either.
fn paths(workspace: &mut Workspace, current: &Path, user: &UserDirs, paths: &[PathBuf]) -> Scope {
    let mut scope = Gathered::default();
    for given in paths {
        let path = project::cleaned(&current.join(given));
        let kind = Disk.metadata(&path).map(|found| found.kind);
        let kind = kind.or_else(|error| if workspace.has_overlay(&path) { Ok(EntryKind::File) } else { Err(error) });
        let Ok(kind) = kind else {
            scope.missing.push(given.clone());
            continue;
        };
        let mut launches: Vec<PathBuf> = project::project_of(&path).into_iter().collect();
        if kind == EntryKind::Folder {
            launches.extend(project::projects_below(&Disk, &path));
        }
        let is_users = user.base.as_ref().is_some_and(|base| path.starts_with(base));
        if is_users {
            launches = vec![current.to_path_buf()];
        }
        if launches.is_empty() {
            // Forks that lie in no root, such as a collection to copy from: their folder is taken for one.
            let folder = if kind == EntryKind::Folder { path.as_path() } else { path.parent().unwrap_or(&path) };
            let root = Root { path: folder.to_path_buf(), foreign: false };
            scope.add(workspace.load_roots(&LaunchDir::new(folder), user, &[root], Purpose::Check), Some(&path));
            continue;
        }
        launches.dedup();
        for launch in launches {
            scope.add(workspace.check(&LaunchDir::new(launch), user), Some(&path));
        }
    }
    scope.finish()
}

#[derive(Default)]
struct Gathered {
    diagnostics: Vec<Diagnostic>,
    sources: Sources,
    files: HashSet<Arc<Path>>,
    missing: Vec<PathBuf>,
}

impl Gathered {
    /// Adds what was loaded; with `below`, only what lies there.
    fn add(&mut self, loaded: Loaded, below: Option<&Path>) {
        let wanted = |path: &Path| below.is_none_or(|below| path.starts_with(below));
        self.diagnostics.extend(loaded.diagnostics.into_iter().filter(|found| wanted(&found.path)));
        self.files.extend(loaded.sources.paths().filter(|path| wanted(path)).cloned());
        self.sources.extend(loaded.sources);
    }

    fn finish(mut self) -> Scope {
        self.diagnostics.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
        self.diagnostics.dedup();
        Scope { diagnostics: self.diagnostics, sources: self.sources, files: self.files.len(), missing: self.missing }
    }
}
