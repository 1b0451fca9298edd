//! Discovery: the candidates below a root.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind, FileSystem, named_by};

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

/// So many files and folders below a root are looked at. A link can lead to whole disks.
pub const MAX_ENTRIES: usize = 100_000;

/// What was found below a root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// The candidates, in byte order of what lies in each folder.
    pub candidates: Vec<Candidate>,
    /// Folders that are nested too deep and were not looked into.
    pub too_deep: Vec<PathBuf>,
    /// Links to folders that the root lies in; they were not followed.
    pub circles: Vec<PathBuf>,
    /// The first folder that was not looked into any more, if there is more than [`MAX_ENTRIES`].
    pub too_much: Option<PathBuf>,
    /// What could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Looks for candidates below a root. Each real file and folder is visited once, so links cannot lead in circles.
pub fn discover(fs: &dyn FileSystem, root: &Path) -> Discovered {
    let real = fs.real_path(root).unwrap_or_else(|_| root.to_path_buf());
    let mut walk = Walk {
        fs,
        root,
        real_root: real.clone(),
        folders: HashSet::new(),
        files: None,
        too_deep: Vec::new(),
        entries: 0,
        found: Discovered::default(),
    };
    walk.folder(root, &real, 0);
    walk.finish()
}

struct Walk<'a> {
    fs: &'a dyn FileSystem,
    root: &'a Path,
    real_root: PathBuf,
    /// Real paths of folders that were visited.
    folders: HashSet<PathBuf>,
    /// Real paths of files that were visited, from the first link on: without links none is met twice.
    files: Option<HashSet<PathBuf>>,
    /// Folders that are nested too deep where they were met, with their real paths. Links may lead there on a shorter way.
    too_deep: Vec<(PathBuf, PathBuf)>,
    /// How many files and folders were listed.
    entries: usize,
    found: Discovered,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, real: &Path, depth: usize) {
        if !self.folders.insert(real.to_path_buf()) {
            return;
        }
        if self.entries > MAX_ENTRIES {
            self.found.too_much.get_or_insert_with(|| path.to_path_buf());
            return;
        }
        let mut entries = match self.fs.list(path) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(path, &error),
        };
        self.entries += entries.len();
        entries.sort_by(|left, right| left.name.as_encoded_bytes().cmp(right.name.as_encoded_bytes()));
        entries.retain(|entry| !entry.name.as_encoded_bytes().starts_with(b"."));
        let children: Vec<Child> = entries.into_iter().filter_map(|entry| self.child(path, entry)).collect();
        let is_fork_file = |child: &&Child| child.name == "FORK.md" && child.kind == EntryKind::File;
        // The root itself is no fork, whatever lies in it.
        if let Some(fork) = children.iter().find(is_fork_file).filter(|_| depth > 0) {
            return self.candidate(path.join("FORK.md"), real, fork);
        }
        for child in children {
            match child.kind {
                EntryKind::Folder => self.child_folder(path.join(&child.name), &child.real(real), depth),
                EntryKind::File if is_markdown(&child.name) => {
                    self.candidate(path.join(&child.name), real, &child);
                }
                _ => {}
            }
        }
    }

    fn child_folder(&mut self, path: PathBuf, real: &Path, depth: usize) {
        if self.real_root != real && self.real_root.starts_with(real) {
            self.found.circles.push(path);
        } else if depth < MAX_DEPTH {
            self.folder(&path, real, depth + 1);
        } else {
            self.too_deep.push((path, real.to_path_buf()));
        }
    }

    fn finish(mut self) -> Discovered {
        for (path, real) in self.too_deep {
            if self.folders.insert(real) {
                self.found.too_deep.push(path);
            }
        }
        self.found
    }

    /// What an entry is once links are followed.
    fn child(&mut self, folder: &Path, entry: Entry) -> Option<Child> {
        let Entry { name, kind } = entry;
        if kind != EntryKind::Link {
            return Some(Child { name, kind, real: None });
        }
        self.remember_files();
        let path = folder.join(&name);
        match self.fs.metadata(&path) {
            Ok(found) => {
                let real = self.fs.real_path(&path).unwrap_or(path);
                Some(Child { name, kind: found.kind, real: Some(real) })
            }
            Err(error) if is_markdown(&name) => {
                let is_lost = error.kind() == std::io::ErrorKind::NotFound;
                let reason = if is_lost { "it is a link to nothing".to_owned() } else { reason(&error) };
                self.found.unreadable.push((path, reason));
                None
            }
            Err(_) => None,
        }
    }

    /// Begins to remember which files were visited. Until now no link was met, so a path below the root is a real one
    /// below the real root.
    fn remember_files(&mut self) {
        if self.files.is_none() {
            let below = |candidate: &Candidate| candidate.path.strip_prefix(self.root).ok().map(Path::to_path_buf);
            let visited = self.found.candidates.iter().filter_map(below).map(|below| self.real_root.join(below));
            self.files = Some(visited.collect());
        }
    }

    fn candidate(&mut self, path: PathBuf, real_folder: &Path, child: &Child) {
        if self.files.as_mut().is_none_or(|files| files.insert(child.real(real_folder))) {
            let name = named_by(path.strip_prefix(self.root).unwrap_or(&path));
            self.found.candidates.push(Candidate { path, name });
        }
    }

    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.found.unreadable.push((path.to_path_buf(), reason(error)));
    }
}

struct Child {
    name: OsString,
    kind: EntryKind,
    /// Where a link leads.
    real: Option<PathBuf>,
}

impl Child {
    /// Its real path, given that of its folder. Where there is no link, that needs no look at the disk.
    fn real(&self, folder: &Path) -> PathBuf {
        self.real.clone().unwrap_or_else(|| folder.join(&self.name))
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
        assert_eq!(
            names(&["b.md", "a.md", "notes.txt", "deep/review/FORK.md", "deep/review/LENS.md"]),
            ["a", "b", "review"]
        );
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

    #[test]
    fn what_is_too_much_is_left_where_it_begins() {
        let mut memory = Memory::default();
        for number in 0..=MAX_ENTRIES {
            memory.write(format!("/root/a/{number}.txt"), "");
        }
        memory.write("/root/a.md", "");
        memory.write("/root/b/lost.md", "");
        let found = discover(&memory, Path::new("/root"));
        assert_eq!(found.candidates.len(), 1);
        assert_eq!(found.too_much, Some(PathBuf::from("/root/b")));
    }
}
