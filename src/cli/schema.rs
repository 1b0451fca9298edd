//! `schema`: JSON Schemas for editors.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{CliError, output};
use crate::compile::schema;

/// Print the JSON Schema of a fork's frontmatter or of the configuration; without a name, both in one document.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which one.
    #[arg(value_enum)]
    which: Option<Which>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Of the frontmatter of a fork.
    Frontmatter,
    /// Of `config.toml`.
    Config,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let schema = match arguments.which {
        Some(Which::Frontmatter) => schema::frontmatter(),
        Some(Which::Config) => schema::config(),
        None => json!({ "frontmatter": schema::frontmatter(), "config": schema::config() }),
    };
    output::print_json(&schema)?;
    Ok(ExitCode::SUCCESS)
}
