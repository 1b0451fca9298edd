//! `workspace/willRenameFiles`: the client is about to rename files, and every `after` goes along.

use std::path::{Path, PathBuf};

use autofork::compile::{State, fork_name};
use autofork::ir::ForkName;
use autofork::project::{self, Role};
use gen_lsp_types as lsp;

use super::Refusal;
use super::naming::{self, Naming};
use crate::uri;
use crate::view::View;

/// The request. What is renamed along with others is seen as it will be when all of them are. Where a name cannot be
/// replaced it stays, and is found to name nothing.
pub(crate) fn will_rename_files(
    view: &View<'_>,
    params: &lsp::RenameFilesParams,
) -> Result<Option<lsp::WorkspaceEdit>, Refusal> {
    let batch = Batch::new(params);
    let moves: Vec<Move> = batch.moves.iter().filter_map(|moved| Move::new(view, &batch, moved)).collect();
    let renamed = moves.iter().filter_map(|moved| {
        let new = moved.new.as_ref().filter(|new| **new != moved.old && can_be_listed(new))?;
        // Where the name is taken, nothing may come to mean another fork.
        (!is_taken(view, moved, new, &moves)).then_some(Naming { path: &moved.path, old: &moved.old, new })
    });
    let edits = naming::rename(view, &renamed.collect::<Vec<_>>()).edits;
    if edits.is_empty() { Ok(None) } else { Ok(Some(edits.finish(view, Vec::new()))) }
}

/// What the client said of files and folders: from where to where.
struct Batch {
    moves: Vec<(PathBuf, PathBuf)>,
}

impl Batch {
    fn new(params: &lsp::RenameFilesParams) -> Self {
        let paths = |file: &lsp::FileRename| Some((uri::to_path(&file.old_uri)?, uri::to_path(&file.new_uri)?));
        Self { moves: params.files.iter().filter_map(paths).collect() }
    }

    /// Whether there will be a fork file at a path once all is done: one that comes there, or one that stays.
    fn will_exist(&self, view: &View<'_>, path: &Path) -> bool {
        let is_there = |path: &Path| view.file_at(path).is_some() || view.snapshot.exists(path);
        let comes = |(from, to): &(PathBuf, PathBuf)| match path.strip_prefix(to) {
            // Joined to nothing, a path ends with a slash.
            Ok(rest) if rest.as_os_str().is_empty() => is_there(from),
            Ok(rest) => is_there(&from.join(rest)),
            Err(_) => false,
        };
        let goes = self.moves.iter().any(|(from, _)| path.starts_with(from));
        self.moves.iter().any(comes) || (!goes && is_there(path))
    }
}

/// A fork file that will be elsewhere.
struct Move {
    path: PathBuf,
    target: PathBuf,
    old: ForkName,
    /// Its name there; none if it will be no fork of the same project.
    new: Option<ForkName>,
}

impl Move {
    /// From what the client said of a file, or of a folder with a `FORK.md`; none if it is no fork.
    fn new(view: &View<'_>, batch: &Batch, (from, to): &(PathBuf, PathBuf)) -> Option<Self> {
        let both = [(from.clone(), to.clone()), (from.join("FORK.md"), to.join("FORK.md"))];
        let (path, target) = both.into_iter().find(|(path, _)| view.file_at(path).is_some())?;
        let old = view.file_at(&path)?.fork_file()?.file.name.clone();
        let user = &view.shared.user;
        let stays = project::project_of(&path) == project::project_of(&target)
            && project::role_of(&target, user) == Some(Role::Fork);
        let below = project::below_root(&target, user).filter(|below| stays && is_looked_at(below));
        let below = below.filter(|below| !is_companion(view, batch, &target, below));
        let new = below.map(|below| fork_name(&project::named_by(below)));
        Some(Self { path, target, old, new })
    }
}

/// Whether discovery comes upon a file that lies there below a root: not behind a dot, and not too deep.
fn is_looked_at(below: &Path) -> bool {
    let mut parts = below.components().map(|part| part.as_os_str().as_encoded_bytes());
    let folders = below.components().count().saturating_sub(1);
    folders <= project::MAX_DEPTH && !parts.any(|part| part.starts_with(b"."))
}

/// Whether a file will lie beside a `FORK.md`, or below one: what lies there is no fork of its own.
fn is_companion(view: &View<'_>, batch: &Batch, target: &Path, below: &Path) -> bool {
    let folders = below.components().count().saturating_sub(1);
    let mut forks = target.ancestors().skip(1).take(folders).map(|folder| folder.join("FORK.md"));
    forks.any(|fork| fork != target && batch.will_exist(view, &fork))
}

/// Whether a name can be written in `after`.
fn can_be_listed(name: &ForkName) -> bool {
    let text = name.as_str();
    !text.is_empty() && !text.contains(',') && text.trim() == text
}

/// Whether another file has the name, or will have it.
fn is_taken(view: &View<'_>, moved: &Move, new: &ForkName, batch: &[Move]) -> bool {
    let goes = |path: &Path| batch.iter().any(|other| other.path == path);
    let comes = batch.iter().any(|other| other.path != moved.path && other.new.as_ref() == Some(new));
    let listed = view.linkages().flat_map(|(_, linkage)| {
        let listing = &linkage.linked.listing;
        let sees_it = listing.iter().any(|listed| listed.path == moved.path);
        listing.iter().filter(move |_| sees_it)
    });
    let has = listed.filter(|listed| listed.name == *new && listed.state != State::Note);
    comes
        || has.into_iter().any(|listed| !goes(&listed.path))
        || (view.snapshot.exists(&moved.target) && !goes(&moved.target))
}
