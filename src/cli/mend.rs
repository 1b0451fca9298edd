//! Mending files: `check --fix` and `check --diff`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::CliError;
use super::check::{Check, shown};
use super::diff::unified;
use super::scope::Scope;
use crate::diagnostic;
use crate::text::{Sources, visible_line};

/// Makes all fixes that the check allows, in memory alone; gives their number. The scope is then that of the mended texts.
pub(super) fn mend_unsaved(check: &mut Check<'_>, scope: &mut Scope) -> usize {
    let mut total = 0;
    for _ in 0..diagnostic::ROUNDS {
        let (changed, made) = diagnostic::apply(&scope.diagnostics, &scope.sources, check.applicability());
        if made == 0 {
            break;
        }
        total += made;
        for (path, text) in changed {
            check.workspace.set_overlay(&path, Some(text.into()));
        }
        *scope = check.look();
    }
    total
}

/// Makes all fixes that the check allows and saves the files; gives the number of fixes.
pub(super) fn mend(check: &mut Check<'_>, scope: &mut Scope) -> Result<usize, CliError> {
    let before = scope.sources.clone();
    let total = mend_unsaved(check, scope);
    for source in scope.sources.iter() {
        let changed = before.get(source.path()).is_some_and(|old| old.text() != source.text());
        if changed && check.stdin.as_deref() != Some(&**source.path()) {
            save(source.path(), source.text()).map_err(|error| {
                CliError::new(format!("{} cannot be written: {error}", shown(source.path(), Path::new(""))))
            })?;
        }
    }
    Ok(total)
}

/// Writes a file as a whole or not at all, with the permissions that it has. A link stays a link.
pub(super) fn save(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.new", std::process::id()));
    let outcome = fs::write(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, fs::metadata(&path)?.permissions()))
        .and_then(|()| fs::rename(&beside, &path));
    if outcome.is_err() {
        let _ = fs::remove_file(&beside);
    }
    outcome
}

/// Prints what changed between two states of the files as a unified diff.
pub(super) fn print_diff(before: &Sources, after: &Sources, base: &Path, out: &mut dyn Write) -> io::Result<()> {
    let (red, green): (Style, Style) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    for source in after.iter() {
        let Some(old) = before.get(source.path()).filter(|old| old.text() != source.text()) else { continue };
        let name = shown(source.path(), base);
        let diff = unified((&format!("a/{name}"), old.text()), (&format!("b/{name}"), source.text()));
        for line in diff.lines() {
            let words = visible_line(line.strip_suffix('\r').unwrap_or(line));
            match line.chars().next() {
                Some('-') => writeln!(out, "{red}{words}{red:#}")?,
                Some('+') => writeln!(out, "{green}{words}{green:#}")?,
                _ => writeln!(out, "{words}")?,
            }
        }
    }
    Ok(())
}
