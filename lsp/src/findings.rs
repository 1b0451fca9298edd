//! Diagnostics in the client's terms, and which of them have changed.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::db::Linkage;
use autofork::diagnostic::{Diagnostic, Level};
use gen_lsp_types as lsp;

use crate::view::View;

/// What was last found in all files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    linkages: Vec<Arc<Linkage>>,
    by_file: Arc<BTreeMap<Arc<Path>, Arc<FileFindings>>>,
}

/// What was found in one file.
#[derive(Debug, PartialEq)]
pub(crate) struct FileFindings {
    found: Vec<Diagnostic>,
    /// The same as the client sees it.
    pub(crate) shown: Vec<lsp::Diagnostic>,
}

/// What may have moved since the last look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changed {
    /// Texts of these files.
    pub(crate) texts: HashSet<PathBuf>,
    /// Anything on disk.
    pub(crate) disk: bool,
}

impl Changed {
    fn touches(&self, file: &FileFindings, path: &Path) -> bool {
        let labels = file.found.iter().flat_map(|found| &found.labels);
        self.disk || self.texts.contains(path) || labels.into_iter().any(|label| self.texts.contains(&*label.path))
    }
}

impl Findings {
    /// What is found now, computing as little as the changes allow.
    pub(crate) fn update(&self, view: &View<'_>, changed: &Changed) -> Self {
        let linkages: Vec<Arc<Linkage>> = view.linkages().map(|(_, linkage)| linkage.clone()).collect();
        let same = linkages.len() == self.linkages.len()
            && linkages.iter().zip(&self.linkages).all(|(now, before)| Arc::ptr_eq(now, before));
        let mut by_file: BTreeMap<Arc<Path>, Arc<FileFindings>> = BTreeMap::new();
        if same {
            // The same was found; only where it is may have moved.
            let touched = |(path, file): &(&Arc<Path>, &Arc<FileFindings>)| changed.touches(file, path);
            let touched: Vec<(&Arc<Path>, &Arc<FileFindings>)> = self.by_file.iter().filter(touched).collect();
            if touched.is_empty() {
                return self.clone();
            }
            by_file.clone_from(&self.by_file);
            for (path, before) in touched {
                by_file.insert(path.clone(), shown(view, before.found.clone(), Some(before)));
            }
            return Self { linkages, by_file: Arc::new(by_file) };
        }
        for (path, found) in group(&linkages) {
            let before = self.by_file.get(&path);
            let file = match before {
                Some(before) if before.found == found && !changed.touches(before, &path) => before.clone(),
                _ => shown(view, found, before),
            };
            by_file.insert(path, file);
        }
        Self { linkages, by_file: Arc::new(by_file) }
    }

    /// The files whose findings differ from those of an earlier look; nothing found is an empty list.
    pub(crate) fn news<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (&'a Arc<Path>, &'a [lsp::Diagnostic])> {
        let changed = self.by_file.iter().filter(|(path, file)| {
            before.by_file.get(*path).is_none_or(|before| !Arc::ptr_eq(before, file) && before.shown != file.shown)
        });
        let gone = before.by_file.keys().filter(|path| !self.by_file.contains_key(*path));
        let gone = gone.map(|path| (path, [].as_slice()));
        changed.map(|(path, file)| (path, file.shown.as_slice())).chain(gone)
    }

    /// What was found in a file.
    pub(crate) fn of(&self, path: &Path) -> &[lsp::Diagnostic] {
        self.by_file.get(path).map(|file| file.shown.as_slice()).unwrap_or_default()
    }
}

/// What was found in a file as the client sees it; the same as before if it sees the same.
fn shown(view: &View<'_>, found: Vec<Diagnostic>, before: Option<&Arc<FileFindings>>) -> Arc<FileFindings> {
    let now = FileFindings { shown: found.iter().map(|found| show(view, found)).collect(), found };
    before.filter(|before| ***before == now).cloned().unwrap_or_else(|| Arc::new(now))
}

/// Everything that was found, by file, as `check` reports it: by place, each finding once however many scopes have it.
fn group(linkages: &[Arc<Linkage>]) -> BTreeMap<Arc<Path>, Vec<Diagnostic>> {
    let mut groups: BTreeMap<Arc<Path>, Vec<Diagnostic>> = BTreeMap::new();
    for found in linkages.iter().flat_map(|linkage| &linkage.linked.diagnostics) {
        groups.entry(found.path.clone()).or_default().push(found.clone());
    }
    for found in groups.values_mut() {
        tidy(found);
    }
    groups
}

fn tidy(found: &mut Vec<Diagnostic>) {
    found.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
    found.dedup();
}

/// What is found in one file, as the compiler says it.
pub(crate) fn found_in(view: &View<'_>, path: &Path) -> Vec<Diagnostic> {
    let all = view.linkages().flat_map(|(_, linkage)| &linkage.linked.diagnostics);
    let mut found: Vec<Diagnostic> = all.filter(|found| *found.path == *path).cloned().collect();
    tidy(&mut found);
    found
}

/// Everything that is found, file by file.
pub(crate) fn found_everywhere(view: &View<'_>) -> BTreeMap<Arc<Path>, Vec<Diagnostic>> {
    group(&view.linkages().map(|(_, linkage)| linkage.clone()).collect::<Vec<_>>())
}

/// Rules whose findings are about something that could as well be deleted.
const UNUSED: [&str; 6] = [
    "unused-suppression",
    "ignored-key",
    "config-ignored-key",
    "unused-tag",
    "redundant-moment",
    "config-key-in-table",
];

/// A finding in the client's terms.
pub(crate) fn show(view: &View<'_>, found: &Diagnostic) -> lsp::Diagnostic {
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let related = found.labels.iter().map(|label| lsp::DiagnosticRelatedInformation {
        location: view.location(&label.path, label.span),
        message: label.message.clone(),
    });
    let related: Vec<_> = related.collect();
    let tags = UNUSED.contains(&found.rule.name).then(|| vec![lsp::DiagnosticTag::Unnecessary]);
    lsp::Diagnostic {
        range: view.location(&found.path, found.span).range,
        severity: Some(match found.level {
            Level::Error => lsp::DiagnosticSeverity::Error,
            Level::Warn => lsp::DiagnosticSeverity::Warning,
            Level::Hint => lsp::DiagnosticSeverity::Hint,
        }),
        code: Some(lsp::Code::String(found.rule.name.to_owned())),
        code_description: found.rule.link().map(|link| lsp::CodeDescription { href: lsp::Uri(link) }),
        source: Some("autofork".to_owned()),
        message: lsp::Message::String(message),
        tags,
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}
