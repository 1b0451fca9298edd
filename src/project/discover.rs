//! Discovery: the candidates below a root.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{EntryKind, FileSystem};

/// Folders may be nested so deep below a root.
pub const MAX_DEPTH: usize = 8;

/// A file that may be a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// Its stem, or its folder's name if it is a `FORK.md`; not yet in normal form.
    pub name: String,
}

/// What was found below a root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// The candidates, in byte order of what lies in each folder.
    pub candidates: Vec<Candidate>,
    /// Folders that are nested too deep and were not looked into.
    pub too_deep: Vec<PathBuf>,
    /// What could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Looks for candidates below a root. Each real file and folder is visited once, so links cannot lead in circles.
pub fn discover(fs: &dyn FileSystem, root: &Path) -> Discovered {
    let mut walk = Walk { fs, seen: HashSet::new(), linked: false, found: Discovered::default() };
    walk.folder(root, 0);
    walk.found
}

struct Walk<'a> {
    fs: &'a dyn FileSystem,
    /// Real paths that were visited.
    seen: HashSet<PathBuf>,
    /// Whether a link was met; before that no file can be met twice.
    linked: bool,
    found: Discovered,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, depth: usize) {
        if !self.first_visit(path) {
            return;
        }
        let mut entries = match self.fs.list(path) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(path, &error),
        };
        entries.sort_by(|left, right| left.name.as_encoded_bytes().cmp(right.name.as_encoded_bytes()));
        entries.retain(|entry| !entry.name.as_encoded_bytes().starts_with(b"."));
        // A link is followed before it is known what it is.
        for entry in &mut entries {
            if entry.kind == EntryKind::Link {
                self.linked = true;
                let target = path.join(&entry.name);
                match self.fs.metadata(&target) {
                    Ok(found) => entry.kind = found.kind,
                    Err(error) if is_markdown(&entry.name) => self.unreadable(&target, &error),
                    Err(_) => {}
                }
            }
        }
        let is_fork_file = |entry: &&super::Entry| entry.name == "FORK.md" && entry.kind == EntryKind::File;
        // The root itself is no fork, whatever lies in it.
        if depth > 0 && entries.iter().any(|entry| is_fork_file(&entry)) {
            let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
            return self.candidate(path.join("FORK.md"), name.into_owned());
        }
        for entry in entries {
            let child = path.join(&entry.name);
            match entry.kind {
                EntryKind::Folder if depth >= MAX_DEPTH => {
                    if self.first_visit(&child) {
                        self.found.too_deep.push(child);
                    }
                }
                EntryKind::Folder => self.folder(&child, depth + 1),
                EntryKind::File if is_markdown(&entry.name) => {
                    let name = child.file_stem().map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
                    self.candidate(child, name);
                }
                _ => {}
            }
        }
    }

    fn candidate(&mut self, path: PathBuf, name: String) {
        if !self.linked || self.first_visit(&path) {
            self.found.candidates.push(Candidate { path, name });
        }
    }

    fn first_visit(&mut self, path: &Path) -> bool {
        let real = self.fs.real_path(path).unwrap_or_else(|_| path.to_path_buf());
        self.seen.insert(real)
    }

    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.found.unreadable.push((path.to_path_buf(), reason(error)));
    }
}

/// Why something could not be read, without the number of the error.
pub(crate) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it is not there".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or("it cannot be read").to_lowercase()
        }
    }
}

fn is_markdown(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b".md") && name.len() > 3
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        let mut memory = Memory::default();
        for file in files {
            memory.write(Path::new("/root").join(file), "");
        }
        discover(&memory, Path::new("/root")).candidates.into_iter().map(|candidate| candidate.name).collect()
    }

    #[test]
    fn files_are_named_by_their_stem_and_folders_with_a_fork_file_by_themselves() {
        assert_eq!(names(&["b.md", "a.md", "notes.txt", "deep/review/FORK.md", "deep/review/LENS.md"]), ["a", "b", "review"]);
    }

    #[test]
    fn dot_names_are_skipped() {
        assert_eq!(names(&[".hidden.md", ".git/x.md", "x.md", ".md"]), ["x"]);
    }

    #[test]
    fn entries_come_in_byte_order() {
        assert_eq!(names(&["b/x.md", "a.md", "B.md", "b.md", "ä.md"]), ["B", "a", "x", "b", "ä"]);
    }

    #[test]
    fn a_fork_file_in_the_root_itself_is_a_fork_of_that_name() {
        assert_eq!(names(&["FORK.md", "x.md"]), ["FORK", "x"]);
    }

    #[test]
    fn the_eighth_folder_is_read_and_the_ninth_is_not() {
        let mut memory = Memory::default();
        memory.write("/root/1/2/3/4/5/6/7/8/edge.md", "");
        memory.write("/root/1/2/3/4/5/6/7/8/9/lost.md", "");
        memory.write("/root/1/2/3/4/5/6/7/8/9/10/lost.md", "");
        let found = discover(&memory, Path::new("/root"));
        assert_eq!(found.candidates.len(), 1);
        assert_eq!(found.too_deep, [PathBuf::from("/root/1/2/3/4/5/6/7/8/9")]);
    }
}
