//! One configuration file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compile::suppress::Suppression;
use crate::diagnostic::Level;
use crate::ir::{Seconds, Tag};
use crate::text::{Source, Span};

/// Which of the two configuration files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The user's own, for all projects.
    User,
    /// The project's, which goes before it.
    Project,
}

impl Layer {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A value that is set, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Set<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The values that one file sets, each with its place. What is bad is missing.
#[derive(Debug, Clone)]
pub struct ConfigLayer {
    /// Which layer it is.
    pub layer: Layer,
    /// The file's text.
    pub source: Arc<Source>,
    pub(crate) default_idle_deadline: Option<Set<Seconds>>,
    pub(crate) session_timeout: Option<Set<Seconds>>,
    pub(crate) quiet_period: Option<Set<Seconds>>,
    pub(crate) wake_debounce: Option<Set<Seconds>>,
    pub(crate) enable_tags: Option<Vec<Set<Tag>>>,
    pub(crate) disable_tags: Option<Vec<Set<Tag>>>,
    /// Tags, with the place of the key, and their throttles.
    pub(crate) tag_throttles: Vec<(Set<Tag>, Seconds)>,
    pub(crate) background_hold: Option<Set<bool>>,
    pub(crate) background_hold_timeout: Option<Set<Seconds>>,
    pub(crate) wake_in_plan_mode: Option<Set<bool>>,
    /// Levels of rules; none switches a rule off.
    pub(crate) lint: BTreeMap<String, Set<Option<Level>>>,
    /// Comments that switch rules off.
    pub(crate) suppressions: Vec<Suppression>,
}

impl ConfigLayer {
    /// The tags that it names, in each of its filters and in its throttles.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &Set<Tag>> {
        let filters = [&self.enable_tags, &self.disable_tags].into_iter().flatten().flatten();
        filters.chain(self.tag_throttles.iter().map(|(tag, _)| tag))
    }

    /// A file that sets nothing.
    pub(crate) fn empty(layer: Layer, source: Arc<Source>) -> Self {
        Self {
            layer,
            source,
            default_idle_deadline: None,
            session_timeout: None,
            quiet_period: None,
            wake_debounce: None,
            enable_tags: None,
            disable_tags: None,
            tag_throttles: Vec::new(),
            background_hold: None,
            background_hold_timeout: None,
            wake_in_plan_mode: None,
            lint: BTreeMap::new(),
            suppressions: Vec::new(),
        }
    }
}
