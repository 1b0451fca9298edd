//! `workspace/willRenameFiles`: the client is about to rename files, and every `after` goes along.

use std::path::{Path, PathBuf};

use autofork::compile::{State, fork_name, spell};
use autofork::ir::ForkName;
use autofork::project::{self, Role};
use gen_lsp_types as lsp;

use super::Refusal;
use super::edits::Edits;
use super::references::waiting_for;
use crate::uri;
use crate::view::View;

/// The request. What is renamed along with others is seen as it will be when all of them are.
pub(crate) fn will_rename_files(
    view: &View<'_>,
    params: &lsp::RenameFilesParams,
) -> Result<Option<lsp::WorkspaceEdit>, Refusal> {
    let moves: Vec<Move> = params.files.iter().filter_map(|file| Move::new(view, file)).collect();
    let mut edits = Edits::default();
    for moved in &moves {
        let Some(new) = moved.new.as_ref().filter(|new| **new != moved.old && can_be_listed(new)) else { continue };
        // Where the name is taken, nothing may come to mean another fork.
        if is_taken(view, moved, new, &moves) {
            continue;
        }
        for (place, span) in waiting_for(view, &moved.old, &moved.path) {
            edits.replace(&place, span, spell(new.as_str()));
        }
    }
    if edits.is_empty() { Ok(None) } else { Ok(Some(edits.finish(view, Vec::new()))) }
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
    fn new(view: &View<'_>, file: &lsp::FileRename) -> Option<Self> {
        let (from, to) = (uri::to_path(&file.old_uri)?, uri::to_path(&file.new_uri)?);
        let both = [(from.clone(), to.clone()), (from.join("FORK.md"), to.join("FORK.md"))];
        let (path, target) = both.into_iter().find(|(path, _)| view.file_at(path).is_some())?;
        let old = view.file_at(&path)?.fork_file()?.file.name.clone();
        let user = &view.shared.user;
        let stays = project::project_of(&path) == project::project_of(&target)
            && project::role_of(&target, user) == Some(Role::Fork);
        let below = project::below_root(&target, user).filter(|_| stays && !is_companion(view, &target));
        let new = below.map(|below| fork_name(&project::named_by(below)));
        Some(Self { path, target, old, new })
    }
}

/// Whether a file will lie beside a `FORK.md`, or below one: what lies there is no fork of its own.
fn is_companion(view: &View<'_>, target: &Path) -> bool {
    let folders = project::below_root(target, &view.shared.user).map_or(0, |below| below.components().count() - 1);
    let mut forks = target.ancestors().skip(1).take(folders).map(|folder| folder.join("FORK.md"));
    forks.any(|fork| fork != target && view.file_at(&fork).is_some())
}

/// Whether a name can be written in `after`.
fn can_be_listed(name: &ForkName) -> bool {
    let text = name.as_str();
    !text.is_empty() && !text.contains(',') && text.trim() == text
}

/// Whether another file has the name, or will have it.
fn is_taken(view: &View<'_>, moved: &Move, new: &ForkName, moves: &[Move]) -> bool {
    let goes = |path: &Path| moves.iter().any(|other| other.path == path);
    let comes = moves.iter().any(|other| other.path != moved.path && other.new.as_ref() == Some(new));
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
