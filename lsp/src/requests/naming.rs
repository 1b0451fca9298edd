//! Other names for forks, in every `after` that means them: each edit is tried before it is given to the client, for
//! there are many ways to write a name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::compile::{CompiledFile, Contents, fork_file, fork_name, spell};
use autofork::ir::{Fork, ForkName};
use autofork::project;
use autofork::text::Span;

use super::edits::Edits;
use super::references::waiting_for;
use crate::view::{View, owner};

/// A fork that gets another name.
pub(crate) struct Naming<'a> {
    pub(crate) path: &'a Path,
    pub(crate) old: &'a ForkName,
    pub(crate) new: &'a ForkName,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Renamed {
    pub(crate) edits: Edits,
    /// Files that name the forks in a way in which a name cannot be replaced.
    pub(crate) left: Vec<PathBuf>,
}

/// The edits that go with new names.
pub(crate) fn rename(view: &View<'_>, namings: &[Naming<'_>]) -> Renamed {
    let mut files: BTreeMap<PathBuf, Vec<&Naming<'_>>> = BTreeMap::new();
    for naming in namings {
        let places = waiting_for(view, naming.old, naming.path);
        let paths: BTreeSet<PathBuf> = places.into_iter().map(|(path, _)| path).collect();
        for path in paths.into_iter().filter(|path| means_it_at_home(view, path, naming)) {
            files.entry(path).or_default().push(naming);
        }
    }
    let mut renamed = Renamed::default();
    for (path, namings) in files {
        let new = |name: &ForkName| Some(namings.iter().find(|naming| naming.old == name)?.new.clone());
        let Some(file) = view.file_at(&path) else { continue };
        let Some(compiled) = file.fork_file() else { continue };
        match replaced(&path, compiled, new) {
            Some(edits) => edits.into_iter().for_each(|(span, text)| renamed.edits.replace(&path, span, text)),
            None => renamed.left.push(path),
        }
    }
    renamed
}

/// Whether a name means the fork where the file that names it belongs. What lies in a farther folder is seen from many
/// projects, and may mean another fork in each; it is written for its own.
fn means_it_at_home(view: &View<'_>, file: &Path, naming: &Naming<'_>) -> bool {
    let home = project::project_of(file);
    let base = view.shared.user.base.as_deref();
    let is_users = |path: &Path| base.is_some_and(|base| path.starts_with(base));
    if (home.is_some() && home == project::project_of(naming.path)) || (is_users(file) && is_users(naming.path)) {
        return true;
    }
    let mut own = view.linkages().filter(|(scope, _)| Some(scope.launch.as_path()) == home.as_deref());
    own.any(|(_, linkage)| owner(linkage, naming.old).is_some_and(|listed| listed.path == naming.path))
}

type Replacements = BTreeMap<Span, String>;

/// The edits to one file that change names and nothing else; none if there are no such edits.
fn replaced(
    path: &Path,
    compiled: &CompiledFile,
    new: impl Fn(&ForkName) -> Option<ForkName>,
) -> Option<Replacements> {
    let names: Vec<(&ForkName, Span)> = compiled.file.after_names().collect();
    let targets: BTreeMap<Span, ForkName> =
        names.iter().filter_map(|(name, span)| Some((*span, new(name)?))).collect();
    let path: Arc<Path> = path.into();
    let is_good = |edits: &Replacements| {
        let rename =
            |name: &ForkName, span: &Span| edits.get(span).and_then(|_| new(name)).unwrap_or_else(|| name.clone());
        let text = edited(compiled.file.source.text(), edits);
        let result = fork_file(&compiled.file.name, &path, &Contents::text(&text));
        let wanted: Vec<ForkName> = names.iter().map(|(name, span)| rename(name, span)).collect();
        let found: Vec<ForkName> = result.file.after_names().map(|(name, _)| name.clone()).collect();
        let rest = |file: &CompiledFile| file.file.without_lines().map(|fork| Fork { after: Vec::new(), ..fork });
        found == wanted && rest(&result) == rest(compiled)
    };
    let mut edits = Replacements::new();
    for (span, name) in &targets {
        let ways = spellings(name.as_str());
        let way = ways.into_iter().find(|way| is_good(&Replacements::from([(*span, way.clone())])))?;
        edits.insert(*span, way);
    }
    is_good(&edits).then_some(edits)
}

/// The ways to write a name: by itself, or as a part of a text of several names, with and without quotes around that.
fn spellings(name: &str) -> [String; 4] {
    let double = name.replace('\\', r"\\").replace('"', "\\\"");
    [spell(name), name.to_owned(), name.replace('\'', "''"), double]
}

fn edited(text: &str, edits: &Replacements) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (span, words) in edits {
        // Where two edits overlap the result is no good, and need not be more than that.
        result.push_str(text.get(done..span.start()).unwrap_or_default());
        result.push_str(words);
        done = span.end();
    }
    result.push_str(&text[done..]);
    result
}

/// Whether these words in a file are a name, bare or in quotes, and not some text that a name is read from.
pub(crate) fn is_written(words: &str, name: &ForkName) -> bool {
    let inner = |quote: char| words.strip_prefix(quote)?.strip_suffix(quote);
    let read = match (inner('\''), inner('"')) {
        (Some(inner), _) => inner.replace("''", "'"),
        (None, Some(inner)) => inner.to_owned(),
        (None, None) => words.to_owned(),
    };
    fork_name(&read) == *name
}
