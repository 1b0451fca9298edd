//! `textDocument/prepareRename`, `textDocument/rename` and `workspace/willRenameFiles`: a fork's name is that of its
//! file, so one changes with the other, and so does every `after` that names it.

use std::path::{Path, PathBuf};

use autofork::compile::{FileKind, fork_name, spell};
use autofork::ir::ForkName;
use autofork::project::{self, Role};
use autofork::text::{Span, visible};
use gen_lsp_types as lsp;

use super::Refusal;
use super::edits::Edits;
use super::references::waiting_for;
use super::target::{self, Target};
use crate::uri;
use crate::view::{File, View};

/// A fork that is to be renamed.
struct Renamed {
    name: ForkName,
    path: PathBuf,
    /// The words that the client asked at.
    span: Span,
}

/// The first request: what would be renamed.
pub(crate) fn prepare(
    view: &View<'_>,
    params: &lsp::PrepareRenameParams,
) -> Result<Option<lsp::PrepareRenameResult>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let Some(renamed) = renamed(&file, file.text.offset(place.position)) else { return Ok(None) };
    let range = file.text.range(renamed.span);
    let placeholder = renamed.name.as_str().to_owned();
    Ok(Some(lsp::PrepareRenamePlaceholder { range, placeholder }.into()))
}

/// The second request: the edits.
pub(crate) fn rename(view: &View<'_>, params: &lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let Some(renamed) = renamed(&file, file.text.offset(place.position)) else {
        return Err(Refusal::new("there is no fork's name here"));
    };
    let new = fork_name(params.new_name.trim());
    if new == renamed.name {
        return Ok(None);
    }
    check_name(&new)?;
    if !view.shared.client.renames_files.is_there() {
        return Err(Refusal::new("a fork's name is that of its file, and this editor cannot rename files for us"));
    }
    let target = moved(&renamed, &new);
    check_free(view, &renamed.path, &new, &target.1)?;
    let edits = references(view, &renamed.name, &renamed.path, &new);
    let (old_uri, new_uri) = (view.uri(&target.0), uri::of_path(&target.1));
    let options = Some(lsp::RenameFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) });
    let rename = lsp::RenameFile { old_uri, new_uri, options, annotation_id: None };
    Ok(Some(edits.finish(view, vec![rename])))
}

/// The client is about to rename files: the edits that keep what names them right.
pub(crate) fn files(view: &View<'_>, params: &lsp::RenameFilesParams) -> Result<Option<lsp::WorkspaceEdit>, Refusal> {
    let mut all = Edits::default();
    for file in &params.files {
        let (Some(old), Some(new)) = (uri::to_path(&file.old_uri), uri::to_path(&file.new_uri)) else { continue };
        let path = [old.clone(), old.join("FORK.md")].into_iter().find(|path| view.file_at(path).is_some());
        let Some(path) = path else { continue };
        let Some(known) = view.file_at(&path).and_then(|file| Some(file.fork_file()?.file.name.clone())) else {
            continue;
        };
        let new_path = if path == old { new } else { new.join("FORK.md") };
        // What goes to another project, or is a fork no more, is not there under its new name either.
        let stays = project::project_of(&path) == project::project_of(&new_path)
            && project::role_of(&new_path, &view.shared.user) == Some(Role::Fork);
        if !stays {
            continue;
        }
        let name = fork_name(&stem(&new_path));
        // Where the name is taken, nothing may come to mean another fork.
        if name == known || check_name(&name).is_err() || check_free(view, &path, &name, &new_path).is_err() {
            continue;
        }
        for (place, span) in waiting_for(view, &known, &path) {
            all.replace(&place, span, spell(name.as_str()));
        }
    }
    if all.is_empty() { Ok(None) } else { Ok(Some(all.finish(view, Vec::new()))) }
}

fn renamed(file: &File<'_>, offset: usize) -> Option<Renamed> {
    match target::at(file, offset)? {
        Target::After(name, span) => {
            let listed = file.named(name)?;
            Some(Renamed { name: name.clone(), path: listed.path.clone(), span })
        }
        Target::Fence(span) => {
            let fork = &file.fork_file()?.file;
            (fork.kind != FileKind::Note).then(|| Renamed { name: fork.name.clone(), path: file.path.clone(), span })
        }
        _ => None,
    }
}

fn references(view: &View<'_>, old: &ForkName, path: &Path, new: &ForkName) -> Edits {
    let mut edits = Edits::default();
    for (place, span) in waiting_for(view, old, path) {
        edits.replace(&place, span, spell(new.as_str()));
    }
    edits
}

/// The name that a file would go by.
fn stem(path: &Path) -> String {
    let is_folder = path.file_name().is_some_and(|name| name == "FORK.md");
    let named = if is_folder { path.parent().and_then(Path::file_name) } else { path.file_stem() };
    named.unwrap_or_default().to_string_lossy().into_owned()
}

/// What to rename, and to what: the folder whose name the fork goes by, else the file. A `FORK.md` that lies in the root
/// itself goes by its own name, and the root is no fork's to move.
fn moved(renamed: &Renamed, new: &ForkName) -> (PathBuf, PathBuf) {
    let path = &renamed.path;
    let folder = path.parent().unwrap_or(path);
    let is_named_by_folder = path.file_name().is_some_and(|name| name == "FORK.md")
        && folder.file_name().is_some_and(|name| fork_name(&name.to_string_lossy()) == renamed.name);
    if is_named_by_folder {
        (folder.to_path_buf(), folder.with_file_name(new.as_str()))
    } else {
        (path.clone(), folder.join(format!("{new}.md")))
    }
}

/// A name that is fine for a file and needs no escaping anywhere.
fn check_name(name: &ForkName) -> Result<(), Refusal> {
    let text = name.as_str();
    match text {
        "" => return Err(Refusal::new("a fork needs a name")),
        "FORK" => return Err(Refusal::new("a file FORK.md goes by the name of its folder, so `FORK` names no fork")),
        _ => {}
    }
    let bad = text.starts_with('.')
        || text.len() > 200
        || text.contains(['/', '\\', ',', '"', '\'', '`'])
        || text.contains(char::is_control)
        || text != text.trim();
    if !bad {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "`{}` is no good name for a fork: leave out slashes, quotes, commas and a leading dot",
        visible(text)
    )))
}

/// Refuses a name that another file has, wherever the fork is seen.
fn check_free(view: &View<'_>, path: &Path, new: &ForkName, target: &Path) -> Result<(), Refusal> {
    let seen = view.linkages().filter(|(_, linkage)| linkage.linked.listing.iter().any(|listed| listed.path == path));
    let taken = seen.flat_map(|(_, linkage)| &linkage.linked.listing).find(|listed| {
        let is_note = listed.state == autofork::compile::State::Note;
        listed.name == *new && listed.path != path && !is_note
    });
    if let Some(listed) = taken {
        let message = format!(
            "there is a fork `{}` already: {}",
            visible(new.as_str()),
            visible(&listed.path.to_string_lossy())
        );
        return Err(Refusal::new(message));
    }
    if view.snapshot.exists(target) {
        return Err(Refusal::new(format!("there is a file {} already", visible(&target.to_string_lossy()))));
    }
    Ok(())
}
