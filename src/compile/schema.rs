//! JSON Schemas (draft 2020-12) of a fork's frontmatter and of `config.toml`, for editors and schema catalogues.
//!
//! They say how files are written, where the IR says what they come to; so they are made from types that mirror the
//! IR's fields in their written form. A schema cannot say everything that the rules do: it is a help while typing, the
//! compiler is the judge.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::Value;

use super::keys::IGNORED_KEYS;
use super::rules;

/// The frontmatter of a fork.
#[derive(JsonSchema)]
#[schemars(rename = "Fork", title = "Frontmatter of a fork", extend("required" = ["fork"]))]
#[allow(dead_code)] // only its shape is used
struct Frontmatter {
    /// Whether this file is a fork. `false` switches off a fork of the same name from a farther root.
    fork: bool,
    /// What the fork is for, in a few words for people.
    description: Option<String>,
    /// When the fork comes due: a list of moments.
    #[schemars(default = "bare_idle")]
    run_on: Option<Vec<Moment>>,
    /// The least time between two runs in one conversation.
    throttle: Option<Duration>,
    /// The forks that this one waits for when they come due together.
    after: Option<OneOrMany>,
    /// Whether two runs of this fork may be under way at once.
    #[schemars(default)]
    overlap: Option<bool>,
    /// Labels, by which the configuration switches, filters and throttles groups of forks.
    tags: Option<OneOrMany>,
}

fn bare_idle() -> Vec<&'static str> {
    vec!["idle"]
}

/// The configuration: `~/.autofork/config.toml`, and `.autofork/config.toml` of a project over it, key by key.
#[derive(JsonSchema)]
#[schemars(rename = "Config", title = "Configuration of autofork", deny_unknown_fields)]
#[allow(dead_code)] // only its shape is used
struct ConfigFile {
    /// How long a session must be quiet for a bare `idle` moment; 0 switches bare `idle` off. Default: 10m.
    default_idle_deadline: Option<Duration>,
    /// A session without any event for so long has ended; 0: never. Default: 12h.
    session_timeout: Option<Duration>,
    /// The daemon leaves after so long without sessions. In the user's own file only. Default: 20m.
    quiet_period: Option<Duration>,
    /// From the first fork that comes due, how long to wait for others to join its wake; 0: not at all. Default: 5s.
    wake_debounce: Option<Duration>,
    /// If not empty, only forks with one of these tags run.
    enable_tags: Option<OneOrMany>,
    /// Forks with one of these tags do not run.
    disable_tags: Option<OneOrMany>,
    /// For each tag the least time between two runs of any forks with it.
    #[allow(clippy::zero_sized_map_values)] // a schema has no values
    tag_throttles: Option<BTreeMap<String, Duration>>,
    /// Whether unfinished background work keeps the idle clock from starting. Default: true.
    background_hold: Option<bool>,
    /// How long one piece of background work may hold the clock; 0: without limit. Default: 30m.
    background_hold_timeout: Option<Duration>,
    /// Whether sessions in plan mode are woken. Default: false.
    wake_in_plan_mode: Option<bool>,
    /// Levels of rules.
    lint: Option<Lint>,
}

struct Duration;

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of seconds, or a number with one of the units s, m, h, d.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^ *(0|[1-9][0-9]*) *[smhd]? *$" }
            ],
            "examples": ["15m", "2h", 90]
        })
    }
}

struct Moment;

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = generator.subschema_for::<Duration>();
        let tokens = json_schema!({ "type": "integer", "minimum": 1 });
        let one = |name: &str, what: &str, value: Schema| {
            json_schema!({
                "type": "object",
                "description": what,
                "properties": { name: value },
                "required": [name],
                "additionalProperties": false
            })
        };
        json_schema!({
            "anyOf": [
                { "const": "idle", "description": "The session has been quiet for `default_idle_deadline`." },
                one("idle", "The session has been quiet for so long; `0s` is its first stop.", duration),
                one("context_tokens", "The context holds so many tokens.", tokens.clone()),
                one(
                    "context_used",
                    "So much of the context window is used.",
                    json_schema!({ "type": "string", "pattern": "^ *([1-9][0-9]?|100) *% *$", "examples": ["80%"] }),
                ),
                one("context_left", "So many tokens of the context window are left.", tokens)
            ]
        })
    }
}

struct OneOrMany;

impl JsonSchema for OneOrMany {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "minLength": 1 },
                { "type": "array", "items": { "type": "string", "minLength": 1 }, "uniqueItems": true }
            ]
        })
    }
}

struct Lint;

impl JsonSchema for Lint {
    fn schema_name() -> Cow<'static, str> {
        "Lint".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let level =
            |summary: String| json_schema!({ "description": summary, "enum": ["off", "hint", "warn", "error"] });
        let rules: serde_json::Map<String, Value> =
            rules::ALL.iter().map(|rule| (rule.name.to_owned(), level(rule.summary()).to_value())).collect();
        json_schema!({ "type": "object", "properties": rules, "additionalProperties": false })
    }
}

/// The schema of the frontmatter.
pub fn frontmatter() -> Value {
    let mut schema = generate::<Frontmatter>();
    // Ignored, but known: an editor strikes them out.
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for key in IGNORED_KEYS {
            properties
                .insert(key.to_owned(), serde_json::json!({ "deprecated": true, "description": "Has no effect." }));
        }
    }
    schema
}

/// The schema of the configuration.
pub fn config() -> Value {
    generate::<ConfigFile>()
}

fn generate<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use super::super::config::KEYS as CONFIG_KEYS;
    use super::super::keys::{KEYS, MARKER};
    use super::*;

    fn properties(schema: &Value) -> Vec<String> {
        let mut keys: Vec<String> = schema["properties"].as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    }

    #[test]
    fn the_schemas_know_the_keys_that_the_compiler_knows() {
        let mut keys: Vec<&str> = KEYS.into_iter().chain(IGNORED_KEYS).chain([MARKER]).collect();
        keys.sort_unstable();
        assert_eq!(properties(&frontmatter()), keys);
        let mut keys = CONFIG_KEYS.to_vec();
        keys.sort_unstable();
        assert_eq!(properties(&config()), keys);
    }

    #[test]
    fn the_schemas_say_which_draft_they_are() {
        for schema in [frontmatter(), config()] {
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        }
    }
}
