//! The workspace: files in, programs out, and nothing is read or compiled twice.
//!
//! [`Workspace::load`] is the one entry point for everybody who wants forks: the daemon, every command, the language
//! server. It looks at the folders, reads the files whose time of change, size or inode are new, and compiles those
//! alone; all else comes from the salsa database. A load never fails: what is wrong is a diagnostic.
//!
//! A load does blocking I/O. The workspace is `Send`, so a caller with an event loop loads on a thread of its own.

mod parallel;
mod query;
mod reading;
mod snapshot;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallel::in_parallel;
use salsa::Setter as _;

use query::{ConfigInput, Database, ForkInput, ScopeInput, compiled};
use reading::{Known, Reading, Seen};

pub use query::Linkage;
pub use snapshot::{Cancelled, Scope, Snapshot};

use crate::compile::{self, Contents, FolderFault, Layer, Listed, Merged, Purpose, State};
use crate::diagnostic::Diagnostic;
use crate::ir::{LaunchDir, Program, ProjectRoot};
use crate::project::{self, Candidate, FileSystem, Root, UserDirs, WithUnsaved};
use crate::text::Sources;

/// Everything that was ever loaded, and the means to load more.
pub struct Workspace {
    fs: Arc<dyn FileSystem>,
    db: Database,
    forks: HashMap<Arc<Path>, Known<ForkInput>>,
    configs: HashMap<PathBuf, Known<ConfigInput>>,
    /// Texts that stand in for those on disk, such as what an editor has not saved yet.
    overlays: BTreeMap<PathBuf, Arc<str>>,
    /// What was found for each launch folder.
    scopes: HashMap<LaunchDir, ScopeInput>,
}

/// Is told the name of each query that runs; for tests that an edit runs no more than it must.
pub type Observer = Arc<dyn Fn(&str) + Send + Sync>;

/// What an overlay changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlaid {
    /// Nothing.
    Unchanged,
    /// The text of a file that is known; every snapshot from now on has it.
    Text,
    /// Something that shows only when the disk is looked at again.
    Unseen,
}

/// What the sessions of one launch folder get.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The folder that was loaded for.
    pub launch: LaunchDir,
    /// The root of its project.
    pub root: ProjectRoot,
    /// What may fire there.
    pub program: Arc<Program>,
    /// The configuration with the origins of its values.
    pub config: Merged,
    /// Every candidate: nearest root first, in a root by byte order.
    pub listing: Vec<Listed>,
    /// Everything that was found, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that diagnostics point into.
    pub sources: Sources,
    /// How many files were looked at, configuration included.
    pub files: usize,
    /// How many of them are configuration.
    pub layers: usize,
}

impl Loaded {
    /// The candidates in some state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Listed> {
        self.listing.iter().filter(move |listed| listed.state == state)
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace")
            .field("forks", &self.forks.len())
            .field("configs", &self.configs.len())
            .finish_non_exhaustive()
    }
}

impl Workspace {
    /// An empty workspace over a file system.
    pub fn new(fs: Arc<dyn FileSystem>) -> Self {
        Self::observed(fs, None)
    }

    /// An empty workspace whose queries are watched.
    pub fn observed(fs: Arc<dyn FileSystem>, observer: Option<Observer>) -> Self {
        Self {
            db: Database::new(fs.clone(), observer),
            fs,
            forks: HashMap::new(),
            configs: HashMap::new(),
            overlays: BTreeMap::new(),
            scopes: HashMap::new(),
        }
    }

    /// A workspace over this machine's disk.
    pub fn on_disk() -> Self {
        Self::new(Arc::new(project::Disk))
    }

    /// Lets `text` stand in for what is on disk at `path`; none to read the disk again at the next load. A file that is
    /// known has its new text at once; others are found by the next load.
    pub fn set_overlay(&mut self, path: &Path, text: Option<Arc<str>>) -> Overlaid {
        let Some(text) = text else {
            if self.overlays.remove(path).is_none() {
                return Overlaid::Unchanged;
            }
            if let Some(known) = self.forks.get_mut(path) {
                known.seen = Seen::Unknown;
            }
            if let Some(known) = self.configs.get_mut(path) {
                known.seen = Seen::Unknown;
            }
            return Overlaid::Unseen;
        };
        if self.overlays.get(path) == Some(&text) {
            return Overlaid::Unchanged;
        }
        self.overlays.insert(path.to_path_buf(), text.clone());
        if let Some(known) = self.forks.get_mut(path) {
            known.input.renew(&mut self.db, Contents::text(&text));
            known.seen = Seen::Overlay(text);
            return Overlaid::Text;
        }
        if let Some(known) = self.configs.get_mut(path) {
            known.input.renew(&mut self.db, Contents::text(&text));
            known.seen = Seen::Overlay(text);
            return Overlaid::Text;
        }
        Overlaid::Unseen
    }

    /// The text that stands in for what is on disk at a path.
    pub fn overlay(&self, path: &Path) -> Option<&Arc<str>> {
        self.overlays.get(path)
    }

    /// Whether a text stands in for what is on disk at a path.
    pub fn has_overlay(&self, path: &Path) -> bool {
        self.overlays.contains_key(path)
    }

    /// Reads everything from disk again, from the next load on.
    pub fn clear_overlays(&mut self) {
        for path in self.overlays.keys().cloned().collect::<Vec<_>>() {
            self.set_overlay(&path, None);
        }
    }

    /// Loads what sessions launched in `launch` get: the forks of all roots, the configuration of both layers, and
    /// everything that is to say about them.
    pub fn load(&mut self, launch: &LaunchDir, user: &UserDirs) -> Loaded {
        let roots = project::roots(&self.with_unsaved(), launch, user);
        self.load_roots(launch, user, &roots, Purpose::Run)
    }

    /// Checks what sessions launched in `launch` get: as [`Workspace::load`], but with an empty program and listing.
    pub fn check(&mut self, launch: &LaunchDir, user: &UserDirs) -> Loaded {
        let roots = project::roots(&self.with_unsaved(), launch, user);
        self.load_roots(launch, user, &roots, Purpose::Check)
    }

    /// The same, with these roots, nearest first.
    pub fn load_roots(&mut self, launch: &LaunchDir, user: &UserDirs, roots: &[Root], purpose: Purpose) -> Loaded {
        let scope = self.look_in(launch, user, roots, purpose);
        self.snapshot().loaded(&scope)
    }

    /// Looks at the disk for what sessions launched in `launch` get, and brings the database up to date. What it comes
    /// to is computed when a snapshot is asked.
    pub fn look(&mut self, launch: &LaunchDir, user: &UserDirs) -> Scope {
        let roots = project::roots(&self.with_unsaved(), launch, user);
        self.look_in(launch, user, &roots, Purpose::Run)
    }

    fn look_in(&mut self, launch: &LaunchDir, user: &UserDirs, roots: &[Root], purpose: Purpose) -> Scope {
        self.db.look_again();
        let root = project::project_root(&self.with_unsaved(), launch, user);
        let mut folders = Vec::new();
        let mut candidates: Vec<(usize, Candidate)> = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            candidates.extend(self.candidates(root, &mut folders).into_iter().map(|candidate| (index, candidate)));
        }
        let files = self.forks(candidates);
        let (user_path, project_path) = project::config_paths(&root, user);
        let project_path = Some(project_path).filter(|path| Some(path) != user_path.as_ref());
        let layers = [(Layer::User, user_path), (Layer::Project, project_path)];
        let layers: Vec<ConfigInput> =
            layers.into_iter().filter_map(|(layer, path)| self.config(layer, &path?)).collect();
        let input = if let Some(scope) = self.scopes.get(launch).copied() {
            scope.set_root(&mut self.db).to(root);
            scope.set_files(&mut self.db).to(files);
            scope.set_layers(&mut self.db).to(layers);
            scope.set_folders(&mut self.db).to(folders);
            scope.set_purpose(&mut self.db).to(purpose);
            scope
        } else {
            let scope = ScopeInput::new(&self.db, root, files, layers, folders, purpose);
            self.scopes.insert(launch.clone(), scope);
            scope
        };
        Scope { launch: launch.clone(), input }
    }

    /// The state of everything now, for any thread. Changing the workspace cancels what is being computed on it, and
    /// waits until every snapshot is gone.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.db.clone())
    }

    /// The candidates below a root, and what there is to say about its folders.
    fn candidates(&self, root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Vec<Candidate> {
        let mut report = |path: &Path, fault: &FolderFault| diagnostics.extend(compile::folder(&path.into(), fault));
        if root.foreign {
            report(&root.path, &FolderFault::Foreign);
            return Vec::new();
        }
        let found = project::discover(&self.with_unsaved(), &root.path);
        for path in &found.too_deep {
            report(path, &FolderFault::TooDeep);
        }
        for path in &found.circles {
            report(path, &FolderFault::Circle);
        }
        if let Some(path) = &found.too_much {
            report(path, &FolderFault::TooMuch(project::MAX_ENTRIES));
        }
        for (path, reason) in found.unreadable {
            report(&path, &FolderFault::Unreadable(reason));
        }
        found.candidates
    }

    /// The disk and, where it has nothing, what is yet to be saved.
    fn with_unsaved(&self) -> WithUnsaved<'_> {
        WithUnsaved { fs: &*self.fs, texts: &self.overlays }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { fs: &*self.fs, forks: &self.forks, overlays: &self.overlays }
    }

    /// The database's idea of fork files, brought up to date.
    fn forks(&mut self, candidates: Vec<(usize, Candidate)>) -> Vec<(usize, ForkInput)> {
        let reading = self.reading();
        let read =
            in_parallel(&candidates, || reading, |reading, (_, candidate)| reading.read_if_changed(&candidate.path));
        let mut files = Vec::with_capacity(candidates.len());
        self.forks.reserve(candidates.len().saturating_sub(self.forks.len()));
        for ((root, candidate), read) in candidates.into_iter().zip(read) {
            // A file that went between being listed and being read is no file any more.
            let gone = matches!(&read, Some((Seen::Unknown, Contents::Unreadable(_))))
                && is_missing(&*self.fs, &candidate.path);
            if !gone || self.overlays.contains_key(&candidate.path) {
                files.push((root, self.fork(&candidate, read)));
            }
        }
        // Each thread has a handle of its own on the one database.
        in_parallel(&files, || self.db.clone(), |db, (_, file)| drop(compiled(db, *file).clone()));
        files
    }

    /// The database's idea of a fork file, brought up to date with what was read; nothing was if that is still current.
    fn fork(&mut self, candidate: &Candidate, read: Option<(Seen, Contents)>) -> ForkInput {
        let known = || self.forks.get(&*candidate.path).map(|known| known.input);
        let (seen, contents) = match read.ok_or_else(known) {
            Ok(read) => read,
            Err(Some(input)) => return input,
            Err(None) => self.reading().read(&candidate.path),
        };
        match self.forks.entry(candidate.path.as_path().into()) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.seen = seen;
                known.input.renew(&mut self.db, contents);
                known.input
            }
            Entry::Vacant(free) => {
                let name = compile::fork_name(&candidate.name);
                let input = ForkInput::new(&self.db, name, free.key().clone(), contents);
                free.insert(Known { input, seen });
                input
            }
        }
    }

    /// The database's idea of a configuration file, brought up to date; none if there is no such file.
    fn config(&mut self, layer: Layer, path: &Path) -> Option<ConfigInput> {
        let known = self.configs.get(path).filter(|known| known.input.layer(&self.db) == layer);
        let current = |known: &&Known<ConfigInput>| self.reading().is_current(path, &known.seen);
        if let Some(known) = known.filter(current) {
            return Some(known.input);
        }
        if !self.overlays.contains_key(path) && is_missing(&*self.fs, path) {
            self.configs.remove(path);
            return None;
        }
        let (seen, contents) = self.reading().read(path);
        let input = match known.map(|known| known.input) {
            Some(input) => {
                input.renew(&mut self.db, contents);
                input
            }
            None => ConfigInput::new(&self.db, layer, path.into(), contents),
        };
        self.configs.insert(path.to_path_buf(), Known { input, seen });
        Some(input)
    }
}

fn is_missing(fs: &dyn FileSystem, path: &Path) -> bool {
    fs.metadata(path).is_err_and(|error| is_absence(&error))
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
