//! `config`: the configuration in force and where each value comes from.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::check::shown;
use super::{CliError, output, surroundings};
use crate::cli::style::DIM;
use crate::compile::{Layer, Origin};
use crate::db::{Loaded, Workspace};
use crate::diagnostic::{Diagnostic, Report, full, json as json_format};
use crate::ir::{Config, LaunchDir, Seconds};
use crate::project;
use crate::text::visible;

/// Show the configuration in force here, and which file each value comes from.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let current = surroundings::current_folder()?;
    let user = surroundings::user_dirs();
    let loaded = Workspace::on_disk().load(&LaunchDir::new(&current), &user);
    let (user_path, project_path) = project::config_paths(&loaded.root, &user);
    let paths = |layer: Layer| match layer {
        Layer::User => user_path.as_deref().map(|path| shown(path, &current)).unwrap_or_default(),
        Layer::Project => shown(&project_path, &current),
    };
    let settings = settings(&loaded);
    let of_config = |found: &&Diagnostic| found.path.extension().is_some_and(|extension| extension == "toml");
    let diagnostics: Vec<Diagnostic> = loaded.diagnostics.iter().filter(of_config).cloned().collect();
    let report = Report { diagnostics: &diagnostics, sources: &loaded.sources, files: loaded.layers, base: &current };
    if arguments.json {
        output::print_raw(|out| print_json(&settings, &report, &paths, out))?;
    } else {
        output::print(|out| print(&settings, &report, &paths, out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A value that is in force.
struct Setting {
    key: String,
    /// As it would be written in the file.
    text: String,
    value: Value,
    origin: Origin,
}

fn settings(loaded: &Loaded) -> Vec<Setting> {
    let config = &loaded.config.config;
    let mut settings = Vec::new();
    let mut add = |key: &str, text: String, value: Value| {
        let origin = loaded.config.origin(key);
        settings.push(Setting { key: key.to_owned(), text, value, origin });
    };
    let length = |seconds: Seconds| (format!("\"{seconds}\""), json!(seconds.get()));
    for (key, seconds) in lengths(config) {
        let (text, value) = length(seconds);
        add(key, text, value);
    }
    for (key, set) in [("enable_tags", &config.enable_tags), ("disable_tags", &config.disable_tags)] {
        let tags: Vec<&str> = set.iter().map(crate::ir::Tag::as_str).collect();
        add(key, json!(tags).to_string(), json!(tags));
    }
    for (key, value) in [("background_hold", config.background_hold), ("wake_in_plan_mode", config.wake_in_plan_mode)]
    {
        add(key, value.to_string(), json!(value));
    }
    for (tag, seconds) in &config.tag_throttles {
        let (text, value) = length(*seconds);
        add(&format!("tag_throttles.{tag}"), text, value);
    }
    let levels: BTreeMap<_, _> = loaded.config.lint.iter().collect();
    for (rule, level) in levels {
        let level = level.map_or("off", crate::diagnostic::Level::name);
        add(&format!("lint.{rule}"), format!("\"{level}\""), json!(level));
    }
    settings
}

fn lengths(config: &Config) -> [(&'static str, Seconds); 5] {
    [
        ("default_idle_deadline", config.default_idle_deadline),
        ("session_timeout", config.session_timeout),
        ("quiet_period", config.quiet_period),
        ("wake_debounce", config.wake_debounce),
        ("background_hold_timeout", config.background_hold_timeout),
    ]
}

fn print(
    settings: &[Setting],
    report: &Report<'_>,
    paths: &dyn Fn(Layer) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = |setting: &Setting| format!("{} = {}", visible(&setting.key), visible(&setting.text));
    let width = settings.iter().map(|setting| shown(setting).chars().count()).max().unwrap_or(0);
    for setting in settings {
        let origin = match setting.origin {
            Origin::Default => "default".to_owned(),
            Origin::Layer(layer) => paths(layer),
        };
        writeln!(out, "{:width$}  {DIM}{origin}{DIM:#}", shown(setting))?;
    }
    if !report.diagnostics.is_empty() {
        writeln!(out)?;
        full::render(report, surroundings::look(), out)?;
    }
    Ok(())
}

fn print_json(
    settings: &[Setting],
    report: &Report<'_>,
    paths: &dyn Fn(Layer) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let settings: Vec<Value> = settings
        .iter()
        .map(|setting| {
            let (layer, path) = match setting.origin {
                Origin::Default => ("default", None),
                Origin::Layer(layer) => (layer.name(), Some(paths(layer))),
            };
            json!({ "key": setting.key, "value": setting.value, "layer": layer, "path": path })
        })
        .collect();
    let document = json!({
        "version": json_format::VERSION,
        "settings": settings,
        "diagnostics": json_format::findings(report),
    });
    json_format::write(&document, out)
}
