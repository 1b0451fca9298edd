//! `simulate`: forks on a virtual clock. A scenario file with what is expected, or a real session from the journal.

mod render;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::cli::sessions::words;
use crate::cli::{CliError, output};
use crate::compile;
use crate::engine::SessionId;
use crate::host::dirs::Home;
use crate::journal::Reader;
use crate::project::{Disk, discover};
use crate::sim::scenario::{Fault, Played, Scenario, Texts, play, replay};
use crate::text::Source;

/// Play a scenario on a virtual clock, and see who fires when, who does not, and why.
///
/// Exits with 1 if something that the scenario expects does not happen, and with 2 if the scenario is wrong. The format
/// is described in docs/simulate.md.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The scenario, a TOML file.
    #[arg(required_unless_present = "session", conflicts_with = "session")]
    scenario: Option<PathBuf>,
    /// Play a real session again, from the journal: its id, or how that begins.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print one JSON document: times in milliseconds, from the beginning of the scenario or since 1970.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    match (&arguments.scenario, &arguments.session) {
        (Some(path), _) => simulate(path, arguments.json),
        (None, Some(session)) => again(session, arguments.json),
        (None, None) => Err(CliError::new("there is nothing to play").help("name a scenario file")),
    }
}

fn simulate(path: &Path, json: bool) -> Result<ExitCode, CliError> {
    let cannot =
        |path: &Path, error: std::io::Error| CliError::new(format!("cannot read {}: {error}", words::path(path)));
    let text = std::fs::read_to_string(path).map_err(|error| cannot(path, error))?;
    let source = Source::new(path, text.as_str());
    let scenario = Scenario::parse(&text).map_err(|fault| at_its_place(&source, &fault))?;
    let folder = match &scenario.forks_from {
        Some(folder) => texts(&path.parent().unwrap_or(Path::new("")).join(folder))?,
        None => Texts::new(),
    };
    let played = play(&scenario, &folder);
    if let Some(unknown) = played.unknown.first() {
        let at = text.find(unknown.as_str()).unwrap_or(0);
        let message = format!("there is no fork named `{}`", words::plain(unknown.as_str()));
        let span = at..at + unknown.as_str().len();
        let near = compile::nearest(unknown.as_str(), played.known.iter().map(crate::ir::ForkName::as_str));
        let help = near.map_or_else(
            || "write it under [forks], or name its folder with `forks_from`".to_owned(),
            |near| format!("did you mean `{}`?", words::plain(near)),
        );
        return Err(at_its_place(&source, &Fault { span, message, help: Some(help) }));
    }
    let shown = if json { render::json(&scenario, &played) } else { render::scenario(&scenario, &played, &source) };
    output::say(&shown)?;
    Ok(if met(&played) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn met(played: &Played) -> bool {
    played.unmet.is_empty()
}

/// The fork files of a folder, by their paths below it.
fn texts(folder: &Path) -> Result<Texts, CliError> {
    if !folder.is_dir() {
        return Err(CliError::new(format!("{} is not a folder", words::path(folder))).help("see `forks_from`"));
    }
    let found = discover(&Disk, folder);
    let mut texts = Texts::new();
    for candidate in found.candidates {
        let read = std::fs::read(&candidate.path);
        let text =
            read.map_err(|error| CliError::new(format!("cannot read {}: {error}", words::path(&candidate.path))))?;
        let below = candidate.path.strip_prefix(folder).unwrap_or(&candidate.path).to_path_buf();
        texts.insert(below, text);
    }
    Ok(texts)
}

fn at_its_place(source: &Source, fault: &Fault) -> CliError {
    let place = source.position(fault.span.start);
    let line = source.line_text(source.line_of(fault.span.start)).trim_end();
    let gap: String = " ".repeat((place.column as usize).saturating_sub(1));
    let width = fault.span.len().clamp(1, line.chars().count().saturating_sub(gap.len()).max(1));
    let message = format!(
        "{}:{}:{}: {}\n\n  {}\n  {gap}{}\n",
        words::plain(&source.path().to_string_lossy()),
        place.line,
        place.column,
        words::plain(&fault.message).replace("\\n", "\n"),
        words::plain(line),
        "^".repeat(width)
    );
    let error = CliError::new(message);
    match &fault.help {
        Some(help) => error.help(help.clone()),
        None => error.help("the format is described in docs/simulate.md"),
    }
}

/// A real session.
fn again(begins: &str, json: bool) -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let failed = |error: rusqlite::Error| CliError::new(format!("cannot read the journal: {error}"));
    let reader =
        Reader::open(&home.journal()).map_err(|error| CliError::new(error.to_string()).help(error.help()))?;
    let nothing = || CliError::new("there is no journal yet").help("it is begun with the first session");
    let reader = reader.ok_or_else(nothing)?;
    let mut entries = Vec::new();
    reader.entries(|entry| entries.push(entry)).map_err(failed)?;
    let mut ids: Vec<SessionId> = entries.iter().filter_map(|entry| entry.session().cloned()).collect();
    ids.sort();
    ids.dedup();
    ids.retain(|id| id.as_str().starts_with(begins));
    let id = match ids.as_slice() {
        [id] => id.clone(),
        [] => {
            return Err(CliError::new(format!("the journal knows no session `{}`", words::plain(begins)))
                .help("entries are kept for 30 days; `autofork history` goes further back"));
        }
        [one, other, ..] => {
            return Err(CliError::new(format!("several sessions begin with `{}`", words::plain(begins)))
                .help(format!("for example {one} and {other}")));
        }
    };
    let programs = reader.last_programs().map_err(failed)?;
    let timeline = replay(entries, programs, &id);
    let shown = if json { render::json_session(&id, &timeline) } else { render::session(&id, &timeline) };
    output::say(&shown)?;
    Ok(ExitCode::SUCCESS)
}
