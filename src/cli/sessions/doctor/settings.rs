//! The client's settings files: whether they switch forks, background tasks, hooks or the plugin on or off.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::Support;
use super::finding::{Check, Finding};
use crate::cli::sessions::words;
use crate::project::{Disk, FileSystem};

/// The variable that switches the fork type of subagents.
pub(super) const PIN: &str = "CLAUDE_CODE_FORK_SUBAGENT";

/// The variable that switches background tasks off.
const NO_BACKGROUND: &str = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS";

/// No settings file of a person is longer.
const LIMIT: usize = 4 * 1024 * 1024;

const READABLE: Check = Check {
    name: "settings",
    why: "the client ignores a settings file that it cannot read, with everything that stands in it",
};
const FORK_PIN: Check =
    Check { name: "fork-pin", why: "without the subagent type `fork`, a wake cannot be followed and no fork runs" };
const BACKGROUND: Check = Check { name: "background-tasks", why: "a fork runs as a background task of its session" };
const HOOKS_OFF: Check =
    Check { name: "hooks-switch", why: "autofork hears of a session, and wakes it, through hooks alone" };

/// The settings that count here, those that win first.
#[derive(Debug, Default)]
pub(super) struct Settings {
    files: Vec<SettingsFile>,
    /// What the environment of this command says of the two variables: what settings do not set, a client started from
    /// here takes from there.
    environment: Vec<(&'static str, String)>,
}

#[derive(Debug)]
struct SettingsFile {
    path: PathBuf,
    contents: Result<Value, String>,
}

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    File(&'a Path),
    Environment,
}

impl Place<'_> {
    fn words(self) -> String {
        match self {
            Self::File(path) => words::path(path),
            Self::Environment => "the environment of this command".to_owned(),
        }
    }

    fn mark(self, finding: Finding) -> Finding {
        match self {
            Self::File(path) => finding.at(path),
            Self::Environment => finding,
        }
    }
}

/// What a switch in an `env` table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
    Number,
    NotText,
    Odd,
}

impl Switch {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Self::On,
                "" | "0" | "false" | "no" | "off" => Self::Off,
                _ => Self::Odd,
            },
            Value::Number(_) => Self::Number,
            _ => Self::NotText,
        }
    }
}

impl Settings {
    /// Reads those of the project's folders, innermost first, and then the user's.
    pub(super) fn read(folders: &[PathBuf], variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let names = ["settings.local.json", "settings.json"];
        let paths = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
        let files = paths.filter_map(|path| {
            let contents = match Disk.read(&path, LIMIT) {
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    return None;
                }
                Err(error) => Err(error.to_string()),
                Ok(bytes) => parse(&bytes),
            };
            Some(SettingsFile { path, contents })
        });
        let environment = [PIN, NO_BACKGROUND]
            .into_iter()
            .filter_map(|name| variable(name).map(|value| (name, value.to_string_lossy().into_owned())));
        Self { files: files.collect(), environment: environment.collect() }
    }

    /// Everything that is to say about them, for a client of which `support` is known.
    pub(super) fn check(&self, support: Option<Support>) -> Vec<Finding> {
        let mut findings = self.unreadable();
        findings.extend(self.pin(support));
        findings.extend(self.background());
        findings.extend(self.hooks_off());
        findings
    }

    /// Whether a plugin of this name is enabled: the plugin as it is registered, what the first file to tell says, and that
    /// file.
    pub(super) fn enabled(&self, is_it: impl Fn(&str) -> bool) -> Option<(String, bool, &Path)> {
        self.values("enabledPlugins").find_map(|(path, plugins)| {
            let known = plugins.as_object()?.iter().find(|(name, _)| is_it(name))?;
            Some((known.0.clone(), known.1 != &Value::Bool(false), path))
        })
    }

    fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = (&'a Path, &'a Value)> {
        self.files.iter().filter_map(move |file| Some((file.path.as_path(), file.contents.as_ref().ok()?.get(key)?)))
    }

    /// All that is said of an environment variable, what wins first.
    fn env<'a>(&'a self, name: &'a str) -> Vec<(Place<'a>, Switch, String)> {
        let mut said: Vec<_> = self
            .values("env")
            .filter_map(|(path, env)| Some((Place::File(path), env.get(name)?)))
            .map(|(place, value)| (place, Switch::of(value), value.to_string()))
            .collect();
        let outside = self.environment.iter().filter(|(known, _)| *known == name);
        said.extend(outside.map(|(_, value)| {
            let value = Value::String(value.clone());
            (Place::Environment, Switch::of(&value), value.to_string())
        }));
        said
    }

    fn unreadable(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for SettingsFile { path, contents } in &self.files {
            match contents {
                Err(reason) => findings.push(
                    READABLE
                        .warn(
                            format!("{} cannot be read: {reason}", words::path(path)),
                            "make it valid JSON, or remove it",
                        )
                        .at(path),
                ),
                Ok(value) if value.get("env").is_some_and(|env| !env.is_object()) => findings.push(
                    READABLE
                        .warn(
                            format!("`env` in {} is no table of variables", words::path(path)),
                            "write it as an object: \"env\": { \"NAME\": \"text\" }",
                        )
                        .at(path),
                ),
                Ok(_) => {}
            }
        }
        findings
    }

    fn pin(&self, support: Option<Support>) -> Vec<Finding> {
        let said = self.env(PIN);
        let mut findings: Vec<Finding> = said.iter().filter_map(|said| badly_written(said)).collect();
        match said.first() {
            Some((place, Switch::On, _)) => {
                findings.push(place.mark(FORK_PIN.ok(format!("{PIN} is set in {}", place.words()))));
            }
            Some((place, Switch::Off, _)) => findings.push(
                place.mark(
                    FORK_PIN
                        .note(format!("forks are switched off on purpose: {PIN} is off in {}", place.words()))
                        .remedy(format!("to have forks, set {PIN} to \"1\" there, or remove it")),
                ),
            ),
            // Said above.
            Some(_) => {}
            None => findings.extend(missing(support)),
        }
        findings
    }

    fn background(&self) -> Option<Finding> {
        let (place, ..) =
            self.env(NO_BACKGROUND).into_iter().next().filter(|(_, switch, _)| *switch != Switch::Off)?;
        let found = format!("background tasks are switched off: {NO_BACKGROUND} is set in {}", place.words());
        Some(place.mark(BACKGROUND.note(found).remedy(format!("to have forks, remove {NO_BACKGROUND} there"))))
    }

    fn hooks_off(&self) -> Option<Finding> {
        let (path, _) = self.values("disableAllHooks").next().filter(|(_, off)| **off == Value::Bool(true))?;
        let found = format!("all hooks are switched off in {}", words::path(path));
        Some(HOOKS_OFF.note(found).remedy("to have forks, remove `disableAllHooks` there").at(path))
    }
}

fn badly_written((place, switch, value): &(Place<'_>, Switch, String)) -> Option<Finding> {
    let fault = match switch {
        Switch::On | Switch::Off => return None,
        Switch::Number => "a number, where the client wants text",
        Switch::NotText => "no text, which the client wants there",
        Switch::Odd => "neither \"1\" nor \"0\"",
    };
    let found = format!("{PIN} in {} is {fault}: {}", place.words(), words::first_line(value, 60));
    Some(place.mark(FORK_PIN.warn(found, format!("write it in quotes: \"env\": {{ \"{PIN}\": \"1\" }}"))))
}

fn missing(support: Option<Support>) -> Option<Finding> {
    match support {
        // What is wrong with such a client is said elsewhere, and a pin does not help.
        Some(Support::None) => None,
        Some(Support::BuiltIn) => Some(FORK_PIN.ok(format!("{PIN} is not set, and not needed"))),
        Some(Support::Pinned | Support::Untyped) => Some(FORK_PIN.problem(
            format!("{PIN} is not set, and this client has no forks without it"),
            format!(
                "write \"env\": {{ \"{PIN}\": \"1\" }} into ~/.claude/settings.json, or update with `claude update`"
            ),
        )),
        None => {
            Some(FORK_PIN.note(format!(
                "{PIN} is not set; a Claude Code older than 2.1.232 would need it, a newer one does not"
            )))
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // The client takes an empty file for one without settings.
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    /// The findings for a project's `settings.json`, each as its level and check.
    fn check(text: &str, support: Option<Support>) -> Vec<(Level, &'static str)> {
        let contents = parse(text.as_bytes());
        let file = SettingsFile { path: PathBuf::from("/project/.claude/settings.json"), contents };
        let settings = Settings { files: vec![file], environment: Vec::new() };
        settings.check(support).into_iter().map(|finding| (finding.level, finding.check)).collect()
    }

    fn pin(value: &str) -> String {
        format!("{{ \"env\": {{ \"{PIN}\": {value} }} }}")
    }

    #[test]
    fn the_pin_is_set_off_or_badly_written() {
        let newest = Some(Support::BuiltIn);
        for on in ["\"1\"", "\"true\""] {
            assert_eq!(check(&pin(on), Some(Support::Pinned)), [(Level::Ok, "fork-pin")]);
        }
        for off in ["\"0\"", "\"\"", "\"false\""] {
            assert_eq!(check(&pin(off), newest), [(Level::Note, "fork-pin")]);
        }
        for bad in ["1", "0", "true", "null", "[]", "\"maybe\""] {
            assert_eq!(check(&pin(bad), newest), [(Level::Warn, "fork-pin")], "{bad}");
        }
    }

    #[test]
    fn a_pin_that_is_missing_matters_where_forks_need_it() {
        assert_eq!(check("{}", Some(Support::BuiltIn)), [(Level::Ok, "fork-pin")]);
        assert_eq!(check("{}", Some(Support::Pinned)), [(Level::Problem, "fork-pin")]);
        assert_eq!(check("{}", Some(Support::Untyped)), [(Level::Problem, "fork-pin")]);
        assert_eq!(check("", None), [(Level::Note, "fork-pin")]);
        assert_eq!(check("{}", Some(Support::None)), []);
    }

    #[test]
    fn a_file_that_cannot_be_read_costs_a_warning_and_no_other_check() {
        let found = check("{ \"env\": ", Some(Support::BuiltIn));
        assert_eq!(found, [(Level::Warn, "settings"), (Level::Ok, "fork-pin")]);
        assert_eq!(check("{ \"env\": [] }", None)[0], (Level::Warn, "settings"));
        assert_eq!(check("{ \"disableAllHooks\": true }", None)[1], (Level::Note, "hooks-switch"));
    }

    #[test]
    fn the_nearest_file_wins_and_the_environment_comes_last() {
        let file = |path: &str, text: &str| SettingsFile { path: path.into(), contents: parse(text.as_bytes()) };
        let settings = Settings {
            files: vec![file("/near", &pin("\"0\"")), file("/far", &pin("\"1\""))],
            environment: vec![(PIN, "1".to_owned())],
        };
        let found = settings.check(None);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].level, found[0].path.as_deref()), (Level::Note, Some(Path::new("/near"))));
    }
}
