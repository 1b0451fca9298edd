//! The database itself: what is put in, and what is derived from it.
//!
//! A file's compiled form counts as unchanged when nothing that others can see of it has changed; so typing in a body
//! compiles that one file, and links nothing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use salsa::Setter as _;

use crate::compile::{self, CompiledConfig, CompiledFile, Contents, Layer, Linked, Linking, Merged, Placed, Purpose};
use crate::diagnostic::Diagnostic;
use crate::ir::{ForkName, ProjectRoot};
use crate::project::FileSystem;

/// What queries may ask of the world outside of the database.
#[salsa::db]
pub(super) trait Db: salsa::Database {
    /// Whether there was something at a path when it was first asked for since the last look at the disk. The database
    /// does not notice when that changes: whoever looks again sets the scope again.
    fn existed(&self, path: &Path) -> bool;
}

#[salsa::db]
#[derive(Clone)]
pub(super) struct Database {
    storage: salsa::Storage<Self>,
    fs: Arc<dyn FileSystem>,
    existed: Arc<Mutex<HashMap<OsString, bool>>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn existed(&self, path: &Path) -> bool {
        let mut known = self.existed.lock().unwrap_or_else(PoisonError::into_inner);
        // By its bytes: to hash a path part by part takes half as long as to ask the disk.
        if let Some(answer) = known.get(path.as_os_str()) {
            return *answer;
        }
        let answer = self.exists(path);
        known.insert(path.as_os_str().to_owned(), answer);
        answer
    }
}

impl Database {
    /// An empty database. `observer` is told the name of each query that runs.
    pub(super) fn new(fs: Arc<dyn FileSystem>, observer: Option<super::Observer>) -> Self {
        let callback = observer.map(|observer| {
            Box::new(move |event: salsa::Event| {
                if let salsa::EventKind::WillExecute { database_key } = event.kind {
                    let name = format!("{database_key:?}");
                    observer(name.split('(').next().unwrap_or_default());
                }
            }) as Box<dyn Fn(salsa::Event) + Send + Sync>
        });
        Self { storage: salsa::Storage::new(callback), fs, existed: Arc::default() }
    }

    /// Whether there is something at a path, now.
    pub(super) fn exists(&self, path: &Path) -> bool {
        self.fs.metadata(path).is_ok()
    }

    /// Asks the disk again from now on; snapshots that there are keep their answers.
    pub(super) fn look_again(&mut self) {
        self.existed = Arc::default();
    }
}

/// A fork file as read.
#[salsa::input]
pub(super) struct ForkInput {
    #[returns(ref)]
    pub(super) name: ForkName,
    #[returns(ref)]
    pub(super) path: Arc<Path>,
    #[returns(ref)]
    pub(super) contents: Contents,
}

/// A configuration file as read.
#[salsa::input]
pub(super) struct ConfigInput {
    #[returns(copy)]
    pub(super) layer: Layer,
    #[returns(ref)]
    pub(super) path: Arc<Path>,
    #[returns(ref)]
    pub(super) contents: Contents,
}

impl ForkInput {
    /// Sets what was read, if it is not what was there: a file that was saved, or opened, as it is, is not compiled again.
    pub(super) fn renew(self, db: &mut Database, contents: Contents) {
        if *self.contents(db) != contents {
            self.set_contents(db).to(contents);
        }
    }
}

impl ConfigInput {
    /// The same for a configuration file.
    pub(super) fn renew(self, db: &mut Database, contents: Contents) {
        if *self.contents(db) != contents {
            self.set_contents(db).to(contents);
        }
    }
}

/// What was found for one launch folder when the disk was last looked at.
#[salsa::input]
pub(super) struct ScopeInput {
    #[returns(ref)]
    pub(super) root: ProjectRoot,
    /// Each file with the number of the root that it was found in.
    #[returns(ref)]
    pub(super) files: Vec<(usize, ForkInput)>,
    #[returns(ref)]
    pub(super) layers: Vec<ConfigInput>,
    /// What there is to say about folders.
    #[returns(ref)]
    pub(super) folders: Vec<Diagnostic>,
    /// What it is linked for.
    #[returns(copy)]
    pub(super) purpose: Purpose,
}

/// One file compiled by itself.
#[derive(Debug, Clone)]
pub(super) struct Compiled(pub(super) Arc<CompiledFile>);

impl PartialEq for Compiled {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.looks_like(&other.0)
    }
}

/// Compiles one file by itself.
#[salsa::tracked(returns(ref))]
pub(super) fn compiled(db: &dyn Db, file: ForkInput) -> Compiled {
    Compiled(Arc::new(compile::fork_file(file.name(db), file.path(db), file.contents(db))))
}

/// Compiles one configuration file by itself.
#[salsa::tracked(returns(ref), no_eq)]
pub(super) fn compiled_config(db: &dyn Db, file: ConfigInput) -> Arc<CompiledConfig> {
    Arc::new(compile::config_file(file.layer(db), file.path(db), file.contents(db)))
}

/// What the files of one launch folder come to together.
#[derive(Debug)]
pub struct Linkage {
    /// The configuration with the origins of its values.
    pub config: Merged,
    /// The program, the listing and the diagnostics. Where the disk was not looked at again, the instructions of the
    /// forks may be older than the texts.
    pub linked: Linked,
    /// The place of a path among the files of the scope; made when first asked for, which a check never does.
    pub(super) by_path: OnceLock<HashMap<Arc<Path>, usize>>,
}

/// Links the files of one launch folder.
#[salsa::tracked(returns(ref), no_eq)]
pub(super) fn linked(db: &dyn Db, scope: ScopeInput) -> Arc<Linkage> {
    let placed = scope.files(db).iter().map(|(root, file)| Placed { file: &compiled(db, *file).0, root: *root });
    let placed: Vec<Placed<'_>> = placed.collect();
    let layers: Vec<&CompiledConfig> = scope.layers(db).iter().map(|layer| &**compiled_config(db, *layer)).collect();
    let (config, linked) = link(db, scope, &placed, &layers);
    Arc::new(Linkage { config, linked, by_path: OnceLock::new() })
}

/// Links these files as those of a launch folder.
pub(super) fn link(
    db: &dyn Db,
    scope: ScopeInput,
    files: &[Placed<'_>],
    layers: &[&CompiledConfig],
) -> (Merged, Linked) {
    let config = compile::merge(layers.iter().map(|layer| &layer.layer));
    let linked = compile::link(Linking {
        files,
        config: &config,
        layers,
        folders: scope.folders(db).clone(),
        root: scope.root(db).as_path(),
        exists: &|path| db.existed(path),
        purpose: scope.purpose(db),
    });
    (config, linked)
}
