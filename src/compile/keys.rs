//! The words of the fork language: keys and moments, and what people write instead of them.

use super::near::nearest;

/// The key that makes a file a fork.
pub(crate) const MARKER: &str = "fork";

/// The keys of a fork besides its marker.
pub(crate) const KEYS: [&str; 6] = ["description", "run_on", "throttle", "after", "overlap", "tags"];

/// Keys of older versions and of other tools, which are ignored: a fork runs on its session's model and permissions.
pub(crate) const IGNORED_KEYS: [&str; 4] = ["delivery", "model", "allowed_tools", "permission_mode"];

/// Whether a file with this key looks like a fork.
pub(crate) fn is_fork_key(key: &str) -> bool {
    KEYS.contains(&key) || IGNORED_KEYS.contains(&key)
}

/// The key that was probably meant by `key`.
pub(crate) fn meant_key(key: &str) -> Option<&'static str> {
    let known = match key.to_ascii_lowercase().as_str() {
        "on" | "when" | "trigger" | "triggers" | "moments" | "runs_on" | "run_when" => "run_on",
        "cooldown" | "interval" | "rate_limit" | "every" => "throttle",
        "depends_on" | "needs" | "requires" | "wait_for" | "runs_after" => "after",
        "tag" | "label" | "labels" => "tags",
        "desc" | "summary" => "description",
        "parallel" | "concurrent" => "overlap",
        "forked" | "is_fork" => MARKER,
        _ => return nearest(key, KEYS.into_iter().chain([MARKER])),
    };
    Some(known)
}

/// The names of moments.
pub(crate) const MOMENTS: [&str; 4] = ["idle", "context_tokens", "context_used", "context_left"];

/// Moments that others know and we do not support.
pub(crate) const UNSUPPORTED_MOMENTS: [&str; 6] =
    ["compact", "compaction", "session_start", "session_end", "manual_stop", "boot"];

/// The moment that was probably meant by `name`.
pub(crate) fn meant_moment(name: &str) -> Option<&'static str> {
    let known = match name.to_ascii_lowercase().as_str() {
        "quiet" | "pause" | "inactive" | "inactivity" | "stop" => "idle",
        "tokens" | "context" | "context_size" => "context_tokens",
        "context_percent" | "context_usage" | "used" => "context_used",
        "remaining" | "context_remaining" | "left" => "context_left",
        _ => return nearest(name, MOMENTS),
    };
    Some(known)
}
