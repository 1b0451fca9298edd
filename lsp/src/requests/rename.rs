//! `textDocument/prepareRename` and `textDocument/rename`: a fork's name is that of its file, so one changes with the
//! other, and so does every `after` that names it.

use std::path::{Path, PathBuf};

use autofork::compile::{FileKind, Listed, State, fork_name};
use autofork::ir::ForkName;
use autofork::project;
use autofork::text::{Span, is_invisible, visible};
use gen_lsp_types as lsp;

use super::Refusal;
use super::naming::{self, Naming};
use super::target::{self, Target};
use crate::uri;
use crate::view::{File, View};

/// A fork that is to be renamed.
struct Renamed {
    name: ForkName,
    path: PathBuf,
    /// The words that the client asked at.
    span: Span,
    /// Whether those words are the name, and not some text that it is read from.
    is_written: bool,
}

/// The first request: what would be renamed.
pub(crate) fn prepare(
    view: &View<'_>,
    params: &lsp::PrepareRenameParams,
) -> Result<Option<lsp::PrepareRenameResult>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let Some(renamed) = renamed(&file, file.text.offset(place.position)) else { return Ok(None) };
    if !renamed.is_written {
        return Ok(None);
    }
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
    if !renamed.is_written {
        return Err(not_replaceable(&file.path));
    }
    let new = fork_name(params.new_name.trim());
    if new == renamed.name {
        return Ok(None);
    }
    check_name(&new)?;
    if !view.shared.client.renames_files.is_there() {
        return Err(Refusal::new("a fork's name is that of its file, and this editor cannot rename files for us"));
    }
    if !view.snapshot.exists(&renamed.path) {
        return Err(Refusal::new("the fork is not on disk yet, so no file can be renamed: save it first"));
    }
    let target = moved(view, &renamed, &new);
    check_free(view, &renamed.path, &new, &target)?;
    let naming = Naming { path: &renamed.path, old: &renamed.name, new: &new };
    let naming::Renamed { edits, left } = naming::rename(view, &[naming]);
    if let Some(path) = left.first() {
        return Err(not_replaceable(path));
    }
    let (old_uri, new_uri) = (view.uri(&target.0), uri::of_path(&target.1));
    let options = Some(lsp::RenameFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) });
    let rename = lsp::RenameFile { old_uri, new_uri, options, annotation_id: None };
    Ok(Some(edits.finish(view, vec![rename])))
}

fn renamed(file: &File<'_>, offset: usize) -> Option<Renamed> {
    match target::at(file, offset)? {
        Target::After(name, span) => {
            let listed = file.named(name)?;
            let is_written = naming::is_written(span.of(file.text.as_str()), name);
            Some(Renamed { name: name.clone(), path: listed.path.clone(), span, is_written })
        }
        Target::Fence(span) => {
            let fork = &file.fork_file()?.file;
            let (name, path) = (fork.name.clone(), file.path.clone());
            (fork.kind != FileKind::Note).then_some(Renamed { name, path, span, is_written: true })
        }
        _ => None,
    }
}

fn not_replaceable(path: &Path) -> Refusal {
    let path = path.to_string_lossy();
    Refusal::new(format!(
        "`after` in {} is not written so that a name can be replaced; write it as a list first",
        visible(&path)
    ))
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

/// Refuses a name that another file has, wherever the fork is seen. Some systems keep no two names apart that differ in
/// case alone, and forks are shared.
fn check_free(view: &View<'_>, path: &Path, new: &ForkName, moved: &(PathBuf, PathBuf)) -> Result<(), Refusal> {
    let same = |left: &str, right: &str| left.to_lowercase() == right.to_lowercase();
    let same_path = |left: &Path, right: &Path| same(&left.to_string_lossy(), &right.to_string_lossy());
    let seen = view.linkages().filter(|(_, linkage)| linkage.linked.listing.iter().any(|listed| listed.path == path));
    let others: Vec<&Listed> =
        seen.flat_map(|(_, linkage)| &linkage.linked.listing).filter(|listed| listed.path != path).collect();
    let has_name = |listed: &&&Listed| listed.state != State::Note && same(listed.name.as_str(), new.as_str());
    if let Some(listed) = others.iter().find(has_name) {
        let message = format!(
            "there is a fork `{}` already: {}",
            visible(listed.name.as_str()),
            visible(&listed.path.to_string_lossy())
        );
        return Err(Refusal::new(message));
    }
    let (from, to) = moved;
    // In capital letters it may be the file itself that is there.
    let is_there = view.snapshot.exists(to) && !same_path(from, to);
    let there =
        if is_there { Some(to) } else { others.iter().find(|listed| same_path(&listed.path, to)).map(|it| &it.path) };
    match there {
        Some(path) => Err(Refusal::new(format!("there is a file {} already", visible(&path.to_string_lossy())))),
        None => Ok(()),
    }
}
