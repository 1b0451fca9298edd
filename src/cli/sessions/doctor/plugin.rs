//! The plugin: whether it is registered and enabled, and which binary its hooks run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::{Version, ask_version, lies_below};
use super::finding::{Check, Finding};
use super::heard::Heard;
use super::settings::Settings;
use crate::cli::sessions::words;
use crate::project::{Disk, FileSystem};

/// The plugin's name. It is registered as this, an `@`, and the name of its marketplace.
const NAME: &str = "autofork";

/// No manifest is longer.
const LIMIT: usize = 4 * 1024 * 1024;

const PLUGIN: Check =
    Check { name: "plugin", why: "only through the plugin's hooks does autofork hear of a session and wake it" };
const VERSIONS: Check = Check {
    name: "versions",
    why: "plugin, its binary, this command and the daemon are made to work together in one version",
};
const BINARY: Check = Check { name: "plugin-binary", why: "without a binary the plugin's hooks do nothing" };

/// The plugin as the client has installed it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Installed {
    /// `autofork@MARKETPLACE`.
    id: String,
    folder: Option<PathBuf>,
    version: Option<String>,
}

/// Checks the plugin, given the client's own folder.
pub(super) fn check(claude: &Path, settings: &Settings, heard: &Heard) -> Vec<Finding> {
    let installed = json(&claude.join("plugins/installed_plugins.json")).as_ref().and_then(installed);
    let enabled = settings.enabled(is_ours);
    let mut findings = vec![registration(installed.as_ref(), enabled.as_ref(), heard)];
    if let Some(version) = installed.as_ref().and_then(|installed| installed.version.as_ref())
        && version != env!("CARGO_PKG_VERSION")
    {
        let id = installed.as_ref().map(|installed| installed.id.as_str()).unwrap_or_default();
        findings.push(VERSIONS.warn(
            format!("the plugin is {version}, this command {}", env!("CARGO_PKG_VERSION")),
            format!("update what is older: `claude plugin update {id}`, or this command"),
        ));
    }
    findings
}

fn registration(installed: Option<&Installed>, enabled: Option<&(String, bool, &Path)>, heard: &Heard) -> Finding {
    match (installed, enabled) {
        (_, Some((id, false, path))) => PLUGIN
            .note(format!("{id} is switched off in {}", words::path(path)))
            .remedy(format!("to have forks, switch it on: `claude plugin enable {id}`"))
            .at(*path),
        (Some(Installed { id, folder, version }), Some(_)) => {
            let version = version.as_deref().unwrap_or("of a version that it does not tell");
            let finding = PLUGIN.ok(format!("{id} {version} is installed and enabled"));
            folder.iter().fold(finding, Finding::at)
        }
        (Some(Installed { id, .. }), None) => PLUGIN.warn(
            format!("{id} is installed, but no settings file that counts here enables it"),
            format!("switch it on: `claude plugin enable {id}`"),
        ),
        (None, Some((id, true, path))) => PLUGIN
            .warn(
                format!("{id} is enabled in {}, but not installed", words::path(path)),
                format!("install it: `claude plugin install {id}`"),
            )
            .at(*path),
        (None, None) if matches!(heard, Heard::At(_)) => {
            PLUGIN.ok("it is not installed, but its hooks report: a session was started with --plugin-dir")
        }
        (None, None) => PLUGIN.warn(
            "it is not installed, and nothing was ever heard of it",
            "in a session: `/plugin marketplace add PATH`, the path being that of a clone of autofork, and \
             `/plugin install autofork@autofork`; or start the session with `claude --plugin-dir PATH/plugin`",
        ),
    }
}

/// Checks the binaries that the plugin has brought into its folders for data.
pub(super) fn check_binaries(claude: &Path, path: Option<&OsStr>, untrusted: &[PathBuf]) -> Vec<Finding> {
    let data = claude.join("plugins/data");
    let mut folders: Vec<PathBuf> = Disk
        .list(&data)
        .unwrap_or_default()
        .into_iter()
        .filter(|entry| entry.name.to_str().is_some_and(|name| name.starts_with("autofork-")))
        .map(|entry| data.join(entry.name))
        .collect();
    folders.sort();
    let mut findings = Vec::new();
    for folder in folders {
        findings.extend(bootstrap(&folder));
        let binary = folder.join("bin/autofork");
        if Disk.metadata(&binary).is_ok() && !lies_below(&binary, untrusted) {
            findings.push(brought(&binary, path));
        }
    }
    findings
}

fn brought(binary: &Path, path: Option<&OsStr>) -> Finding {
    let shown = words::path(binary);
    let answer = ask_version(binary, path);
    match answer.as_deref().map(|answer| (answer.trim(), Version::find_in(answer))) {
        Some((answer, _)) if answer.strip_prefix("autofork ") == Some(env!("CARGO_PKG_VERSION")) => {
            VERSIONS.ok(format!("the plugin's own binary is {}, as this command", env!("CARGO_PKG_VERSION")))
        }
        Some((_, Some(version))) => VERSIONS.warn(
            format!("the plugin's own binary is {version}, this command {}", env!("CARGO_PKG_VERSION")),
            "update what is older; the plugin brings its binary anew at the next start of a session",
        ),
        _ => BINARY.problem(
            format!("{shown} does not run here"),
            format!("remove {shown}; the plugin brings another one at the next start of a session"),
        ),
    }
    .at(binary)
}

/// What came of bringing the binary: the file has one line, `VERSION ok|working|failed WORDS`.
fn bootstrap(folder: &Path) -> Option<Finding> {
    let path = folder.join("bootstrap.state");
    let text = Disk.read(&path, LIMIT).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut parts = text.lines().next()?.splitn(3, ' ');
    let (version, state, said) = (parts.next()?, parts.next()?, parts.next().unwrap_or_default());
    match state {
        "failed" => Some(BINARY.problem(
            format!("the plugin could not bring its binary of version {version}: {said}"),
            "install Rust, or put an autofork of this version onto your PATH; it is tried again an hour later at the \
             earliest",
        )),
        "working" => Some(BINARY.note(format!("the plugin is bringing its binary of version {version}: {said}"))),
        _ => None,
    }
    .map(|finding| finding.at(path))
}

fn is_ours(id: &str) -> bool {
    id.split('@').next() == Some(NAME)
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&Disk.read(path, LIMIT).ok()?).ok()
}

/// Our entry among those of installed plugins. Its form has changed over the client's versions: an object, or a list
/// of them, one for each scope.
fn installed(document: &Value) -> Option<Installed> {
    let plugins = document.get("plugins").unwrap_or(document).as_object()?;
    let (id, entry) = plugins.iter().find(|(id, _)| is_ours(id))?;
    let entry = entry.get(0).unwrap_or(entry);
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let folder = text("installPath").map(PathBuf::from).filter(|folder| folder.is_absolute());
    // What the plugin says of itself goes before what the client has noted.
    let manifest = folder.as_ref().and_then(|folder| json(&folder.join(".claude-plugin/plugin.json")));
    let version = manifest.as_ref().and_then(|manifest| manifest.get("version")?.as_str()).map(str::to_owned);
    Some(Installed { id: id.clone(), version: version.or_else(|| text("version")), folder })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;
    use crate::ir::Time;

    #[test]
    fn both_forms_of_the_clients_list_are_read() {
        let entry = serde_json::json!({ "scope": "user", "installPath": "/nowhere", "version": "0.1.0" });
        let wanted = Installed {
            id: "autofork@market".to_owned(),
            folder: Some(PathBuf::from("/nowhere")),
            version: Some("0.1.0".to_owned()),
        };
        let newer = serde_json::json!({ "version": 2, "plugins": { "autofork@market": [entry.clone()] } });
        let older = serde_json::json!({ "plugins": { "autofork@market": entry } });
        assert_eq!(installed(&newer), Some(wanted.clone()));
        assert_eq!(installed(&older), Some(wanted));
        assert_eq!(installed(&serde_json::json!({ "plugins": { "autofork-other@x": {} } })), None);
        assert_eq!(installed(&serde_json::json!([1, 2])), None);
    }

    #[test]
    fn a_plugin_is_there_off_or_missing() {
        let installed = Installed { id: "autofork@m".to_owned(), folder: None, version: Some("0.1.0".to_owned()) };
        let path = Path::new("/home/.claude/settings.json");
        let enabled = |enabled| Some(("autofork@m".to_owned(), enabled, path));
        let level = |installed: Option<&Installed>, enabled: Option<(String, bool, &Path)>, heard| {
            registration(installed, enabled.as_ref(), &heard).level
        };
        assert_eq!(level(Some(&installed), enabled(true), Heard::Never), Level::Ok);
        assert_eq!(level(Some(&installed), enabled(false), Heard::Never), Level::Note, "on purpose");
        assert_eq!(level(Some(&installed), None, Heard::Never), Level::Warn);
        assert_eq!(level(None, enabled(true), Heard::Never), Level::Warn);
        assert_eq!(level(None, None, Heard::Never), Level::Warn);
        assert_eq!(level(None, None, Heard::At(Time::from_millis(1))), Level::Ok, "started with --plugin-dir");
    }
}
