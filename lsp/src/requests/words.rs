//! What keys and moments mean, in the words of the schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use autofork::compile::schema;
use autofork::ir::{Moment, Seconds};
use autofork::syntax::duration::spell;
use serde_json::Value;

/// Keys with their documentation.
type Docs = BTreeMap<String, String>;

/// The keys of the frontmatter; ignored ones are not among them.
pub(crate) static FRONTMATTER: LazyLock<Docs> = LazyLock::new(|| docs(&schema::frontmatter()));

/// The keys of the configuration.
pub(crate) static CONFIG: LazyLock<Docs> = LazyLock::new(|| docs(&schema::config()));

fn docs(schema: &Value) -> Docs {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let current = properties.filter(|(_, value)| value.get("deprecated") != Some(&Value::Bool(true)));
    let text = |value: &Value| value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    current.map(|(key, value)| (key.clone(), text(value))).collect()
}

/// The moments, each with a sample of its value and what it means.
pub(crate) const MOMENTS: [(&str, Option<&str>, &str); 5] = [
    ("idle", None, "The session has been quiet for `default_idle_deadline`."),
    ("idle", Some("15m"), "The session has been quiet for so long; `0s` is its first stop."),
    ("context_used", Some("80%"), "So much of the context window is used."),
    ("context_tokens", Some("150000"), "The context holds so many tokens."),
    ("context_left", Some("20000"), "So many tokens of the context window are left."),
];

/// Durations to choose from, shortest first.
pub(crate) const DURATIONS: [&str; 8] = ["30s", "5m", "10m", "15m", "30m", "1h", "4h", "1d"];

/// A length of time for people: `15 min`.
pub(crate) fn length(length: Seconds) -> String {
    let spelt = spell(length);
    let (digits, unit) = spelt.split_at(spelt.len() - 1);
    let unit = match unit {
        "m" => "min",
        "d" if digits == "1" => "day",
        "d" => "days",
        other => other,
    };
    format!("{digits} {unit}")
}

/// A large number for people: `150,000`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// When a moment comes, given how long bare `idle` waits.
pub(crate) fn when(moment: Moment, default: Option<Seconds>) -> String {
    match (moment, default) {
        (Moment::Idle(Some(quiet)), _) if quiet.is_zero() => "at the first stop of each pause".to_owned(),
        (Moment::Idle(Some(quiet)), _) | (Moment::Idle(None), Some(quiet)) => format!("quiet for {}", length(quiet)),
        (Moment::Idle(None), None) => "never: bare `idle` is switched off".to_owned(),
        (Moment::ContextTokens(tokens), _) => format!("the context reaches {} tokens", number(tokens.get())),
        (Moment::ContextUsed(percent), _) => {
            let of = |window: u64| number(window / 100 * u64::from(percent.get()));
            format!(
                "{} % of the context window is used: {} tokens of 200k, {} of 1M",
                percent.get(),
                of(200_000),
                of(1_000_000)
            )
        }
        (Moment::ContextLeft(tokens), _) => format!("{} tokens of the context window are left", number(tokens.get())),
    }
}
