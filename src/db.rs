//! The workspace: files in, programs out, and nothing is read or compiled twice.
//!
//! [`Workspace::load`] is the one entry point for everybody who wants forks: the daemon, every command, the language
//! server. It looks at the folders, reads the files whose time of change, size or inode are new, and compiles those
//! alone; all else comes from the salsa database. A load never fails: what is wrong is a diagnostic.
//!
//! A load does blocking I/O. The workspace is `Send`, so a caller with an event loop loads on a thread of its own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salsa::Setter as _;

use crate::compile::{
    self, CompiledConfig, CompiledFile, Contents, FolderFault, Layer, Linked, Linking, Listed, MAX_BYTES, Merged,
    Placed, State,
};
use crate::diagnostic::Diagnostic;
use crate::ir::{ForkName, LaunchDir, Program, ProjectRoot};
use crate::project::{self, Candidate, FileSystem, Root, Stamp, UserDirs};
use crate::text::{Source, Sources};

/// Everything that was ever loaded, and the means to load more.
pub struct Workspace {
    fs: Arc<dyn FileSystem>,
    db: Database,
    forks: HashMap<PathBuf, Known<ForkInput>>,
    configs: HashMap<PathBuf, Known<ConfigInput>>,
    /// Texts that stand in for those on disk, such as what an editor has not saved yet.
    overlays: BTreeMap<PathBuf, Arc<str>>,
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

struct Known<I> {
    input: I,
    stamp: Option<Stamp>,
}

/// A fork file as read.
#[salsa::input]
struct ForkInput {
    #[returns(ref)]
    name: ForkName,
    #[returns(ref)]
    path: Arc<Path>,
    #[returns(ref)]
    contents: Contents,
}

/// A configuration file as read.
#[salsa::input]
struct ConfigInput {
    #[returns(copy)]
    layer: Layer,
    #[returns(ref)]
    path: Arc<Path>,
    #[returns(ref)]
    contents: Contents,
}

/// One file compiled by itself.
#[salsa::tracked(returns(ref), no_eq)]
fn compiled(db: &dyn salsa::Database, file: ForkInput) -> Arc<CompiledFile> {
    Arc::new(compile::fork_file(file.name(db), file.path(db), file.contents(db)))
}

/// One configuration file compiled by itself.
#[salsa::tracked(returns(ref), no_eq)]
fn compiled_config(db: &dyn salsa::Database, file: ConfigInput) -> Arc<CompiledConfig> {
    Arc::new(compile::config_file(file.layer(db), file.path(db), file.contents(db)))
}

#[salsa::db]
#[derive(Clone, Default)]
struct Database {
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

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
        Self {
            fs,
            db: Database::default(),
            forks: HashMap::new(),
            configs: HashMap::new(),
            overlays: BTreeMap::new(),
        }
    }

    /// A workspace over this machine's disk.
    pub fn on_disk() -> Self {
        Self::new(Arc::new(project::Disk))
    }

    /// Lets `text` stand in for what is on disk at `path`, from the next load on; none to read the disk again.
    pub fn set_overlay(&mut self, path: &Path, text: Option<Arc<str>>) {
        let changed = match text {
            Some(text) => self.overlays.insert(path.to_path_buf(), text.clone()) != Some(text),
            None => self.overlays.remove(path).is_some(),
        };
        if changed {
            // Without a stamp the file is read at the next load.
            self.forks.entry(path.to_path_buf()).and_modify(|known| known.stamp = None);
            self.configs.entry(path.to_path_buf()).and_modify(|known| known.stamp = None);
        }
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
        let roots = project::roots(&*self.fs, launch, user);
        self.load_roots(launch, user, &roots)
    }

    /// The same, with these roots, nearest first.
    pub fn load_roots(&mut self, launch: &LaunchDir, user: &UserDirs, roots: &[Root]) -> Loaded {
        let root = project::project_root(&*self.fs, launch, user);
        let mut diagnostics = Vec::new();
        let mut candidates: Vec<(usize, Candidate)> = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            candidates
                .extend(self.candidates(root, &mut diagnostics).into_iter().map(|candidate| (index, candidate)));
        }
        let files = self.forks(candidates);
        let (user_path, project_path) = project::config_paths(&root, user);
        let project_path = Some(project_path).filter(|path| Some(path) != user_path.as_ref());
        let layers = [(Layer::User, user_path), (Layer::Project, project_path)];
        let layers: Vec<ConfigInput> =
            layers.into_iter().filter_map(|(layer, path)| self.config(layer, &path?)).collect();
        self.link(launch, root, &files, &layers, diagnostics)
    }

    fn link(
        &self,
        launch: &LaunchDir,
        root: ProjectRoot,
        files: &[(usize, ForkInput)],
        layers: &[ConfigInput],
        folders: Vec<Diagnostic>,
    ) -> Loaded {
        let compiled: Vec<(usize, &Arc<CompiledFile>)> =
            files.iter().map(|(root, file)| (*root, compiled(&self.db, *file))).collect();
        let layers: Vec<&Arc<CompiledConfig>> =
            layers.iter().map(|layer| compiled_config(&self.db, *layer)).collect();
        let placed: Vec<Placed<'_>> = compiled.iter().map(|(root, file)| Placed { file, root: *root }).collect();
        let config = compile::merge(layers.iter().map(|layer| &layer.layer));
        let linking = Linking {
            files: &placed,
            config: &config,
            layers: &layers.iter().map(|layer| &***layer).collect::<Vec<_>>(),
            folders,
            root: root.as_path(),
            exists: &|path| self.fs.metadata(path).is_ok(),
        };
        let Linked { program, listing, diagnostics } = compile::link(linking);
        let texts = compiled.iter().map(|(_, file)| &file.file.source);
        let texts = texts.chain(layers.iter().map(|layer| &layer.layer.source)).cloned();
        let sources: Sources = texts.collect::<Vec<Arc<Source>>>().into_iter().collect();
        let (files, layers) = (files.len() + layers.len(), layers.len());
        Loaded { launch: launch.clone(), root, program, config, listing, diagnostics, sources, files, layers }
    }

    /// The candidates below a root, and what there is to say about its folders.
    fn candidates(&self, root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Vec<Candidate> {
        let mut report = |path: &Path, fault: &FolderFault| diagnostics.extend(compile::folder(&path.into(), fault));
        if root.foreign {
            report(&root.path, &FolderFault::Foreign);
            return Vec::new();
        }
        let found = project::discover(&*self.fs, &root.path);
        for path in &found.too_deep {
            report(path, &FolderFault::TooDeep);
        }
        for (path, reason) in found.unreadable {
            report(&path, &FolderFault::Unreadable(reason));
        }
        let mut candidates = found.candidates;
        for path in self.overlays.keys().filter(|path| path.starts_with(&root.path)) {
            if !candidates.iter().any(|candidate| candidate.path == *path) {
                candidates.extend(Candidate::at(path));
            }
        }
        candidates
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
        for ((root, candidate), read) in candidates.into_iter().zip(read) {
            files.push((root, self.fork(candidate, read)));
        }
        // Each thread has a handle of its own on the one database.
        in_parallel(&files, || self.db.clone(), |db, (_, file)| drop(compiled(db, *file).clone()));
        files
    }

    /// The database's idea of a fork file, brought up to date with what was read.
    fn fork(&mut self, candidate: Candidate, read: Option<(Option<Stamp>, Contents)>) -> ForkInput {
        let known = self.forks.get_mut(&candidate.path);
        match (known, read) {
            (Some(known), None) => known.input,
            (Some(known), Some((stamp, contents))) => {
                known.stamp = stamp;
                known.input.set_contents(&mut self.db).to(contents);
                known.input
            }
            (None, read) => {
                let (stamp, contents) = read.unwrap_or_else(|| (None, self.reading().read(&candidate.path)));
                let name = compile::fork_name(&candidate.name);
                let input = ForkInput::new(&self.db, name, candidate.path.as_path().into(), contents);
                self.forks.insert(candidate.path, Known { input, stamp });
                input
            }
        }
    }

    /// The database's idea of a configuration file, brought up to date; none if there is no such file.
    fn config(&mut self, layer: Layer, path: &Path) -> Option<ConfigInput> {
        let stamp = self.reading().stamp(path);
        let known = self.configs.get(path).filter(|known| known.input.layer(&self.db) == layer);
        if let Some(known) = known.filter(|known| is_current(known.stamp, stamp)) {
            return Some(known.input);
        }
        if stamp.is_none() && !self.overlays.contains_key(path) && is_missing(&*self.fs, path) {
            self.configs.remove(path);
            return None;
        }
        let contents = self.reading().read(path);
        let input = match known.map(|known| known.input) {
            Some(input) => {
                input.set_contents(&mut self.db).to(contents);
                input
            }
            None => ConfigInput::new(&self.db, layer, path.into(), contents),
        };
        self.configs.insert(path.to_path_buf(), Known { input, stamp });
        Some(input)
    }
}

/// What is needed to read files; threads can share it.
#[derive(Clone, Copy)]
struct Reading<'a> {
    fs: &'a dyn FileSystem,
    forks: &'a HashMap<PathBuf, Known<ForkInput>>,
    overlays: &'a BTreeMap<PathBuf, Arc<str>>,
}

impl Reading<'_> {
    /// What a file holds, unless the database knows it already.
    fn read_if_changed(&self, path: &Path) -> Option<(Option<Stamp>, Contents)> {
        if let Some(known) = self.forks.get(path) {
            let stamp = self.stamp(path);
            return if is_current(known.stamp, stamp) { None } else { Some((stamp, self.read(path))) };
        }
        if self.overlays.contains_key(path) {
            return Some((self.stamp(path), self.read(path)));
        }
        Some(match self.fs.open(path, MAX_BYTES + 1) {
            Ok((found, bytes)) => (Some(found.stamp), Contents::from_bytes(bytes)),
            Err(error) => (None, Contents::Unreadable(project::reason(&error))),
        })
    }

    fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.fs.metadata(path).ok().map(|found| found.stamp)
    }

    fn read(&self, path: &Path) -> Contents {
        if let Some(text) = self.overlays.get(path) {
            return Contents::text(text);
        }
        // One byte more than there may be shows that a file is too large.
        match self.fs.read(path, MAX_BYTES + 1) {
            Ok(bytes) => Contents::from_bytes(bytes),
            Err(error) => Contents::Unreadable(project::reason(&error)),
        }
    }
}

/// Fewer things than this are done faster by one thread alone.
const WORTH_THREADS: usize = 64;

/// Does something with each thing, on as many threads as the machine has, and gives the outcomes in order. Each thread
/// is given something of its own to work with.
fn in_parallel<T: Sync, S: Send, R: Send>(
    things: &[T],
    own: impl Fn() -> S,
    work: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if threads < 2 || things.len() < WORTH_THREADS {
        let own = own();
        return things.iter().map(|thing| work(&own, thing)).collect();
    }
    let chunk = things.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = things
            .chunks(chunk)
            .map(|part| {
                let own = own();
                scope.spawn(move || part.iter().map(|thing| work(&own, thing)).collect::<Vec<R>>())
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A file without a stamp cannot be known to be unchanged.
fn is_current(known: Option<Stamp>, now: Option<Stamp>) -> bool {
    known.is_some() && known == now
}

fn is_missing(fs: &dyn FileSystem, path: &Path) -> bool {
    fs.metadata(path)
        .is_err_and(|error| matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use super::*;
    use crate::project::{Entry, Memory, Metadata};

    /// A file system in memory that can be changed from outside and remembers what was read.
    #[derive(Debug, Default)]
    struct Watched {
        files: Mutex<Memory>,
        read: Mutex<Vec<PathBuf>>,
    }

    impl Watched {
        fn write(&self, path: &str, text: &str) {
            self.files.lock().unwrap().write(path, text);
        }

        fn take_read(&self) -> usize {
            std::mem::take(&mut *self.read.lock().unwrap()).len()
        }
    }

    impl FileSystem for Watched {
        fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
            self.read.lock().unwrap().push(path.to_path_buf());
            self.files.lock().unwrap().read(path, limit)
        }

        fn metadata(&self, path: &Path) -> io::Result<Metadata> {
            self.files.lock().unwrap().metadata(path)
        }

        fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
            self.files.lock().unwrap().list(path)
        }

        fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
            self.files.lock().unwrap().real_path(path)
        }
    }

    const FORK: &str = "---\nfork: true\n---\nTidy.\n";

    fn load(workspace: &mut Workspace) -> Loaded {
        workspace.load(&LaunchDir::new("/p"), &UserDirs::new(None, Some("/home".into()), None))
    }

    fn names(loaded: &Loaded) -> Vec<&str> {
        loaded.program.forks().map(|fork| fork.name.as_str()).collect()
    }

    #[test]
    fn only_what_changed_is_read_again() {
        let files = Arc::new(Watched::default());
        files.write("/p/.autofork/forks/a.md", FORK);
        files.write("/p/.autofork/forks/b.md", FORK);
        files.write("/p/.autofork/config.toml", "wake_debounce = 1");
        let mut workspace = Workspace::new(files.clone());
        let first = load(&mut workspace);
        assert_eq!((names(&first), files.take_read()), (vec!["a", "b"], 3));
        let second = load(&mut workspace);
        assert_eq!((&second.program, files.take_read()), (&first.program, 0));

        files.write("/p/.autofork/forks/b.md", "---\nfork: false\n---\n");
        files.write("/p/.autofork/forks/c.md", FORK);
        let third = load(&mut workspace);
        assert_eq!((names(&third), files.take_read()), (vec!["a", "c"], 2));
        assert_eq!(third.in_state(State::Off).count(), 1);
    }

    #[test]
    fn a_configuration_that_comes_and_goes_is_noticed() {
        let files = Arc::new(Watched::default());
        files.write("/p/.autofork/forks/a.md", FORK);
        let mut workspace = Workspace::new(files.clone());
        let debounce = |workspace: &mut Workspace| load(workspace).program.config().wake_debounce.get();
        assert_eq!(debounce(&mut workspace), 5);
        files.write("/home/.autofork/config.toml", "wake_debounce = 1");
        assert_eq!(debounce(&mut workspace), 1);
        files.write("/p/.autofork/config.toml", "wake_debounce = 2");
        assert_eq!(debounce(&mut workspace), 2);
        files.files.lock().unwrap().remove(Path::new("/p/.autofork/config.toml"));
        assert_eq!(debounce(&mut workspace), 1);
    }

    #[test]
    fn a_text_that_is_not_saved_stands_in_for_the_one_on_disk() {
        let files = Arc::new(Watched::default());
        files.write("/p/.autofork/forks/a.md", FORK);
        let mut workspace = Workspace::new(files);
        let path = Path::new("/p/.autofork/forks/a.md");
        assert_eq!(load(&mut workspace).diagnostics.len(), 0);
        workspace.set_overlay(path, Some("---\nfork: true\n---\n".into()));
        assert_eq!(load(&mut workspace).diagnostics.len(), 1);
        workspace.set_overlay(path, None);
        assert_eq!(load(&mut workspace).diagnostics.len(), 0);
    }

    #[test]
    fn a_load_can_be_done_on_another_thread() {
        let mut workspace = Workspace::new(Arc::new(Memory::default()));
        let loaded = std::thread::spawn(move || load(&mut workspace)).join().expect("no panic");
        assert!(loaded.program.is_empty());
    }
}
