//! `textDocument/prepareRename` and `textDocument/rename`: a fork's name is that of its file, so one changes with the
//! other, and so does every `after` that names it.

use std::path::{Path, PathBuf};

use autofork::compile::{FileKind, fork_name, spell};
use autofork::ir::ForkName;
use autofork::project;
use autofork::text::{Span, is_invisible, visible};
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
    let target = moved(view, &renamed, &new);
    check_free(view, &renamed.path, &new, &target.1)?;
    let edits = references(view, &renamed.name, &renamed.path, &new);
    let (old_uri, new_uri) = (view.uri(&target.0), uri::of_path(&target.1));
    let options = Some(lsp::RenameFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) });
    let rename = lsp::RenameFile { old_uri, new_uri, options, annotation_id: None };
    Ok(Some(edits.finish(view, vec![rename])))
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

/// What to rename, and to what: the folder whose name the fork goes by, else the file. A `FORK.md` that lies in the root
/// itself goes by its own name, and the root is no fork's to move.
fn moved(view: &View<'_>, renamed: &Renamed, new: &ForkName) -> (PathBuf, PathBuf) {
    let path = &renamed.path;
    let folder = path.parent().unwrap_or(path);
    let below = project::below_root(path, &view.shared.user);
    if below.is_some_and(|below| below.ends_with("FORK.md") && below.components().count() > 1) {
        (folder.to_path_buf(), folder.with_file_name(new.as_str()))
    } else {
        (path.clone(), folder.join(format!("{new}.md")))
    }
}

/// A name that is fine for a file on every system, and needs no escaping anywhere: forks are shared.
fn check_name(name: &ForkName) -> Result<(), Refusal> {
    let text = name.as_str();
    let refuse = |why: &str| Err(Refusal::new(format!("`{}` is no good name for a fork: {why}", visible(text))));
    if text.is_empty() {
        return Err(Refusal::new("a fork needs a name"));
    }
    if text == "FORK" {
        return Err(Refusal::new("a file FORK.md goes by the name of its folder, so `FORK` names no fork"));
    }
    if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
        return refuse("leave out the `.md`, which belongs to the file");
    }
    if text.contains(|c: char| c.is_control() || is_invisible(c)) {
        return refuse("there is a character in it that cannot be seen");
    }
    if text.contains(['/', '\\', ',', '"', '\'', '`', ':', '*', '?', '<', '>', '|']) {
        return refuse("leave out slashes, quotes, commas and what Windows keeps out of files' names");
    }
    if text.starts_with('.') || text.ends_with('.') || text != text.trim() {
        return refuse("it may not begin or end with a dot or a blank");
    }
    let stem = text.split('.').next().unwrap_or(text);
    if DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return refuse("on Windows it names a device");
    }
    if text.len() > 200 { refuse("it is too long") } else { Ok(()) }
}

/// Names that Windows keeps for devices, whatever extension follows them.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1",
    "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

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
