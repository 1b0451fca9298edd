//! One file of a root: what it is, and what it comes to.

use std::sync::Arc;

use super::findings::Findings;
use super::input::{Contents, Obstacle, decode};
use super::keys::{MARKER, is_fork_key};
use super::lower::{Lowered, MomentPlace, lower, trimmed};
use super::rules;
use super::suppress::{Suppression, suppressions};
use crate::diagnostic::{Diagnostic, Level};
use crate::ir::{Body, Fork, ForkName, Moment};
use crate::syntax::envelope::{self, Envelope, Fence};
use crate::syntax::yaml::{self, Entry, Node, Value};
use crate::text::{Source, Span, is_invisible};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A fork.
    Fork,
    /// A fork that says it is none, with `fork: false`. It takes its name.
    OptOut,
    /// Something that was meant as a fork but does not say so rightly. It takes its name, so that a typo does not start
    /// a fork of that name from a farther root.
    Lookalike(Lookalike),
    /// A companion note.
    Note,
    /// A fork that cannot be read. It takes its name.
    Broken,
}

/// Why a file that looks like a fork is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookalike {
    /// It has keys of a fork, but no marker.
    MissingMarker,
    /// Its marker is neither `true` nor `false`.
    MarkerNotBoolean,
    /// Its frontmatter is a list or a text.
    NotAMapping,
    /// The line that should open its frontmatter is no fence.
    MalformedFence,
    /// There is a character in the marker that cannot be seen.
    InvisibleMarker,
}

impl FileKind {
    /// Whether a file of this kind takes its name, so that no fork from further away runs under it.
    pub fn takes_name(self) -> bool {
        self != Self::Note
    }
}

/// A file as compiled by itself, without a look at others.
#[derive(Debug)]
pub struct ForkFile {
    /// The name that it goes by.
    pub name: ForkName,
    /// Its text.
    pub source: Arc<Source>,
    /// What it is.
    pub kind: FileKind,
    pub(crate) obstacle: Option<Obstacle>,
    pub(crate) envelope: Envelope,
    /// The tree, as long as the file is being compiled.
    yaml: Option<Box<yaml::Parsed>>,
    /// A line that was meant as a fence, and how bad that is.
    pub(crate) bad_fence: Option<(Fence, Level)>,
    /// What it comes to, if it is a fork.
    pub(crate) lowered: Option<Lowered>,
    /// Comments in its frontmatter that switch rules off.
    pub(crate) suppressions: Vec<Suppression>,
    /// The tags of a fork that is switched off.
    tags: Vec<String>,
}

/// Compiles the file of that name by itself, in the order that `compile` knows: decode, take apart, classify, lower,
/// check.
pub(super) fn compile(
    name: &ForkName,
    path: &Arc<std::path::Path>,
    contents: &Contents,
) -> (ForkFile, Vec<Diagnostic>) {
    let decoded = decode(contents);
    let source = Arc::new(Source::new(path.clone(), decoded.text));
    let mut findings = Findings::new(path.clone());
    let mut file = take_apart(name, source, decoded.obstacle);
    match file.kind {
        FileKind::Note | FileKind::OptOut => {}
        FileKind::Broken | FileKind::Lookalike(_) => {
            for check in rules::SYNTAX_CHECKS {
                check(&file, &mut findings);
            }
        }
        FileKind::Fork => {
            file.lowered = Some(lower(&file, &mut findings));
            for check in rules::FORK_CHECKS {
                check(&file, &mut findings);
            }
        }
    }
    if file.kind == FileKind::OptOut {
        file.tags = tags_of(&file);
    }
    // Thousands of trees weigh more than all the texts, and nothing looks at them from here on.
    file.yaml = None;
    (file, findings.into_sorted())
}

/// The tags of a fork that is switched off: the configuration may still name them.
fn tags_of(file: &ForkFile) -> Vec<String> {
    let words: Vec<&str> = match file.entry("tags").map(|entry| &entry.value.value) {
        Some(Value::List(items, _)) => items.iter().filter_map(Node::scalar).map(|tag| tag.text.as_str()).collect(),
        Some(Value::Scalar(tag)) => tag.text.split(',').collect(),
        _ => Vec::new(),
    };
    words.into_iter().map(|word| trimmed(word).to_owned()).collect()
}

fn take_apart(name: &ForkName, source: Arc<Source>, obstacle: Option<Obstacle>) -> ForkFile {
    let envelope = envelope::split(source.text());
    let mut file = ForkFile {
        name: name.clone(),
        source,
        kind: FileKind::Note,
        obstacle,
        envelope,
        yaml: None,
        bad_fence: None,
        lowered: None,
        suppressions: Vec::new(),
        tags: Vec::new(),
    };
    file.kind = classify(&mut file);
    file.suppressions = suppressions(&file.source, file.envelope.frontmatter);
    file
}

fn classify(file: &mut ForkFile) -> FileKind {
    if matches!(file.obstacle, Some(Obstacle::Unreadable(_))) {
        return FileKind::Broken;
    }
    let Some(opening) = file.envelope.opening else { return FileKind::Note };
    if file.obstacle.is_some() {
        return file.unreadable_kind();
    }
    if !opening.is_proper() {
        if file.keys().any(|key| key == MARKER || is_fork_key(key)) {
            file.bad_fence = Some((opening, Level::Warn));
            return FileKind::Lookalike(Lookalike::MalformedFence);
        }
        return FileKind::Note;
    }
    if file.envelope.closing.is_none() {
        file.bad_fence = file.envelope.stray.map(|stray| (stray, Level::Error));
        return file.unreadable_kind();
    }
    file.yaml = Some(Box::new(yaml::parse(file.source.text(), file.envelope.frontmatter)));
    if let Some(first) = file.yaml().faults.first().map(|fault| fault.span.start) {
        // A line that was meant to close the frontmatter, and a rule of the body that did.
        if let Some(stray) = file.envelope.stray.filter(|stray| stray.span.start <= first) {
            file.bad_fence = Some((stray, Level::Error));
            file.envelope.frontmatter.end = stray.span.start;
        }
        return file.unreadable_kind();
    }
    match &file.yaml().root {
        Some(root) => file.marked_kind(root),
        None => FileKind::Note,
    }
}

impl ForkFile {
    /// The fork that it is, if it is one, as if its body began on line 0: what no safe fix may change.
    pub fn without_lines(&self) -> Option<Fork> {
        let fork = self.lowered.as_ref()?.fork(self);
        let body = Body { first_line: 0, ..fork.body.clone() };
        Some(Fork { body, ..Fork::clone(fork) })
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }

    /// What became of the frontmatter; nothing, once the file is compiled.
    pub(crate) fn yaml(&self) -> &yaml::Parsed {
        static NOTHING: yaml::Parsed = yaml::Parsed { root: None, comments: Vec::new(), faults: Vec::new() };
        self.yaml.as_deref().unwrap_or(&NOTHING)
    }

    /// The words at a place.
    pub(crate) fn words(&self, span: Span) -> &str {
        span.of(self.text())
    }

    /// Whether another form of the file differs in the words of the body alone.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        let head = |file: &Self| Span::new(0, file.envelope.body.start());
        let mentions = |file: &Self| file.lowered.as_ref().map(|lowered| lowered.mentions.clone());
        self.name == other.name
            && self.kind == other.kind
            && self.obstacle == other.obstacle
            && self.words(head(self)) == other.words(head(other))
            && mentions(self) == mentions(other)
    }

    /// The line end that the file uses.
    pub(crate) fn line_end(&self) -> &'static str {
        crate::text::line_end(self.text())
    }

    /// The opening fence; the start of the file if there is none.
    pub(crate) fn fence(&self) -> Span {
        self.envelope.opening.map_or(Span::at(0), |fence| fence.span)
    }

    /// The top-level entries of the frontmatter.
    pub(crate) fn entries(&self) -> &[Entry] {
        self.yaml().root.as_ref().and_then(Node::entries).unwrap_or_default()
    }

    /// The first entry with that key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.scalar().is_some_and(|scalar| scalar.text == key))
    }

    /// The tags in a file, even if it is switched off.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        let of_fork = self.lowered.iter().flat_map(|lowered| &lowered.tags).map(|(tag, _)| tag.as_str());
        of_fork.chain(self.tags.iter().map(String::as_str))
    }

    /// The moments of a fork, with their places.
    pub(crate) fn moments(&self) -> &[(Moment, MomentPlace)] {
        self.lowered.as_ref().map(|lowered| lowered.run_on.moments.as_slice()).unwrap_or_default()
    }

    /// Keys at the start of the frontmatter's lines, for files whose frontmatter cannot be read.
    fn keys(&self) -> impl Iterator<Item = &str> {
        envelope::keys_at_line_start(self.text(), self.envelope.frontmatter).map(|(key, _)| key)
    }

    /// What a file is whose frontmatter cannot be read.
    fn unreadable_kind(&self) -> FileKind {
        let mut lines = envelope::lines(self.text(), self.envelope.frontmatter);
        if lines.any(|line| self.words(line).starts_with("fork:")) {
            FileKind::Broken
        } else if self.keys().any(is_fork_key) {
            FileKind::Lookalike(Lookalike::MissingMarker)
        } else {
            FileKind::Note
        }
    }

    /// What a file is whose frontmatter was read, by its marker.
    fn marked_kind(&self, root: &Node) -> FileKind {
        let Value::Map(entries, _) = &root.value else {
            return if mentions_fork(root) { FileKind::Lookalike(Lookalike::NotAMapping) } else { FileKind::Note };
        };
        if let Some(marker) = self.entry(MARKER) {
            return match marker.value.boolean() {
                Some(true) => FileKind::Fork,
                Some(false) => FileKind::OptOut,
                None if self.words(marker.value.span).contains(is_invisible) => {
                    FileKind::Lookalike(Lookalike::InvisibleMarker)
                }
                None => FileKind::Lookalike(Lookalike::MarkerNotBoolean),
            };
        }
        let mut keys = entries.iter().filter_map(|entry| entry.key.scalar()).map(|scalar| scalar.text.as_str());
        if keys.clone().any(|key| key.contains(is_invisible) && key.replace(is_invisible, "") == MARKER) {
            FileKind::Lookalike(Lookalike::InvisibleMarker)
        } else if keys.any(is_fork_key) {
            FileKind::Lookalike(Lookalike::MissingMarker)
        } else {
            FileKind::Note
        }
    }
}

/// Whether there is a key of a fork in a frontmatter that is no mapping.
fn mentions_fork(node: &Node) -> bool {
    let is_ours = |key: &str| key == MARKER || is_fork_key(key);
    match &node.value {
        Value::Scalar(scalar) => scalar.text.split_once(':').is_some_and(|(key, _)| is_ours(key)),
        Value::List(items, _) => items.iter().any(mentions_fork),
        Value::Map(entries, _) => {
            entries.iter().filter_map(|entry| entry.key.scalar()).any(|scalar| is_ours(&scalar.text))
        }
    }
}
