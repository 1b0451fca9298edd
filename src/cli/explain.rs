//! `explain`: what a rule finds, why that matters, and how to write it right.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::{CliError, output};
use crate::cli::style::{BOLD, DIM};
use crate::compile::rules;
use crate::diagnostic::{Fixes, Level, Rule};
use crate::text::visible;

/// Explain a rule of `check`; without a name, list them all.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The name of a rule, such as `never-fires`.
    rule: Option<String>,
}

const EXAMPLE: Style = AnsiColor::Cyan.on_default();

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    match &arguments.rule {
        None => output::print(list)?,
        Some(name) => {
            let rule = find(name)?;
            output::print(|out| explain(rule, out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(name: &str) -> Result<&'static Rule, CliError> {
    rules::find(name).ok_or_else(|| {
        let error = CliError::new(format!("there is no rule `{}`", visible(name)));
        match rules::suggest(name) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help("`autofork explain` lists the rules"),
        }
    })
}

fn colour(level: Level) -> Style {
    match level {
        Level::Error => AnsiColor::Red.on_default(),
        Level::Warn => AnsiColor::Yellow.on_default(),
        Level::Hint => AnsiColor::Cyan.on_default(),
    }
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = rules::ALL.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut sorted: Vec<&Rule> = rules::ALL.to_vec();
    sorted.sort_by_key(|rule| rule.category);
    let mut category = None;
    for rule in sorted {
        if category != Some(rule.category) {
            let gap = if category.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}{BOLD}{}{BOLD:#}", rule.category.title())?;
            category = Some(rule.category);
        }
        let style = colour(rule.level);
        let summary = rule.summary();
        let sentence = beginning(&summary);
        writeln!(out, "  {:width$}  {style}{:5}{style:#}  {sentence}", rule.name, rule.level)?;
    }
    writeln!(out, "\n{DIM}autofork explain RULE says more about one of them.{DIM:#}")
}

/// A summary up to its first colon, those in backquotes aside: what follows it are details.
fn beginning(summary: &str) -> &str {
    let mut colons = summary.match_indices(": ").map(|(at, _)| at);
    let end = colons.find(|at| summary[..*at].matches('`').count().is_multiple_of(2));
    summary[..end.unwrap_or(summary.len())].trim_end_matches('.')
}

fn explain(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let style = colour(rule.level);
    let fixes = if rule.fixes == Fixes::Some { ", has a fix" } else { "" };
    writeln!(out, "{BOLD}{}{BOLD:#}  {style}{}{style:#}{DIM}{fixes}{DIM:#}\n", rule.name, rule.level)?;
    let mut in_example = false;
    for line in rule.documentation().lines() {
        if let Some(info) = line.strip_prefix("```") {
            in_example = !in_example;
            if let Some((_, file)) = info.split_once(' ') {
                writeln!(out, "    {DIM}{file}{DIM:#}")?;
            }
        } else if in_example {
            writeln!(out, "    {EXAMPLE}{line}{EXAMPLE:#}")?;
        } else if line.starts_with("Bad") || line.starts_with("Good") {
            writeln!(out, "{BOLD}{line}{BOLD:#}")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    if let Some(link) = rule.link() {
        writeln!(out, "\n{DIM}{link}{DIM:#}")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_in_the_list_ends_at_its_first_colon_but_not_inside_of_code() {
        assert_eq!(beginning("A tag that cannot be one: empty, or a list."), "A tag that cannot be one");
        assert_eq!(beginning("A file without `fork: true`."), "A file without `fork: true`");
    }
}
