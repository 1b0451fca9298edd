//! The state of a workspace at one instant.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use super::query::{Compiled, Database, ForkInput, ScopeInput, compiled, compiled_config, link, linked};
use super::{Linkage, Loaded};
use crate::compile::{self, CompiledConfig, CompiledFile, ConfigLayer, Contents, Linked, Placed};
use crate::diagnostic::Diagnostic;
use crate::ir::{LaunchDir, ProjectRoot};
use crate::text::Source;

/// A launch folder that a workspace has looked at.
#[derive(Clone, PartialEq, Eq)]
pub struct Scope {
    /// The folder.
    pub launch: LaunchDir,
    pub(super) input: ScopeInput,
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("launch", &self.launch).finish_non_exhaustive()
    }
}

/// The workspace was changed while something was computed from its earlier state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The state of a workspace at one instant. What is asked of it is computed then, unless it is known. It must be
/// dropped soon: a change of the workspace waits for it.
#[derive(Clone)]
pub struct Snapshot {
    db: Database,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

impl Snapshot {
    pub(super) fn new(db: Database) -> Self {
        Self { db }
    }

    /// Computes something on this state, unless the workspace is changed meanwhile. The snapshot is gone afterwards.
    pub fn compute<T>(self, work: impl FnOnce(&Self) -> T) -> Result<T, Cancelled> {
        // Nothing of the snapshot is used after it unwinds, and the database keeps itself whole.
        salsa::Cancelled::catch(AssertUnwindSafe(move || work(&self))).map_err(|_| Cancelled)
    }

    /// What the files of a scope come to together.
    pub fn linkage(&self, scope: &Scope) -> &Arc<Linkage> {
        linked(&self.db, scope.input)
    }

    /// A fork file of a scope, compiled by itself.
    pub fn fork_file(&self, scope: &Scope, path: &Path) -> Option<&Arc<CompiledFile>> {
        let (_, file) = scope.input.files(&self.db).get(self.place_of(scope, path)?)?;
        let Compiled(file) = compiled(&self.db, *file);
        Some(file)
    }

    /// The place of a path among the fork files of a scope.
    fn place_of(&self, scope: &Scope, path: &Path) -> Option<usize> {
        let by_path = self.linkage(scope).by_path.get_or_init(|| {
            let files = scope.input.files(&self.db).iter();
            files.enumerate().map(|(index, (_, file))| (file.path(&self.db).clone(), index)).collect()
        });
        by_path.get(path).copied()
    }

    /// A configuration file of a scope, compiled by itself.
    pub fn config_layer(&self, scope: &Scope, path: &Path) -> Option<&ConfigLayer> {
        let mut layers = scope.input.layers(&self.db).iter().copied();
        let layer = layers.find(|layer| **layer.path(&self.db) == *path)?;
        Some(&compiled_config(&self.db, layer).layer)
    }

    /// The text of a file of a scope, as it is now.
    pub fn source(&self, scope: &Scope, path: &Path) -> Option<Arc<Source>> {
        let fork = self.fork_file(scope, path).map(|file| &file.file.source);
        fork.or_else(|| self.config_layer(scope, path).map(|layer| &layer.source)).cloned()
    }

    /// The configuration files of a scope.
    pub fn config_layers(&self, scope: &Scope) -> impl Iterator<Item = &ConfigLayer> {
        scope.input.layers(&self.db).iter().map(|layer| &compiled_config(&self.db, *layer).layer)
    }

    /// The root of a scope's project.
    pub fn root(&self, scope: &Scope) -> &ProjectRoot {
        scope.input.root(&self.db)
    }

    /// What would be found in a file of a scope if this were its text, which comes with it; none for a file that is not
    /// in the scope. Nothing of it is kept.
    pub fn supposing(&self, scope: &Scope, path: &Path, text: &str) -> Option<(Arc<Source>, Vec<Diagnostic>)> {
        let (db, input, contents) = (&self.db, scope.input, Contents::text(text));
        let (files, layers) = (input.files(db), input.layers(db));
        let fork = self.place_of(scope, path).and_then(|index| Some((index, files.get(index)?.1)));
        let fork = fork.map(|(index, file)| (index, compile::fork_file(file.name(db), file.path(db), &contents)));
        let config = layers.iter().position(|layer| **layer.path(db) == *path);
        let config = config.map(|index| {
            let layer = layers[index];
            (index, compile::config_file(layer.layer(db), layer.path(db), &contents))
        });
        let source = match (&fork, &config) {
            (Some((_, fork)), _) => fork.file.source.clone(),
            (None, Some((_, config))) => config.layer.source.clone(),
            (None, None) => return None,
        };
        let mut placed: Vec<Placed<'_>> =
            files.iter().map(|(root, file)| Placed { file: &compiled(db, *file).0, root: *root }).collect();
        if let Some((index, fork)) = &fork {
            placed[*index].file = fork;
        }
        let mut sets: Vec<&CompiledConfig> = layers.iter().map(|layer| &**compiled_config(db, *layer)).collect();
        if let Some((index, config)) = &config {
            sets[*index] = config;
        }
        let (_, linked) = link(db, input, &placed, &sets);
        let found = linked.diagnostics.into_iter().filter(|found| *found.path == *path).collect();
        Some((source, found))
    }

    /// Whether there is something at a path, now.
    pub fn exists(&self, path: &Path) -> bool {
        self.db.exists(path)
    }

    /// Everything that there is to a scope.
    pub fn loaded(&self, scope: &Scope) -> Loaded {
        let (db, input) = (&self.db, scope.input);
        let Linkage { config, linked, .. } = &**self.linkage(scope);
        let Linked { program, listing, diagnostics } = linked.clone();
        let forks = input.files(db).iter().map(|(_, file)| self.text(*file));
        let layers = input.layers(db).iter().map(|layer| &compiled_config(db, *layer).layer.source);
        Loaded {
            launch: scope.launch.clone(),
            root: input.root(db).clone(),
            program,
            config: config.clone(),
            listing,
            diagnostics,
            sources: forks.chain(layers).cloned().collect(),
            files: input.files(db).len() + input.layers(db).len(),
            layers: input.layers(db).len(),
        }
    }

    fn text(&self, file: ForkInput) -> &Arc<Source> {
        let Compiled(file) = compiled(&self.db, file);
        &file.file.source
    }
}
