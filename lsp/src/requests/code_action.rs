//! `textDocument/codeAction`: every fix, all of them at once, a suppression, and a few rewritings.

use std::sync::Arc;

use autofork::compile::{CompiledFile, Contents, FileKind, ForkFile, fork_file};
use autofork::diagnostic::{self, Applicability, Diagnostic};
use autofork::syntax::yaml::{self, Value};
use autofork::text::{Sources, Span, line_end};
use gen_lsp_types as lsp;

use super::Refusal;
use super::edits::Edits;
use super::target::{line_around, touches};
use crate::findings::{found_in, show};
use crate::view::{Content, File, View};

/// The request.
pub(crate) fn code_action(
    view: &View<'_>,
    params: &lsp::CodeActionParams,
) -> Result<Option<Vec<lsp::CodeActionResponse>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let found = found_in(view, &file.path);
    let (start, end) = (file.text.offset(params.range.start), file.text.offset(params.range.end));
    let here = |span: Span| span.start() <= end && start <= span.end();
    let mut actions = Vec::new();
    for found in found.iter().copied().filter(|found| here(found.span)) {
        actions.extend(fix(view, found));
        actions.extend(suppress(view, &file, found));
    }
    actions.extend(fix_all(view, &file, &found));
    actions.extend(make_fork(view, &file));
    actions.extend(list_form(view, &file, start));
    let wanted = params.context.only.as_ref();
    actions.retain(|action| wanted.is_none_or(|wanted| wanted.iter().any(|only| covers(only, action.kind.as_ref()))));
    Ok(Some(actions.into_iter().map(lsp::CodeActionResponse::CodeAction).collect()))
}

/// Whether a kind that the client asks for covers an action's: it is the same, or the start of it.
fn covers(only: &lsp::CodeActionKind, kind: Option<&lsp::CodeActionKind>) -> bool {
    let (only, kind) = (only.to_string(), kind.map(ToString::to_string).unwrap_or_default());
    only.is_empty() || kind == only || kind.starts_with(&format!("{only}."))
}

fn kind(name: &str) -> lsp::CodeActionKind {
    lsp::CodeActionKind::from(name.to_owned())
}

fn action(title: impl Into<String>, kind_name: &str, edit: lsp::WorkspaceEdit) -> lsp::CodeAction {
    lsp::CodeAction { title: title.into(), kind: Some(kind(kind_name)), edit: Some(edit), ..Default::default() }
}

/// With a capital letter, as titles are.
fn title(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn fix(view: &View<'_>, found: &Diagnostic) -> Option<lsp::CodeAction> {
    let fix = found.fix.as_ref()?;
    let mut edits = Edits::default();
    for edit in &fix.edits {
        edits.replace(&edit.path, edit.span, edit.text.clone());
    }
    Some(lsp::CodeAction {
        diagnostics: Some(vec![show(view, found)]),
        is_preferred: Some(fix.applicability == Applicability::Safe),
        ..action(title(&fix.message), "quickfix", edits.finish(view, Vec::new()))
    })
}

/// A comment on the line above, where comments are read.
fn suppress(view: &View<'_>, file: &File<'_>, found: &Diagnostic) -> Option<lsp::CodeAction> {
    let text = file.text.as_str();
    let reaches = match &file.content {
        Content::Fork(fork) => {
            let fork = &fork.file;
            let part = fork.frontmatter();
            // A comment in front of the closing fence speaks for it too.
            !part.is_empty() && part.start() <= found.span.start() && found.span.start() <= part.end()
        }
        Content::Config(_) => true,
    };
    if !reaches || found.rule.name == "unused-suppression" {
        return None;
    }
    let line = line_around(text, found.span.start());
    let words = line.of(text);
    let indent = &words[..words.len() - words.trim_start().len()];
    let end = line_end(text);
    let comment = format!("{indent}# autofork: allow({}) reason: {end}", found.rule.name);
    // In the lines of a text it would be a part of that.
    if !is_comment(file, line.start(), &comment) {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(&file.path, Span::at(line.start()), comment);
    let name = format!("Allow `{}` here, with a reason", found.rule.name);
    Some(lsp::CodeAction {
        diagnostics: Some(vec![show(view, found)]),
        ..action(name, "quickfix", edits.finish(view, Vec::new()))
    })
}

/// Whether words that are put somewhere change nothing that a fork comes to.
fn is_comment(file: &File<'_>, at: usize, words: &str) -> bool {
    let Some(fork) = file.fork_file() else { return true };
    let after = with(file, fork, at, words);
    after.kind == fork.file.kind && after.without_lines() == fork.file.without_lines()
}

/// A fork file with words put somewhere.
fn with(file: &File<'_>, fork: &CompiledFile, at: usize, words: &str) -> ForkFile {
    let text = file.text.as_str();
    let text = [&text[..at], words, &text[at..]].concat();
    fork_file(&fork.file.name, fork.file.source.path(), &Contents::text(&text)).file
}

/// Everything in this file that can be mended safely, round after round, as `check --fix` does it.
fn fix_all(view: &View<'_>, file: &File<'_>, found: &[&Diagnostic]) -> Option<lsp::CodeAction> {
    let mut source = file.text.source.clone();
    let mut found: Vec<Diagnostic> = found.iter().copied().cloned().collect();
    for _ in 0..diagnostic::ROUNDS {
        found.retain(|found| found.fix.iter().flat_map(|fix| &fix.edits).all(|edit| *edit.path == *file.path));
        let sources: Sources = std::iter::once(source.clone()).collect();
        let (changed, _) = diagnostic::apply(&found, &sources, Applicability::Safe);
        let Some((_, mended)) = changed.into_iter().next() else { break };
        (source, found) = view.snapshot.supposing(file.scope, &file.path, &mended)?;
    }
    if Arc::ptr_eq(&source, &file.text.source) {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(&file.path, Span::new(0, file.text.as_str().len()), &**source.text());
    Some(action(
        "Mend everything that can be mended safely",
        "source.fixAll.autofork",
        edits.finish(view, Vec::new()),
    ))
}

/// Makes a note a fork. Not where there is frontmatter that is no mapping, which has no room for a key.
fn make_fork(view: &View<'_>, file: &File<'_>) -> Option<lsp::CodeAction> {
    let compiled = file.fork_file()?;
    let fork = &compiled.file;
    if fork.kind != FileKind::Note {
        return None;
    }
    let end = line_end(file.text.as_str());
    let (at, words) = match (fork.opening(), fork.closing()) {
        (Some(_), Some(_)) => (fork.frontmatter().start(), format!("fork: true{end}")),
        (None, _) => (fork.body().start(), format!("---{end}fork: true{end}---{end}")),
        _ => return None,
    };
    if with(file, compiled, at, &words).kind != FileKind::Fork {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(&file.path, Span::at(at), words);
    Some(action("Make this note a fork with `fork: true`", "refactor.rewrite", edits.finish(view, Vec::new())))
}

/// Writes a lone value as a list.
fn list_form(view: &View<'_>, file: &File<'_>, offset: usize) -> Option<lsp::CodeAction> {
    let fork = &file.fork_file()?.file;
    let text = file.text.as_str();
    if fork.kind != FileKind::Fork || !touches(fork.frontmatter(), offset) {
        return None;
    }
    let parsed = yaml::parse(text, fork.frontmatter());
    let entries = parsed.root.as_ref()?.entries()?;
    let entry = entries.iter().find(|entry| touches(entry.key.span.to(entry.value.span), offset))?;
    let key = entry.key.scalar()?.text.as_str();
    let Value::Scalar(scalar) = &entry.value.value else { return None };
    let words = entry.value.span.of(text);
    let is_plain =
        entry.value.alias.is_none() && !words.contains([',', '\n', '\r', '[', ']', '{', '}', '#', '&', '*', '!']);
    if !matches!(key, "run_on" | "after" | "tags") || scalar.text.trim().is_empty() || !is_plain {
        return None;
    }
    let mut edits = Edits::default();
    edits.replace(&file.path, entry.value.span, format!("[{words}]"));
    Some(action(format!("Write `{key}` as a list"), "refactor.rewrite", edits.finish(view, Vec::new())))
}
