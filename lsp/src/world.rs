//! What the main loop owns: the workspace, the folders, and what is open in the client.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::db::{Overlaid, Scope, Workspace};
use autofork::ir::LaunchDir;
use autofork::project::{self, FileSystem, UserDirs};
use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::client::Client;
use crate::findings::Changed;
use crate::uri;
use crate::view::{Open, Shared};

/// The state that messages change, one after the other.
pub(crate) struct World {
    fs: Arc<dyn FileSystem>,
    pub(crate) workspace: Workspace,
    folders: Vec<PathBuf>,
    /// The launch folders at and below the workspace's folders.
    launches: BTreeSet<PathBuf>,
    pub(crate) shared: Shared,
    /// What may have changed since diagnostics were last computed; none if nothing did.
    pub(crate) changed: Option<Changed>,
    /// Whether the disk has to be looked at before anything is computed.
    stale: Staleness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Staleness {
    /// Everything is as it was.
    Fresh,
    /// Files may have come, gone or changed.
    Files,
    /// Whole projects may have come or gone.
    Projects,
}

impl World {
    pub(crate) fn new(fs: Arc<dyn FileSystem>, workspace: Workspace, user: UserDirs) -> Self {
        Self {
            fs,
            workspace,
            folders: Vec::new(),
            launches: BTreeSet::new(),
            shared: Shared {
                scopes: Arc::default(),
                documents: Arc::default(),
                spellings: Arc::default(),
                client: Arc::default(),
                user: Arc::new(user),
            },
            changed: None,
            stale: Staleness::Fresh,
        }
    }

    /// Begins with a client and its folders.
    pub(crate) fn begin(&mut self, client: Client, folders: Vec<PathBuf>) {
        self.shared.client = Arc::new(client);
        self.set_folders(folders);
    }

    /// Adds and removes folders of the workspace.
    pub(crate) fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut folders = std::mem::take(&mut self.folders);
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
        self.set_folders(folders);
    }

    fn set_folders(&mut self, mut folders: Vec<PathBuf>) {
        let mut seen = BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        self.folders = folders;
        self.disk_changed(Staleness::Projects);
    }

    /// Whether a path is one that we look after.
    pub(crate) fn attaches_to(&self, path: &Path) -> bool {
        project::role_of(path, &self.shared.user).is_some()
    }

    /// A document was opened. A spelling of its path that nobody uses any more, if there is one, comes with the path.
    pub(crate) fn open(&mut self, uri: &Uri, version: i32, text: String) -> Option<(PathBuf, Uri)> {
        let path = uri::to_path(uri).filter(|path| self.attaches_to(path))?;
        let has_mark = text.starts_with(autofork::text::BYTE_ORDER_MARK);
        let before = self.shared.uri(&path);
        Arc::make_mut(&mut self.shared.spellings).insert(path.clone(), uri.clone());
        let documents = Arc::make_mut(&mut self.shared.documents);
        let uris = documents.remove(&path).map_or_else(Vec::new, |open| open.uris);
        let uris: Vec<Uri> = uris.into_iter().filter(|other| other != uri).chain([uri.clone()]).collect();
        let unused = (!uris.contains(&before)).then(|| (path.clone(), before));
        documents.insert(path.clone(), Open { uris, version, has_mark });
        self.put(path, Some(text.into()));
        // It may be a file that is not on disk, or one that came since.
        self.disk_changed(Staleness::Files);
        unused
    }

    /// A document was edited. Changes are made one after the other, as the client made them.
    pub(crate) fn edit(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let Some(path) = uri::to_path(uri).filter(|path| self.shared.documents.contains_key(path)) else { return };
        let before = self.workspace.overlay(&path).cloned().unwrap_or_default();
        let text = apply(&before, changes, self.shared.client.encoding);
        if let Some(open) = Arc::make_mut(&mut self.shared.documents).get_mut(&path) {
            open.version = version;
            open.has_mark = text.starts_with(autofork::text::BYTE_ORDER_MARK);
        }
        self.put(path, Some(text.into()));
    }

    /// A document was closed: what is on disk counts again, unless the file is open under another spelling. Then its
    /// path comes back.
    pub(crate) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = uri::to_path(uri)?;
        let documents = Arc::make_mut(&mut self.shared.documents);
        let open = documents.get_mut(&path)?;
        if open.uris.len() > 1 && open.uris.contains(uri) {
            open.uris.retain(|other| other != uri);
            let left = open.uris.last().cloned()?;
            Arc::make_mut(&mut self.shared.spellings).insert(path.clone(), left);
            return Some(path);
        }
        documents.remove(&path);
        self.put(path, None);
        None
    }

    /// Files may have changed on disk.
    pub(crate) fn files_changed<'a>(&mut self, uris: impl IntoIterator<Item = &'a Uri>) {
        for path in uris.into_iter().filter_map(uri::to_path) {
            let known = project::project_of(&path).is_none_or(|project| {
                self.launches.contains(&project)
                    || self.shared.user.base.as_ref().is_some_and(|base| path.starts_with(base))
            });
            self.disk_changed(if known { Staleness::Files } else { Staleness::Projects });
        }
    }

    /// Something was saved, or the client says no more than that.
    pub(crate) fn something_changed(&mut self) {
        self.disk_changed(Staleness::Files);
    }

    fn put(&mut self, path: PathBuf, text: Option<Arc<str>>) {
        if self.workspace.set_overlay(&path, text) == Overlaid::Unseen {
            self.disk_changed(Staleness::Files);
        }
        self.changed.get_or_insert_default().texts.insert(path);
    }

    fn disk_changed(&mut self, how: Staleness) {
        self.stale = self.stale.max(how);
        self.changed.get_or_insert_default().disk = true;
    }

    /// Looks at the disk, if there is reason to.
    pub(crate) fn refresh(&mut self) {
        if self.stale == Staleness::Fresh {
            return;
        }
        if self.stale == Staleness::Projects {
            let below = self.folders.iter().flat_map(|folder| project::projects_below(&*self.fs, folder));
            self.launches = below.chain(self.folders.iter().cloned()).collect();
        }
        self.stale = Staleness::Fresh;
        let mut launches: BTreeSet<PathBuf> = self.launches.clone();
        let base = self.shared.user.base.as_deref();
        let is_users = |path: &&PathBuf| base.is_some_and(|base| path.starts_with(base));
        let (users, others): (Vec<_>, Vec<_>) = self.shared.documents.keys().partition(is_users);
        launches.extend(others.into_iter().filter_map(|path| project::project_of(path)));
        // What the user has for all projects is seen from every folder, or else from where it lies.
        if launches.is_empty() && !users.is_empty() {
            launches.extend(base.and_then(Path::parent).map(Path::to_path_buf));
        }
        let scopes: Vec<Scope> = launches
            .into_iter()
            .map(|launch| self.workspace.look(&LaunchDir::new(launch), &self.shared.user))
            .collect();
        self.shared.scopes = scopes.into();
    }

    /// What is open at a path.
    pub(crate) fn document(&self, path: &Path) -> Option<&Open> {
        self.shared.documents.get(path)
    }

    /// The patterns of files to be told of.
    pub(crate) fn watched(&self) -> Vec<serde_json::Value> {
        let mut watched = vec![
            serde_json::json!({ "globPattern": "**/.autofork/**" }),
            serde_json::json!({ "globPattern": "**/*.md" }),
        ];
        if let Some(base) = &self.shared.user.base {
            let pattern = if self.shared.client.watches_elsewhere.is_there() {
                serde_json::json!({ "baseUri": uri::of_path(base), "pattern": "**" })
            } else {
                format!("{}/**", base.display()).into()
            };
            watched.push(serde_json::json!({ "globPattern": pattern }));
        }
        watched
    }
}

/// The text after the client's changes.
fn apply(before: &str, changes: Vec<TextDocumentContentChangeEvent>, encoding: crate::position::Encoding) -> String {
    let mut text = before.to_owned();
    for change in changes {
        match change {
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                let start = encoding.offset_in(&text, part.range.start);
                let end = encoding.offset_in(&text, part.range.end).max(start);
                text.replace_range(start..end, &part.text);
            }
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => text = whole.text,
        }
    }
    text
}
