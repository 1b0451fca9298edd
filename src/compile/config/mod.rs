//! Configuration: two layers, each with the places of its values, merged key by key.

mod layer;
mod read;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Level};
use crate::ir::{Config, Seconds, Tag};
use crate::text::Span;

pub(crate) use layer::Set;
pub use layer::{ConfigLayer, Layer};
pub(crate) use read::compile;

/// The keys of `config.toml`, tables included.
pub(crate) const KEYS: [&str; 11] = [
    "default_idle_deadline",
    "session_timeout",
    "quiet_period",
    "wake_debounce",
    "enable_tags",
    "disable_tags",
    "tag_throttles",
    "background_hold",
    "background_hold_timeout",
    "wake_in_plan_mode",
    "lint",
];

/// Keys of older versions, which are ignored.
pub(crate) const IGNORED_KEYS: [&str; 10] = [
    "claude_bin",
    "concurrency",
    "isolation",
    "permission_mode",
    "run_timeout",
    "fork_timeout",
    "context_window",
    "models",
    "report_ttl",
    "poll_budget_chars",
];

/// Where an effective value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// No layer sets it.
    Default,
    /// This layer does.
    Layer(Layer),
}

/// The configuration in force, with what only the compiler needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Merged {
    /// The effective values.
    pub config: Config,
    /// The levels that `[lint]` gives to rules; none switches a rule off.
    pub lint: BTreeMap<String, Option<Level>>,
    /// Where each key's value comes from; keys that no layer sets are not in it. Entries of tables as `table.entry`.
    pub origins: BTreeMap<String, Layer>,
}

impl Merged {
    /// Gives diagnostics the levels that `[lint]` asks for, and takes out those of rules that are off.
    pub(crate) fn apply_levels(&self, diagnostics: &mut Vec<Diagnostic>) {
        if self.lint.is_empty() {
            return;
        }
        diagnostics.retain_mut(|found| match self.lint.get(found.rule.name) {
            Some(None) => false,
            Some(Some(level)) => {
                found.level = *level;
                true
            }
            None => true,
        });
    }

    /// Where the effective value of a key comes from.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).map_or(Origin::Default, |layer| Origin::Layer(*layer))
    }
}

/// Merges the layers, the nearer one last: its keys win one by one, and so do the entries of its tables.
pub fn merge<'a>(layers: impl IntoIterator<Item = &'a ConfigLayer>) -> Merged {
    let mut merged = Merged::default();
    for layer in layers {
        let Merged { config, lint, origins } = &mut merged;
        let mut put = Put { origins, layer: layer.layer };
        put.value("default_idle_deadline", &mut config.default_idle_deadline, layer.default_idle_deadline.as_ref());
        put.value("session_timeout", &mut config.session_timeout, layer.session_timeout.as_ref());
        put.value("quiet_period", &mut config.quiet_period, layer.quiet_period.as_ref());
        put.value("wake_debounce", &mut config.wake_debounce, layer.wake_debounce.as_ref());
        put.value("background_hold", &mut config.background_hold, layer.background_hold.as_ref());
        put.value(
            "background_hold_timeout",
            &mut config.background_hold_timeout,
            layer.background_hold_timeout.as_ref(),
        );
        put.value("wake_in_plan_mode", &mut config.wake_in_plan_mode, layer.wake_in_plan_mode.as_ref());
        put.tags("enable_tags", &mut config.enable_tags, layer.enable_tags.as_ref());
        put.tags("disable_tags", &mut config.disable_tags, layer.disable_tags.as_ref());
        put.throttles(&mut config.tag_throttles, &layer.tag_throttles);
        for (rule, level) in &layer.lint {
            put.origin(format!("lint.{rule}"));
            lint.insert(rule.clone(), level.value);
        }
    }
    merged
}

struct Put<'a> {
    origins: &'a mut BTreeMap<String, Layer>,
    layer: Layer,
}

impl Put<'_> {
    fn origin(&mut self, key: impl Into<String>) {
        self.origins.insert(key.into(), self.layer);
    }

    fn value<T: Copy>(&mut self, key: &str, effective: &mut T, set: Option<&Set<T>>) {
        if let Some(set) = set {
            *effective = set.value;
            self.origin(key);
        }
    }

    fn tags(&mut self, key: &str, effective: &mut std::collections::BTreeSet<Tag>, set: Option<&Vec<Set<Tag>>>) {
        if let Some(tags) = set {
            *effective = tags.iter().map(|tag| tag.value.clone()).collect();
            self.origin(key);
        }
    }

    fn throttles(&mut self, effective: &mut BTreeMap<Tag, Seconds>, set: &[(Set<Tag>, Seconds)]) {
        for (tag, length) in set {
            effective.insert(tag.value.clone(), *length);
            self.origin(format!("tag_throttles.{}", tag.value));
        }
    }
}

/// The place of a key and of its value.
pub(crate) type KeySpan = (Span, Span);
