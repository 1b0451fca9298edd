//! From files compiled by themselves to the program of one launch folder: who has which name, and the rules that look
//! at several files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{ConfigLayer, Merged};
use super::file::FileKind;
use super::findings::Findings;
use super::graph::{Graph, Member, Setting};
use super::{CompiledConfig, CompiledFile, rules, suppress};
use crate::diagnostic::Diagnostic;
use crate::ir::{Fork, ForkName, Program};

/// A compiled file and the root that it was found in, the nearest root being 0.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// The file.
    pub file: &'a CompiledFile,
    /// The root.
    pub root: usize,
}

/// What becomes of a file among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// A fork that may fire.
    Active,
    /// A fork that another file hides.
    Shadowed,
    /// A fork that cannot be read.
    Broken,
    /// Switched off with `fork: false`.
    Off,
    /// No fork: a companion note, or something that was meant as a fork but does not say so.
    Note,
}

impl State {
    /// Its name in JSON and for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Shadowed => "shadowed",
            Self::Broken => "broken",
            Self::Off => "off",
            Self::Note => "note",
        }
    }
}

/// A candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name that it goes by.
    pub name: ForkName,
    /// The file.
    pub path: PathBuf,
    /// What became of it.
    pub state: State,
    /// What it comes to, if it is a fork that could be read.
    pub fork: Option<Arc<Fork>>,
}

/// Everything that files come to together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// What may fire.
    pub program: Arc<Program>,
    /// Every candidate, in the order in which names are given: nearest root first, in a root by byte order.
    pub listing: Vec<Listed>,
    /// Everything that was found, in the files by themselves and across them, in the order in which it is shown.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is linked.
pub struct Linking<'a> {
    /// The files of all roots, in the order of the listing.
    pub files: &'a [Placed<'a>],
    /// The effective configuration.
    pub config: &'a Merged,
    /// The layers that it came from.
    pub layers: &'a [&'a CompiledConfig],
    /// What was found about folders.
    pub folders: Vec<Diagnostic>,
    /// The project's root.
    pub root: &'a Path,
    /// Whether there is a file at a path; asked for files that instructions refer to.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// What for.
    pub purpose: Purpose,
}

/// What files are linked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To run and to list them: everything is wanted.
    Run,
    /// To check them: only diagnostics are wanted, and the program and the listing stay empty.
    Check,
}

/// Links the files of all roots under a configuration.
pub fn link(linking: Linking<'_>) -> Linked {
    let Linking { files, config, layers, folders, root, exists, purpose } = linking;
    let mut diagnostics = folders;
    let mut owners: HashMap<&ForkName, &Placed<'_>> = HashMap::new();
    let mut listing = Vec::with_capacity(files.len());
    let mut members = Vec::new();
    for placed in files {
        let file = &placed.file.file;
        let owner = owners.get(&file.name).copied();
        if owner.is_none() && file.kind.takes_name() {
            owners.insert(&file.name, placed);
        }
        let state = state(file.kind, owner.is_some());
        if let (State::Shadowed, Some(owner)) = (state, owner) {
            diagnostics.extend(hidden(owner, placed));
        }
        diagnostics.extend(placed.file.diagnostics.iter().cloned());
        if let (State::Active, Some(lowered)) = (state, &file.lowered) {
            members.push(Member { file, lowered });
        }
        if purpose == Purpose::Run {
            let fork = file.lowered.as_ref().map(|lowered| lowered.fork(file).clone());
            listing.push(Listed { name: file.name.clone(), path: file.source.path().to_path_buf(), state, fork });
        }
    }
    diagnostics.extend(layers.iter().flat_map(|layer| &layer.diagnostics).cloned());
    let forks =
        members.iter().filter(|_| purpose == Purpose::Run).map(|member| member.lowered.fork(member.file).clone());
    let program = Arc::new(Program::new(config.config.clone(), forks));

    let sets: Vec<&ConfigLayer> = layers.iter().map(|layer| &layer.layer).collect();
    let setting = Setting { config: &config.config, layers: &sets, root, exists };
    // One by one: most tags are in many files, and a set made of all at once would hold each as often.
    let mut tags = BTreeSet::new();
    for placed in files {
        tags.extend(placed.file.file.tags());
    }
    let graph = Graph::new(members, owners.into_keys().collect(), tags, &setting);
    let mut out = Findings::new(root.into());
    for check in rules::GRAPH_CHECKS {
        check(&graph, &mut out);
    }
    diagnostics.extend(out.into_sorted());

    for file in files.iter().map(|placed| &placed.file.file).filter(|file| !file.suppressions.is_empty()) {
        suppress::apply(&file.source, &file.suppressions, &mut diagnostics);
    }
    for layer in sets.iter().filter(|layer| !layer.suppressions.is_empty()) {
        suppress::apply(&layer.source, &layer.suppressions, &mut diagnostics);
    }
    config.apply_levels(&mut diagnostics);
    diagnostics.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
    Linked { program, listing, diagnostics }
}

fn state(kind: FileKind, name_is_taken: bool) -> State {
    match kind {
        FileKind::Fork if name_is_taken => State::Shadowed,
        FileKind::Fork => State::Active,
        FileKind::Broken => State::Broken,
        FileKind::OptOut => State::Off,
        FileKind::Note | FileKind::Lookalike(_) => State::Note,
    }
}

/// What to say of a fork whose name another file has. Nothing, where that file switches it off on purpose.
fn hidden(owner: &Placed<'_>, placed: &Placed<'_>) -> Vec<Diagnostic> {
    let mut out = Findings::new(placed.file.file.source.path().clone());
    if owner.file.file.kind != FileKind::OptOut {
        let check =
            if owner.root == placed.root { rules::duplicate_name::check } else { rules::shadowed_fork::check };
        check(&owner.file.file, &placed.file.file, &mut out);
    }
    out.into_sorted()
}
