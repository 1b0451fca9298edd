//! `autofork doctor`: what keeps forks from firing here, why that matters, and what to do about it.
//!
//! One file for each thing that is looked at; each looks, and gives [`finding::Finding`]s. Nothing is started but the
//! client and the plugin's binary, to ask them for their versions, and nothing is written.

mod agents;
mod client;
mod finding;
mod forks;
mod heard;
mod places;
mod plugin;
mod render;
mod settings;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use self::client::Client;
use self::finding::{Check, Finding};
use self::heard::{Evidence, Heard};
use self::settings::Settings;
use crate::cli::{CliError, output, surroundings};
use crate::db::Workspace;
use crate::host::dirs::{HOME_VARIABLE, Home};
use crate::ir::LaunchDir;

/// The client's folder, in the user's home and in projects.
const CLAUDE: &str = ".claude";

const HOME: Check = Check { name: "base-folder", why: "autofork has to keep its journal and its log somewhere" };

/// Look for what keeps forks from firing: client, settings, plugin, hooks, daemon, forks
///
/// Exits with 1 if there are warnings or problems; notes do not count. Changes nothing and starts no daemon.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let findings = examine(&current);
    if arguments.json {
        output::print_raw(|out| render::json(&findings, out))?;
    } else {
        output::print(|out| render::text(&findings, out))?;
    }
    let counts = findings.iter().any(|finding| finding.level.counts());
    Ok(ExitCode::from(u8::from(counts)))
}

/// Everything that is to say about sessions launched in `current`.
fn examine(current: &Path) -> Vec<Finding> {
    let loaded = Workspace::on_disk().load(&LaunchDir::new(current), &surroundings::user_dirs());
    let home = variable("HOME").map(PathBuf::from).or_else(env::home_dir).filter(|home| home.is_absolute());
    let project = project_folders(current, loaded.root.as_path());
    // Whoever stands in a home folder, or above it, is in no project: programs there are the user's own.
    let untrusted: Vec<PathBuf> =
        project.iter().filter(|folder| home.as_ref().is_none_or(|home| !home.starts_with(folder))).cloned().collect();
    let path = env::var_os("PATH");
    let claude = variable("CLAUDE_CONFIG_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| home.map(|home| home.join(CLAUDE)));
    let mut claude_folders: Vec<PathBuf> = project.iter().map(|folder| folder.join(CLAUDE)).collect();
    if let Some(claude) = &claude {
        claude_folders.retain(|folder| folder != claude);
        claude_folders.push(claude.clone());
    }

    let client = Client::find(path.as_deref(), &untrusted);
    let settings = Settings::read(&claude_folders, |name| env::var_os(name));
    let mut findings = vec![client.check()];
    findings.extend(settings.check(client.support()));
    let agents: Vec<PathBuf> = claude_folders.iter().map(|folder| folder.join("agents")).collect();
    findings.extend(agents::check(&agents));

    let places = Home::from_env();
    let evidence = places.as_ref().ok().map(Evidence::gather);
    let heard = evidence.as_ref().map_or(Heard::Unknown, Evidence::heard);
    if let Some(claude) = &claude {
        findings.extend(plugin::check(claude, &settings, &heard));
        findings.extend(plugin::check_binaries(claude, path.as_deref(), &untrusted));
    }
    findings.extend(evidence.iter().flat_map(Evidence::check));
    findings.extend(places::check_variable(env::var_os(HOME_VARIABLE)));
    match &places {
        Ok(home) => findings.extend(places::check(home)),
        Err(error) => findings.push(HOME.problem(error.to_string(), error.help())),
    }
    findings.push(forks::check(&loaded));
    findings
}

/// The folder that a session would be launched in and those above it that belong to the same project, innermost
/// first: up to the root of the project or of the repository, whichever is farther up.
fn project_folders(current: &Path, root: &Path) -> Vec<PathBuf> {
    let is_repository = |folder: &&Path| folder.join(".git").exists();
    let repository = current.ancestors().find(is_repository).unwrap_or(root);
    let outermost = if root.starts_with(repository) { repository } else { root };
    current.ancestors().take_while(|folder| folder.starts_with(outermost)).map(Path::to_path_buf).collect()
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
