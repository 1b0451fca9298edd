//! Stage directions: lines by which a scenario tells the scripted model what to do, in a prompt or in a fork's body.
//!
//! Each is a line of its own. What is no direction is left to the model's conduct.

use std::time::Duration;

use serde_json::Value;

/// The tool calls directed in a text, in order: `call NAME {"its": "input"}`.
pub(super) fn calls(text: &str) -> Vec<(String, Value)> {
    let call = |line: &str| {
        let (name, input) = line.trim().strip_prefix("call ")?.split_once(' ')?;
        let input: Value = serde_json::from_str(input).ok()?;
        input.is_object().then(|| (name.to_owned(), input))
    };
    text.lines().filter_map(call).collect()
}

/// How long the model is to think before it answers: `Think for 3 seconds.`
pub(super) fn thinking(text: &str) -> Duration {
    Duration::from_secs(last_number(text, "Think for ", " seconds.").unwrap_or_default())
}

/// How many tokens it is to say the conversation has: `The context holds 70000 tokens.` The last word counts.
pub(super) fn context(text: &str) -> Option<u64> {
    last_number(text, "The context holds ", " tokens.")
}

fn last_number(text: &str, before: &str, after: &str) -> Option<u64> {
    text.rsplit(before).find_map(|rest| rest.split_once(after)?.0.parse().ok())
}
