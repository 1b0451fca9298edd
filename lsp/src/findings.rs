//! Diagnostics in the client's terms, and which of them have changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autofork::compile::Merged;
use autofork::db::Linkage;
use autofork::diagnostic::{Diagnostic, Level};
use gen_lsp_types as lsp;

use crate::view::View;

/// What was last found in all files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    linkages: Vec<Arc<Linkage>>,
    by_file: ByFile,
}

/// Hashed, because to compare paths part by part takes longer than all else that a look does.
type ByFile = Arc<HashMap<Arc<Path>, Arc<FileFindings>>>;

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

/// What a look brought.
#[derive(Debug)]
pub(crate) struct Look {
    /// What is found now.
    pub(crate) findings: Findings,
    /// The files whose findings the client sees differ from those of the look before.
    pub(crate) news: Vec<Arc<Path>>,
    /// Whether the configuration in force is another one anywhere.
    pub(crate) reconfigured: bool,
}

impl Findings {
    /// What is found now, computing as little as the changes allow.
    pub(crate) fn update(&self, view: &View<'_>, changed: &Changed) -> Look {
        let linkages: Vec<Arc<Linkage>> = view.linkages().map(|(_, linkage)| linkage.clone()).collect();
        let same = linkages.len() == self.linkages.len()
            && linkages.iter().zip(&self.linkages).all(|(now, before)| Arc::ptr_eq(now, before));
        let (by_file, mut news) =
            if same { self.moved(view, changed) } else { self.found_anew(view, &linkages, changed) };
        news.sort();
        let reconfigured = !same && !linkages.iter().map(|linkage| &linkage.config).eq(self.configs());
        Look { findings: Self { linkages, by_file }, news, reconfigured }
    }

    fn configs(&self) -> impl Iterator<Item = &Merged> {
        self.linkages.iter().map(|linkage| &linkage.config)
    }

    /// The same was found; only where it is may have moved.
    fn moved(&self, view: &View<'_>, changed: &Changed) -> (ByFile, Vec<Arc<Path>>) {
        let mut by_file = self.by_file.clone();
        let mut news = Vec::new();
        for (path, before) in self.by_file.iter().filter(|(path, file)| changed.touches(file, path)) {
            let now = shown(view, before.found.clone(), Some(before));
            if !Arc::ptr_eq(&now, before) {
                Arc::make_mut(&mut by_file).insert(path.clone(), now);
                news.push(path.clone());
            }
        }
        (by_file, news)
    }

    fn found_anew(&self, view: &View<'_>, linkages: &[Arc<Linkage>], changed: &Changed) -> (ByFile, Vec<Arc<Path>>) {
        let mut by_file = HashMap::new();
        let mut news = Vec::new();
        for (path, found) in group(linkages) {
            let before = self.by_file.get(path);
            let same = |before: &FileFindings| before.found.iter().eq(found.iter().copied());
            let file = match before {
                Some(before) if same(before) && !changed.touches(before, path) => before.clone(),
                _ => shown(view, found.into_iter().cloned().collect(), before),
            };
            if before.is_none_or(|before| before.shown != file.shown) {
                news.push(path.clone());
            }
            by_file.insert(path.clone(), file);
        }
        news.extend(self.by_file.keys().filter(|path| !by_file.contains_key(*path)).cloned());
        (Arc::new(by_file), news)
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
fn group(linkages: &[Arc<Linkage>]) -> HashMap<&Arc<Path>, Vec<&Diagnostic>> {
    let mut groups: HashMap<&Arc<Path>, Vec<&Diagnostic>> = HashMap::new();
    for found in linkages.iter().flat_map(|linkage| &linkage.linked.diagnostics) {
        groups.entry(&found.path).or_default().push(found);
    }
    groups.values_mut().for_each(tidy);
    groups
}

fn tidy(found: &mut Vec<&Diagnostic>) {
    found.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
    found.dedup();
}

/// What is found in one file, as the compiler says it.
pub(crate) fn found_in<'a>(view: &View<'a>, path: &Path) -> Vec<&'a Diagnostic> {
    let all = view.linkages().flat_map(|(_, linkage)| &linkage.linked.diagnostics);
    let mut found: Vec<&Diagnostic> = all.filter(|found| *found.path == *path).collect();
    tidy(&mut found);
    found
}

/// Everything that is found, file by file.
pub(crate) fn found_everywhere(view: &View<'_>) -> BTreeMap<Arc<Path>, Vec<lsp::Diagnostic>> {
    let linkages: Vec<Arc<Linkage>> = view.linkages().map(|(_, linkage)| linkage.clone()).collect();
    let shown = |found: Vec<&Diagnostic>| found.into_iter().map(|found| show(view, found)).collect();
    group(&linkages).into_iter().map(|(path, found)| (path.clone(), shown(found))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tagged_as_unused_are_rules() {
        for name in UNUSED {
            assert!(autofork::compile::rules::find(name).is_some(), "there is no rule {name}");
        }
    }
}
