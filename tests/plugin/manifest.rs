//! `hooks.json` and `plugin.json` as the client reads them.

use serde_json::Value;

/// Twelve hours, the default `session_timeout`: a parked Stop hook must outlive it.
const SESSION_TIMEOUT_SECONDS: u64 = 12 * 60 * 60;

/// The hooks the engine's facts come from, and the event name the binary knows each by.
const EVENTS: [(&str, &str); 9] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "user-prompt-submit"),
    ("Stop", "stop"),
    ("PreToolUse", "pre-tool-use"),
    ("PostToolUse", "post-tool-use"),
    ("PostToolUseFailure", "post-tool-use-failure"),
    ("SubagentStart", "subagent-start"),
    ("SubagentStop", "subagent-stop"),
    ("SessionEnd", "session-end"),
];

fn read(path: &str) -> Value {
    let path = super::plugin().join(path);
    let text = std::fs::read_to_string(&path).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The hook that comes second when a session starts: it sees to it that there is a binary.
const BOOTSTRAP: &str = r#"sh "${CLAUDE_PLUGIN_ROOT}/hooks/autofork-bootstrap""#;

/// Each event's only group and that group's hook that tells of the event.
fn hooks() -> Vec<(String, Value, Value)> {
    let manifest = read("hooks/hooks.json");
    manifest["hooks"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(event, groups)| {
            assert_eq!(groups.as_array().unwrap().len(), 1, "{event}");
            let group = groups[0].clone();
            let count = group["hooks"].as_array().unwrap().len();
            assert_eq!(count, if event == "SessionStart" { 2 } else { 1 }, "{event}");
            let hook = group["hooks"][0].clone();
            (event.clone(), group, hook)
        })
        .collect()
}

#[test]
fn exactly_the_events_we_use_are_hooked() {
    let mut hooked: Vec<String> = hooks().into_iter().map(|(event, ..)| event).collect();
    let mut wanted: Vec<String> = EVENTS.iter().map(|(event, _)| (*event).to_owned()).collect();
    hooked.sort();
    wanted.sort();
    assert_eq!(hooked, wanted);
}

#[test]
fn every_hook_is_called_through_sh_with_its_path_quoted() {
    for (event, _, hook) in hooks() {
        let (_, argument) = EVENTS.iter().find(|(name, _)| *name == event).unwrap();
        assert_eq!(hook["type"], "command", "{event}");
        let wanted = format!(r#"sh "${{CLAUDE_PLUGIN_ROOT}}/hooks/autofork-hook" {argument}"#);
        assert_eq!(hook["command"], wanted.as_str(), "{event}");
    }
}

#[test]
fn timeouts_are_seconds_and_short_for_all_but_the_parked_stop() {
    for (event, _, hook) in hooks() {
        let seconds = hook["timeout"].as_u64().unwrap();
        if event == "Stop" {
            assert_eq!(hook["asyncRewake"], true);
            assert!(seconds > SESSION_TIMEOUT_SECONDS, "{seconds}");
            // A week. Milliseconds, mistaken for seconds, would be far past it.
            assert!(seconds < 7 * 24 * 60 * 60, "{seconds}");
        } else {
            assert!(hook.get("asyncRewake").is_none(), "{event}");
            assert!((1..=10).contains(&seconds), "{event}: {seconds}");
        }
    }
}

#[test]
fn tool_hooks_see_agent_calls_only() {
    for (event, group, _) in hooks() {
        if event.contains("ToolUse") {
            assert_eq!(group["matcher"], "Agent", "{event}");
        } else {
            assert!(group.get("matcher").is_none(), "{event}");
        }
    }
}

#[test]
fn a_session_that_starts_also_sees_to_the_binary() {
    let hook = &read("hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][1];
    assert_eq!((&hook["type"], &hook["command"]), (&"command".into(), &BOOTSTRAP.into()));
    // It returns at once; were it ever to hang, no session should wait for it.
    assert!((1..=5).contains(&hook["timeout"].as_u64().unwrap()));
}

#[test]
fn the_plugin_has_the_name_and_version_of_the_package() {
    let plugin = read(".claude-plugin/plugin.json");
    assert_eq!(plugin["name"], "autofork");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(plugin["license"], "MIT");
}

#[test]
fn the_language_server_is_attached_to_the_files_that_it_knows() {
    let servers = read(".lsp.json");
    let server = &servers["autofork"];
    assert_eq!(server["command"], "sh", "a command with blanks or with a path in it is refused");
    let shim = server["args"][0].as_str().unwrap().strip_prefix("${CLAUDE_PLUGIN_ROOT}/").unwrap();
    assert!(super::plugin().join(shim).is_file());
    let kinds: Vec<&String> = server["extensionToLanguage"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, [".md", ".toml"]);
}
