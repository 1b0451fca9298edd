//! What requests are answered from: one state of the workspace, and what is known of the client.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::compile::{CompiledFile, ConfigLayer, Listed, State};
use autofork::db::{Linkage, Scope, Snapshot};
use autofork::ir::{Fork, ForkName};
use autofork::project::{self, UserDirs};
use gen_lsp_types::{Location, Uri};

use autofork::text::Span;

use crate::client::Client;
use crate::position::Text;
use crate::uri;

/// A document that is open in the client.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// The spellings of its path that it is open under; most often one.
    pub(crate) uris: Vec<Uri>,
    pub(crate) version: i32,
    pub(crate) has_mark: bool,
}

/// What is the same for all requests between two changes.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) scopes: Arc<[Scope]>,
    pub(crate) documents: Arc<HashMap<PathBuf, Open>>,
    /// How the client spells the paths that it ever opened: what it is told of them later must be spelt the same.
    pub(crate) spellings: Arc<HashMap<PathBuf, Uri>>,
    pub(crate) client: Arc<Client>,
    /// Whose forks there are beside those of projects.
    pub(crate) user: Arc<UserDirs>,
}

impl Shared {
    /// The URI of a path, as the client spells it.
    pub(crate) fn uri(&self, path: &Path) -> Uri {
        self.spellings.get(path).cloned().unwrap_or_else(|| uri::of_path(path))
    }
}

/// One state of everything.
pub(crate) struct View<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) shared: &'a Shared,
}

/// A file that we know, where it is in force.
pub(crate) struct File<'a> {
    pub(crate) path: PathBuf,
    pub(crate) text: Text,
    pub(crate) scope: &'a Scope,
    pub(crate) linkage: &'a Arc<Linkage>,
    pub(crate) content: Content<'a>,
}

/// What a file is.
pub(crate) enum Content<'a> {
    Fork(&'a Arc<CompiledFile>),
    Config(&'a ConfigLayer),
}

impl<'a> View<'a> {
    /// Every scope with what it comes to.
    pub(crate) fn linkages(&self) -> impl Iterator<Item = (&'a Scope, &'a Arc<Linkage>)> + use<'a> {
        let snapshot = self.snapshot;
        self.shared.scopes.iter().map(move |scope| (scope, snapshot.linkage(scope)))
    }

    /// The file at a URI; none if it is nothing of ours.
    pub(crate) fn file(&self, uri: &Uri) -> Option<File<'a>> {
        self.file_at(&uri::to_path(uri)?)
    }

    /// The file at a path.
    pub(crate) fn file_at(&self, path: &Path) -> Option<File<'a>> {
        let (scope, content) = self.place(path)?;
        let source = match &content {
            Content::Fork(file) => &file.file.source,
            Content::Config(layer) => &layer.source,
        };
        let text = self.text_of(path, source.clone());
        Some(File { path: path.to_path_buf(), text, scope, linkage: self.snapshot.linkage(scope), content })
    }

    /// The scope in which a file is at home, and what it is there: that of its own project, else the first that has it.
    fn place(&self, path: &Path) -> Option<(&'a Scope, Content<'a>)> {
        let home = project::project_of(path);
        let snapshot = self.snapshot;
        let content = move |scope: &'a Scope| {
            let fork = snapshot.fork_file(scope, path).map(Content::Fork);
            Some((scope, fork.or_else(|| snapshot.config_layer(scope, path).map(Content::Config))?))
        };
        let own = self.shared.scopes.iter().find(|scope| Some(scope.launch.as_path()) == home.as_deref());
        own.and_then(content).or_else(|| self.shared.scopes.iter().find_map(content))
    }

    /// A text as the client counts in it.
    pub(crate) fn text_of(&self, path: &Path, source: Arc<autofork::text::Source>) -> Text {
        let counts_mark = self.shared.documents.get(path).is_some_and(|open| open.has_mark);
        Text { source, encoding: self.shared.client.encoding, counts_mark }
    }

    /// The text of any file that we know.
    pub(crate) fn text(&self, path: &Path) -> Option<Text> {
        let source = self.shared.scopes.iter().find_map(|scope| self.snapshot.source(scope, path))?;
        Some(self.text_of(path, source))
    }

    /// The URI of a path, as the client spells it.
    pub(crate) fn uri(&self, path: &Path) -> Uri {
        self.shared.uri(path)
    }

    /// A place in a file.
    pub(crate) fn location(&self, path: &Path, span: Span) -> Location {
        let range = self.text(path).map(|text| text.range(span)).unwrap_or_default();
        Location { uri: self.uri(path), range }
    }
}

impl<'a> File<'a> {
    /// The fork file, if it is one.
    pub(crate) fn fork_file(&self) -> Option<&'a CompiledFile> {
        match &self.content {
            Content::Fork(file) => Some(file),
            Content::Config(_) => None,
        }
    }

    /// The fork that it comes to.
    pub(crate) fn fork(&self) -> Option<&'a Arc<Fork>> {
        self.fork_file().and_then(|file| file.file.fork())
    }

    /// The candidate that holds a name where this file is in force: the first that may fire, or takes the name.
    pub(crate) fn named(&self, name: &ForkName) -> Option<&'a Listed> {
        owner(self.linkage, name)
    }
}

/// The candidate that a name stands for.
pub(crate) fn owner<'a>(linkage: &'a Linkage, name: &ForkName) -> Option<&'a Listed> {
    let mut listed = linkage.linked.listing.iter().filter(|listed| listed.name == *name);
    listed
        .clone()
        .find(|listed| listed.state == State::Active)
        .or_else(|| listed.find(|listed| listed.state != State::Note))
}
