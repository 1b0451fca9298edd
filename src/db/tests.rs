//! Tests of the workspace.

use std::io;
use std::sync::Mutex;

use super::*;
use crate::project::{Entry, EntryKind, Memory, Metadata};

/// A file system in memory that can be changed from outside and remembers what was read.
#[derive(Debug, Default)]
struct Watched {
    files: Mutex<Memory>,
    read: Mutex<Vec<PathBuf>>,
    /// The name of a file that every folder lists and none has: it went between being listed and being read.
    vanished: Option<&'static str>,
    looked_at: Mutex<Vec<PathBuf>>,
}

impl Watched {
    fn write(&self, path: &str, text: &str) {
        self.files.lock().unwrap().write(path, text);
    }

    fn take_looks(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.looked_at.lock().unwrap())
    }

    fn take_read(&self) -> usize {
        std::mem::take(&mut *self.read.lock().unwrap()).len()
    }
}

impl FileSystem for Watched {
    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.read.lock().unwrap().push(path.to_path_buf());
        self.files.lock().unwrap().read(path, limit)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.looked_at.lock().unwrap().push(path.to_path_buf());
        self.files.lock().unwrap().metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = self.files.lock().unwrap().list(path)?;
        entries.extend(self.vanished.map(|name| Entry { name: name.into(), kind: EntryKind::File }));
        Ok(entries)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.lock().unwrap().real_path(path)
    }
}

const FORK: &str = "---\nfork: true\n---\nTidy.\n";

fn load(workspace: &mut Workspace) -> Loaded {
    workspace.load(&LaunchDir::new("/p"), &UserDirs::new(None, Some("/home".into()), None))
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.program.forks().map(|fork| fork.name.as_str()).collect()
}

#[test]
fn a_file_that_goes_between_being_listed_and_being_read_is_no_file_any_more() {
    let files = Arc::new(Watched { vanished: Some("gone.md"), ..Watched::default() });
    files.write("/p/.autofork/forks/a.md", FORK);
    let loaded = load(&mut Workspace::new(files.clone()));
    assert_eq!(names(&loaded), ["a"]);
    assert_eq!((loaded.listing.len(), loaded.diagnostics.as_slice()), (1, [].as_slice()));
    let found = project::discover(&*files, Path::new("/p/.autofork/forks"));
    assert_eq!(found.candidates.len(), 2, "it was listed");
}

#[test]
fn only_what_changed_is_read_again() {
    let files = Arc::new(Watched::default());
    files.write("/p/.autofork/forks/a.md", FORK);
    files.write("/p/.autofork/forks/b.md", FORK);
    files.write("/p/.autofork/config.toml", "wake_debounce = 1");
    let mut workspace = Workspace::new(files.clone());
    let first = load(&mut workspace);
    assert_eq!((names(&first), files.take_read()), (vec!["a", "b"], 3));
    let second = load(&mut workspace);
    assert_eq!((&second.program, files.take_read()), (&first.program, 0));

    files.write("/p/.autofork/forks/b.md", "---\nfork: false\n---\n");
    files.write("/p/.autofork/forks/c.md", FORK);
    let third = load(&mut workspace);
    assert_eq!((names(&third), files.take_read()), (vec!["a", "c"], 2));
    assert_eq!(third.in_state(State::Off).count(), 1);
}

#[test]
fn a_configuration_that_comes_and_goes_is_noticed() {
    let files = Arc::new(Watched::default());
    files.write("/p/.autofork/forks/a.md", FORK);
    let mut workspace = Workspace::new(files.clone());
    let debounce = |workspace: &mut Workspace| load(workspace).program.config().wake_debounce.get();
    assert_eq!(debounce(&mut workspace), 5);
    files.write("/home/.autofork/config.toml", "wake_debounce = 1");
    assert_eq!(debounce(&mut workspace), 1);
    files.write("/p/.autofork/config.toml", "wake_debounce = 2");
    assert_eq!(debounce(&mut workspace), 2);
    files.files.lock().unwrap().remove(Path::new("/p/.autofork/config.toml"));
    assert_eq!(debounce(&mut workspace), 1);
}

#[test]
fn a_text_that_is_not_saved_stands_in_for_the_one_on_disk() {
    let files = Arc::new(Watched::default());
    files.write("/p/.autofork/forks/a.md", FORK);
    let mut workspace = Workspace::new(files);
    let path = Path::new("/p/.autofork/forks/a.md");
    assert_eq!(load(&mut workspace).diagnostics.len(), 0);
    workspace.set_overlay(path, Some("---\nfork: true\n---\n".into()));
    assert_eq!(load(&mut workspace).diagnostics.len(), 1);
    workspace.set_overlay(path, None);
    assert_eq!(load(&mut workspace).diagnostics.len(), 0);
}

#[test]
fn between_two_looks_the_disk_is_asked_once_for_a_file_that_is_named() {
    let named = "---\nfork: true\n---\nRead [it](GUIDE.md).\n";
    let files = Arc::new(Watched::default());
    for fork in ["a", "b", "c"] {
        files.write(&format!("/p/.autofork/forks/{fork}.md"), named);
    }
    files.write("/p/GUIDE.md", "");
    let mut workspace = Workspace::new(files.clone());
    let (launch, user) = (LaunchDir::new("/p"), UserDirs::new(None, Some("/home".into()), None));
    let scope = workspace.look(&launch, &user);
    let found = |workspace: &Workspace| workspace.snapshot().linkage(&scope).linked.diagnostics.len();
    assert_eq!(found(&workspace), 0);
    let asked = files.take_looks().into_iter().filter(|path| path.ends_with("GUIDE.md"));
    assert_eq!(asked.collect::<Vec<_>>(), ["/p/.autofork/forks/GUIDE.md", "/p/GUIDE.md"].map(PathBuf::from));

    let other = named.replace("fork: true", "fork: true\nx: 1").into();
    workspace.set_overlay(Path::new("/p/.autofork/forks/a.md"), Some(other));
    files.files.lock().unwrap().remove(Path::new("/p/GUIDE.md"));
    assert_eq!((found(&workspace), files.take_looks()), (1, Vec::new()), "an edit looks at no disk");
    assert_eq!(load(&mut workspace).diagnostics.len(), 4, "the next look finds it gone");
}

#[test]
fn a_load_can_be_done_on_another_thread() {
    let mut workspace = Workspace::new(Arc::new(Memory::default()));
    let loaded = std::thread::spawn(move || load(&mut workspace)).join().expect("no panic");
    assert!(loaded.program.is_empty());
}
