//! Where forks and configuration are looked for.

use std::path::{Component, Path, PathBuf};

use super::{EntryKind, FileSystem};
use crate::ir::{LaunchDir, ProjectRoot};

/// The folder of a project, or of the user, that holds forks and configuration.
const BASE: &str = ".autofork";

/// Whose files we read: the user's own base folder, and the user that roots must belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    /// The user's base folder: `~/.autofork`, or what `AUTOFORK_HOME` names. None for a user without a home.
    pub base: Option<PathBuf>,
    /// The user; roots that belong to somebody else are not read. None to read every root.
    pub user: Option<u32>,
}

impl UserDirs {
    /// From the values of `AUTOFORK_HOME` and `HOME` and the user's number. A base that is not absolute is ignored.
    pub fn new(autofork_home: Option<PathBuf>, home: Option<PathBuf>, user: Option<u32>) -> Self {
        let absolute = |path: &PathBuf| path.is_absolute();
        let base = autofork_home.filter(absolute).or_else(|| home.filter(absolute).map(|home| home.join(BASE)));
        Self { base, user }
    }
}

/// A folder that forks are looked for in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub path: PathBuf,
    /// Set if it is not read because it belongs to another user.
    pub foreign: bool,
}

/// The roots for sessions launched in a folder: its own, those of its ancestors, the user's; each real folder once.
pub fn roots(fs: &dyn FileSystem, launch: &LaunchDir, user: &UserDirs) -> Vec<Root> {
    let of_ancestors = launch.as_path().ancestors().map(|ancestor| ancestor.join(BASE));
    let mut seen = Vec::new();
    let mut roots = Vec::new();
    for base in of_ancestors.chain(user.base.clone()) {
        let path = base.join("forks");
        let Ok(found) = fs.metadata(&path) else { continue };
        let Ok(real) = fs.real_path(&path) else { continue };
        if found.kind == EntryKind::Folder && !seen.contains(&real) {
            let foreign = matches!((found.owner, user.user), (Some(owner), Some(user)) if owner != user);
            seen.push(real);
            roots.push(Root { path, foreign });
        }
    }
    roots
}

/// The root of the project: the nearest ancestor with `.autofork/`, the user's own base aside; else the nearest with
/// `.git`; else the launch folder itself.
pub fn project_root(fs: &dyn FileSystem, launch: &LaunchDir, user: &UserDirs) -> ProjectRoot {
    let is_users = |base: &Path| {
        let real = |path: &Path| fs.real_path(path).ok();
        user.base.as_deref().is_some_and(|own| own == base || (real(own).is_some() && real(own) == real(base)))
    };
    let has_base = |folder: &&Path| {
        let base = folder.join(BASE);
        fs.metadata(&base).is_ok_and(|found| found.kind == EntryKind::Folder) && !is_users(&base)
    };
    let has_git = |folder: &&Path| fs.metadata(&folder.join(".git")).is_ok();
    let launch = launch.as_path();
    let found = launch.ancestors().find(has_base).or_else(|| launch.ancestors().find(has_git));
    ProjectRoot::new(found.unwrap_or(launch))
}

/// Where the two layers of configuration would be: the user's and the project's.
pub fn config_paths(project: &ProjectRoot, user: &UserDirs) -> (Option<PathBuf>, PathBuf) {
    let user = user.base.as_ref().map(|base| base.join("config.toml"));
    (user, project.as_path().join(BASE).join("config.toml"))
}

/// An absolute path without `.` and `..`, links left as they are.
pub fn cleaned(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            part => cleaned.push(part),
        }
    }
    cleaned
}

/// The folder whose `.autofork` a path lies in, if it lies in one.
pub fn project_of(path: &Path) -> Option<PathBuf> {
    let base = path.ancestors().find(|ancestor| ancestor.file_name().is_some_and(|name| name == BASE))?;
    base.parent().map(Path::to_path_buf)
}

/// The base folders that a path may lie in.
fn bases_of(path: &Path, user: &UserDirs) -> impl Iterator<Item = PathBuf> {
    project_of(path).map(|project| project.join(BASE)).into_iter().chain(user.base.clone())
}

/// What a file is by its place alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It lies in a root and may be a fork.
    Fork,
    /// It is a layer of the configuration.
    Config,
}

/// What a path would be to us; none for files that are not ours.
pub fn role_of(path: &Path, user: &UserDirs) -> Option<Role> {
    let is_markdown = path.extension().is_some_and(|extension| extension == "md");
    bases_of(path, user).find_map(|base| match path.strip_prefix(&base) {
        Ok(rest) if rest == Path::new("config.toml") => Some(Role::Config),
        Ok(rest) if is_markdown && rest.starts_with("forks") => Some(Role::Fork),
        _ => None,
    })
}

/// The name that a file goes by, which lies at `below` in a root: its stem, or the name of its folder if it is a
/// `FORK.md`; the root itself gives its name to none. Not yet in normal form.
pub fn named_by(below: &Path) -> String {
    let folder = below.parent().and_then(Path::file_name).filter(|_| below.ends_with("FORK.md"));
    folder.or_else(|| below.file_stem()).unwrap_or_default().to_string_lossy().into_owned()
}

/// What a file in a root is called below that root, as [`named_by`] wants it.
pub fn below_root<'a>(path: &'a Path, user: &UserDirs) -> Option<&'a Path> {
    bases_of(path, user).find_map(|base| path.strip_prefix(base.join("forks")).ok())
}

/// Folders that hold many files and never forks.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// The folders at and below `top` that have an `.autofork` folder, in byte order. Links are not followed, and folders
/// with a dot in front of their name are not looked into.
pub fn projects_below(fs: &dyn FileSystem, top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![top.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs.list(&folder).unwrap_or_default() {
            if entry.kind != EntryKind::Folder {
                continue;
            }
            if entry.name == BASE {
                found.push(folder.clone());
            } else if !entry.name.as_encoded_bytes().starts_with(b".")
                && !SKIPPED.iter().any(|name| entry.name == *name)
            {
                open.push(folder.join(entry.name));
            }
        }
    }
    found.sort();
    found
}
