//! What a command that takes paths looks at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::compile::Purpose;
use crate::db::{Loaded, Workspace};
use crate::diagnostic::Diagnostic;
use crate::ir::LaunchDir;
use crate::project::{self, Disk, EntryKind, FileSystem, Root, UserDirs};
use crate::text::{Sources, visible};

/// Everything that was found in a scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// By file and place, each once.
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) sources: Sources,
    /// How many files were looked at.
    pub(crate) files: usize,
    /// Why something that was named could not be looked at, one sentence each.
    pub(crate) refused: Vec<String>,
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
    scope.add(workspace.check(&LaunchDir::new(current), user), Wanted::All);
    for project in project::projects_below(&Disk, current) {
        if project != current {
            scope.add(workspace.check(&LaunchDir::new(project), user), Wanted::All);
        }
    }
    scope.finish(Vec::new())
}

/// What is loaded for the sake of a path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Everything that is visible from this folder.
    Launch(PathBuf),
    /// Forks that lie in no root, such as a collection to copy from: their folder is taken for one.
    Folder(PathBuf),
}

/// Looks at these paths, which may be fork files, configuration files, and folders with either. Each place is loaded
/// once, however many paths lie there.
fn paths(workspace: &mut Workspace, current: &Path, user: &UserDirs, paths: &[PathBuf]) -> Scope {
    let mut refused = Vec::new();
    let mut places: BTreeMap<Place, BTreeSet<PathBuf>> = BTreeMap::new();
    for given in paths {
        let path = project::cleaned(&current.join(given));
        match kind(workspace, &path) {
            Ok(kind) => {
                for place in places_of(&path, kind, current, user) {
                    places.entry(place).or_default().insert(path.clone());
                }
            }
            Err(reason) => refused.push(format!("{reason} {}", visible(&given.to_string_lossy()))),
        }
    }
    let mut scope = Gathered::default();
    for (place, paths) in places {
        let loaded = match place {
            Place::Launch(folder) => workspace.check(&LaunchDir::new(folder), user),
            Place::Folder(folder) => {
                let root = Root { path: folder.clone(), foreign: false };
                workspace.load_roots(&LaunchDir::new(folder), user, &[root], Purpose::Check)
            }
        };
        scope.add(loaded, Wanted::Below(paths));
    }
    scope.finish(refused)
}

/// What is at a path that somebody named, or the start of a sentence on why it cannot be looked at.
fn kind(workspace: &Workspace, path: &Path) -> Result<EntryKind, &'static str> {
    match Disk.metadata(path).map(|found| found.kind) {
        Ok(kind @ (EntryKind::File | EntryKind::Folder)) => Ok(kind),
        _ if workspace.has_overlay(path) => Ok(EntryKind::File),
        Ok(_) => Err("there is neither a file nor a folder at"),
        Err(_) => Err("there is nothing at"),
    }
}

fn places_of(path: &Path, kind: EntryKind, current: &Path, user: &UserDirs) -> Vec<Place> {
    if user.base.as_ref().is_some_and(|base| path.starts_with(base)) {
        return vec![Place::Launch(current.to_path_buf())];
    }
    let mut launches: Vec<PathBuf> = project::project_of(path).into_iter().collect();
    if kind == EntryKind::Folder {
        launches.extend(project::projects_below(&Disk, path));
    }
    if launches.is_empty() {
        let folder = if kind == EntryKind::Folder { path } else { path.parent().unwrap_or(path) };
        return vec![Place::Folder(folder.to_path_buf())];
    }
    launches.into_iter().map(Place::Launch).collect()
}

#[derive(Default)]
struct Gathered {
    diagnostics: Vec<Diagnostic>,
    sources: Sources,
    wanted: Vec<Wanted>,
}

/// Which of the files that were loaded are wanted.
enum Wanted {
    All,
    /// Those at or below one of these paths.
    Below(BTreeSet<PathBuf>),
}

impl Wanted {
    fn holds(&self, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Below(paths) => path.ancestors().any(|path| paths.contains(path)),
        }
    }
}

impl Gathered {
    /// Adds what is wanted of what was loaded.
    fn add(&mut self, loaded: Loaded, wanted: Wanted) {
        self.diagnostics.extend(loaded.diagnostics.into_iter().filter(|found| wanted.holds(&found.path)));
        self.sources.extend(loaded.sources);
        self.wanted.push(wanted);
    }

    fn finish(mut self, refused: Vec<String>) -> Scope {
        self.diagnostics.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
        self.diagnostics.dedup();
        let files = self.sources.paths().filter(|path| self.wanted.iter().any(|wanted| wanted.holds(path))).count();
        Scope { diagnostics: self.diagnostics, sources: self.sources, files, refused }
    }
}
