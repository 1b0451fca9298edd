//! `check`: lint fork files and configuration.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::scope::{self, Scope, What};
use super::{CliError, mend, output, surroundings, watch, written};
use crate::compile::{MAX_BYTES, rules};
use crate::db::Workspace;
use crate::diagnostic::{
    Applicability, Diagnostic, Level, Report, concise, full, github, gitlab, json, junit, sarif,
};
use crate::project::{self, UserDirs};
use crate::text::visible;

/// Check fork files and configuration.
///
/// Without a path: everything that is visible here, every root below the current folder, and your own forks.
/// Exit code 0 if nothing is wrong, 1 for findings at the level of `--deny`, 2 if the check could not run.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // the flags of a command line
pub(crate) struct Arguments {
    /// Fork files, configuration files, or folders with them; `-` reads one file from standard input.
    paths: Vec<PathBuf>,
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = Format::Full)]
    format: Format,
    /// Mend what can be mended safely.
    #[arg(long, group = "mending")]
    fix: bool,
    /// With `--fix` or `--diff`: mend also what is a guess.
    #[arg(long, requires = "mending")]
    unsafe_fixes: bool,
    /// Show what `--fix` would change, and change nothing.
    #[arg(long, conflicts_with = "fix", group = "mending")]
    diff: bool,
    /// The mildest level that makes the exit code 1.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    deny: Level,
    /// Report these rules only.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,
    /// Do not report these rules.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Check again whenever something changes, until this is stopped.
    #[arg(long, conflicts_with_all = ["fix", "diff", "stdin_filename"])]
    watch: bool,
    /// The name of the file that `-` reads.
    #[arg(long, value_name = "PATH")]
    stdin_filename: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With source and help, for people.
    Full,
    /// One line for each finding.
    Concise,
    /// One versioned document, for programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations in a GitHub workflow.
    Github,
    /// A code quality report for GitLab.
    Gitlab,
    /// A test report.
    Junit,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    for rule in arguments.select.iter().chain(&arguments.ignore) {
        known_rule(rule)?;
    }
    let mut check = Check::new(arguments)?;
    if arguments.watch {
        watch::watch(&mut check)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut scope = check.look();
    let mut mended = 0;
    if arguments.fix {
        mended = mend::mend(&mut check, &mut scope)?;
    } else if arguments.diff {
        let before = scope.sources.clone();
        mend::mend_unsaved(&mut check, &mut scope);
        output::print(|out| mend::print_diff(&before, &scope.sources, &check.current, out))?;
        scope = check.undone();
    }
    if !arguments.diff {
        print(&check, &scope, mended)?;
    }
    for reason in &scope.refused {
        CliError::new(reason.as_str()).help("the other paths were checked").print();
    }
    let failed = scope.diagnostics.iter().any(|found| found.level >= arguments.deny);
    let refused = scope.refused.len();
    // The process is about to end: giving back thousands of texts one by one would only take time.
    std::mem::forget((check, scope));
    Ok(match (refused == 0, failed) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::from(1),
        (true, false) => ExitCode::SUCCESS,
    })
}

fn known_rule(name: &str) -> Result<(), CliError> {
    if rules::find(name).is_some() {
        return Ok(());
    }
    let error = CliError::new(format!("there is no rule `{}`", visible(name)));
    Err(match rules::suggest(name) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error.help("`autofork explain` lists the rules"),
    })
}

/// A check that can be repeated.
pub(super) struct Check<'a> {
    arguments: &'a Arguments,
    pub(super) workspace: Workspace,
    current: PathBuf,
    user: UserDirs,
    /// The file that standard input stands for.
    pub(super) stdin: Option<PathBuf>,
}

impl<'a> Check<'a> {
    fn new(arguments: &'a Arguments) -> Result<Self, CliError> {
        let current = surroundings::current_folder()?;
        let mut workspace = Workspace::on_disk();
        let mut stdin = None;
        if arguments.paths.iter().any(|path| path.as_os_str() == "-") {
            let name = arguments.stdin_filename.as_ref().ok_or_else(|| {
                CliError::new("the file on standard input has no name")
                    .help("say with `--stdin-filename` where it belongs, such as .autofork/forks/journal.md")
            })?;
            let path = project::cleaned(&current.join(name));
            workspace.set_overlay(&path, Some(read_stdin()?.into()));
            stdin = Some(path);
        }
        Ok(Self { arguments, workspace, current, user: surroundings::user_dirs(), stdin })
    }

    /// Looks at everything that the arguments name, once.
    pub(super) fn look(&mut self) -> Scope {
        let given: Vec<PathBuf> =
            self.arguments.paths.iter().filter(|path| path.as_os_str() != "-").cloned().collect();
        let what = match &self.stdin {
            None if given.is_empty() => What::Everything,
            stdin => What::Paths(given.into_iter().chain(stdin.clone()).collect()),
        };
        let mut scope = scope::look(&mut self.workspace, &self.current, &self.user, &what);
        let wanted = |found: &Diagnostic| {
            let named = |names: &[String]| names.iter().any(|name| name == found.rule.name);
            (self.arguments.select.is_empty() || named(&self.arguments.select)) && !named(&self.arguments.ignore)
        };
        scope.diagnostics.retain(wanted);
        scope
    }

    /// Looks again at the files as they are on disk.
    fn undone(&mut self) -> Scope {
        self.workspace.clear_overlays();
        self.look()
    }

    /// How far fixes may go.
    pub(super) fn applicability(&self) -> Applicability {
        if self.arguments.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
    }
}

fn read_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let outcome = io::stdin().lock().take(limit).read_to_end(&mut bytes);
    outcome.map_err(|error| CliError::new(format!("standard input cannot be read: {error}")))?;
    // What is too large was cut off anywhere, and is only looked at to see whether it was meant as a fork.
    if bytes.len() > MAX_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| {
        CliError::new("standard input is not UTF-8")
            .help("save the file with the encoding UTF-8, then check it again")
    })
}

fn print(check: &Check<'_>, scope: &Scope, mended: usize) -> Result<(), CliError> {
    let report = report(check, scope);
    // The mended text of standard input goes to standard output, so the report makes way.
    if let Some(path) = check.stdin.as_ref().filter(|_| check.arguments.fix) {
        let text = scope.sources.get(path).map(|source| source.text().clone()).unwrap_or_default();
        output::print_raw(|out| out.write_all(text.as_bytes()))?;
        return written(print_to(&mut io::stderr().lock(), check, &report, mended));
    }
    output::print_raw(|out| print_to(out, check, &report, mended))
}

fn report<'a>(check: &'a Check<'_>, scope: &'a Scope) -> Report<'a> {
    Report { diagnostics: &scope.diagnostics, sources: &scope.sources, files: scope.files, base: &check.current }
}

/// Prints a report in the format that the arguments ask for.
pub(super) fn print_report(out: &mut dyn Write, check: &Check<'_>, scope: &Scope) -> io::Result<()> {
    print_to(out, check, &report(check, scope), 0)
}

fn print_to(out: &mut dyn Write, check: &Check<'_>, report: &Report<'_>, mended: usize) -> io::Result<()> {
    match check.arguments.format {
        Format::Full => {
            full::render(report, surroundings::look(), out)?;
            if mended > 0 {
                writeln!(out, "Mended {mended}.")?;
            }
        }
        Format::Concise => concise::render(report, out)?,
        Format::Json => json::render(report, out)?,
        Format::Sarif => sarif::render(report, rules::ALL, out)?,
        Format::Github => github::render(report, out)?,
        Format::Gitlab => gitlab::render(report, out)?,
        Format::Junit => junit::render(report, out)?,
    }
    out.flush()
}

/// A path that is shown to a person.
pub(super) fn shown(path: &Path, base: &Path) -> String {
    visible(&path.strip_prefix(base).unwrap_or(path).to_string_lossy()).into_owned()
}
