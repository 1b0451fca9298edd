//! A file system with texts in it that are not on disk yet.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Entry, EntryKind, FileSystem, Metadata, Stamp};

/// What another file system has and, where it has nothing, files that are yet to be saved, in folders that are yet to
/// be made. What is there already is seen as it is, also where a text stands in for it: who reads asks for that first.
#[derive(Debug, Clone, Copy)]
pub struct WithUnsaved<'a> {
    /// What is there.
    pub fs: &'a dyn FileSystem,
    /// The texts, by their absolute paths.
    pub texts: &'a BTreeMap<PathBuf, Arc<str>>,
}

impl WithUnsaved<'_> {
    /// The paths of the texts at and below `path`.
    fn below(&self, path: &Path) -> impl Iterator<Item = &Path> {
        let from = self.texts.range(path.to_path_buf()..).map(|(text, _)| text.as_path());
        from.take_while(move |text| text.starts_with(path))
    }

    /// `found`, or what `unsaved` has where nothing is there.
    fn or<T>(found: io::Result<T>, unsaved: impl FnOnce() -> Option<T>) -> io::Result<T> {
        found.or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => unsaved().ok_or(error),
            _ => Err(error),
        })
    }

    /// What a path will be.
    fn kind(&self, path: &Path) -> Option<EntryKind> {
        let first = self.below(path).next()?;
        Some(if first == path { EntryKind::File } else { EntryKind::Folder })
    }
}

impl FileSystem for WithUnsaved<'_> {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        let text = || self.texts.get(path).map(|text| text.as_bytes()[..text.len().min(limit)].to_vec());
        Self::or(self.fs.read(path, limit), text)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let metadata = || Some(Metadata { kind: self.kind(path)?, stamp: Stamp::default(), owner: None });
        Self::or(self.fs.metadata(path), metadata)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut names: Vec<_> =
            self.below(path).filter_map(|text| text.strip_prefix(path).ok()?.components().next()).collect();
        // Paths are in order, so what lies in one folder comes in one row.
        names.dedup();
        let mut entries = Self::or(self.fs.list(path), || (!names.is_empty()).then(Vec::new))?;
        for name in names {
            let name = name.as_os_str();
            if !entries.iter().any(|entry| entry.name == name)
                && let Some(kind) = self.kind(&path.join(name))
            {
                entries.push(Entry { name: name.to_owned(), kind });
            }
        }
        Ok(entries)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Self::or(self.fs.real_path(path), || self.kind(path).map(|_| path.to_path_buf()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Memory;

    #[test]
    fn texts_lie_beside_what_is_there_in_folders_that_are_not() {
        let mut disk = Memory::default();
        disk.write("/p/a.md", "old");
        let texts = ["/p/a.md", "/p/b/c.md", "/p/b/d/e.md", "/p/b.md", "/q/f.md"];
        let texts = texts.into_iter().map(|path| (PathBuf::from(path), Arc::from("new"))).collect();
        let both = WithUnsaved { fs: &disk, texts: &texts };

        let names = |path: &str| {
            let mut names: Vec<_> =
                both.list(Path::new(path)).unwrap().into_iter().map(|e| (e.name, e.kind)).collect();
            names.sort_by(|left, right| left.0.cmp(&right.0));
            names
        };
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        assert_eq!(names("/p"), [("a.md".into(), file), ("b".into(), folder), ("b.md".into(), file)]);
        assert_eq!(names("/p/b"), [("c.md".into(), file), ("d".into(), folder)]);
        assert_eq!(names("/q"), [("f.md".into(), file)]);
        assert!(both.list(Path::new("/r")).is_err());

        assert_eq!(both.read(Path::new("/p/a.md"), 9).unwrap(), b"old");
        assert_eq!(both.read(Path::new("/p/b.md"), 2).unwrap(), b"ne");
        assert_eq!(both.metadata(Path::new("/p/b/d")).unwrap().kind, folder);
        assert_eq!(both.real_path(Path::new("/q")).unwrap(), Path::new("/q"));
        assert!(both.metadata(Path::new("/p/b/d/x")).is_err() && both.real_path(Path::new("/p/c")).is_err());
    }
}
