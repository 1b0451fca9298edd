//! `invalid-type`

use crate::compile::findings::Findings;
use crate::diagnostic::Level;
use crate::syntax::yaml::{Entry, Node, Place, Plain, Scalar};

rule! {
    /// A value of the wrong type: nothing at all, a list or mapping where one value belongs, or a boolean where a name or
    /// a duration does.
    ///
    /// The default stands in for it. On `throttle` this is an error, since the fork would run more often than was meant.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// description:
    ///   - Tidy the notes
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// description: Tidy the notes
    /// ---
    /// Tidy.
    /// ```
    "invalid-type", Warn, Keys, None
}

/// What happens to a fork when the value of `key` is not used.
fn instead(key: &str) -> &'static str {
    match key {
        "throttle" => "the fork runs unthrottled",
        "run_on" => "the fork runs on `idle`",
        "overlap" => "two runs at once stay forbidden",
        "after" => "the fork waits for no other",
        "tags" => "the fork has no tags",
        _ => "it is ignored",
    }
}

fn level(key: &str) -> Level {
    if key == "throttle" { Level::Error } else { RULE.level }
}

/// Reports a key without a value; true if it has none.
pub(crate) fn check_absent(entry: &Entry, key: &str, out: &mut Findings) -> bool {
    if entry.value.is_null() {
        out.report(&RULE, entry.key.place(), format!("the key `{key}` has no value; {}", instead(key)))
            .level(level(key))
            .label("no value")
            .help("write a value, or remove the key");
        return true;
    }
    false
}

/// The scalar that `key` wants: `wanted`, in a few words. Reports anything else.
pub(crate) fn check_scalar<'a>(entry: &'a Entry, key: &str, wanted: &str, out: &mut Findings) -> Option<&'a Scalar> {
    if check_absent(entry, key, out) {
        return None;
    }
    let found = entry.value.scalar();
    if found.is_none() {
        report(&entry.value, key, wanted, out);
    }
    found
}

/// Reports a boolean where a duration belongs.
pub(crate) fn check_boolean(value: &Node, key: &str, out: &mut Findings) {
    report(value, key, "a duration", out);
}

/// Reports a `run_on` that is no list of moments, nor one moment.
pub(crate) fn check_run_on(entry: &Entry, out: &mut Findings) {
    if !check_absent(entry, "run_on", out) {
        report(&entry.value, "run_on", "a list of moments such as `[idle: 15m]`", out);
    }
}

/// Reports an item of `after` that is no name.
pub(crate) fn check_name(item: &Node, out: &mut Findings) {
    let found = if item.scalar().is_some_and(|scalar| scalar.plain() == Plain::Text) { "empty" } else { item.kind() };
    out.report(&RULE, item.place(), format!("the name of a fork cannot be {found}; this one is ignored"))
        .label("not a name")
        .help("write the name of a fork: its file's name without `.md`; a name like `true` wants quotes");
}

/// Reports an item of `run_on` that is nothing.
pub(crate) fn check_moment(item: &Node, out: &mut Findings) {
    out.report(&RULE, item.place(), "this item of `run_on` is empty; it is ignored")
        .label("no moment")
        .help("write a moment such as `idle: 15m`, or remove the item");
}

/// Reports the value of a moment that is a boolean.
pub(crate) fn check_moment_value(value: &Node, moment: &str, out: &mut Findings) {
    out.report(&RULE, value.place(), format!("`{moment}` wants a duration, not a boolean; bare `{moment}` is used"))
        .label("a boolean")
        .help(format!("write a duration such as `{moment}: 15m`, or `{moment}` alone"));
}

fn report(value: &Node, key: &str, wanted: &str, out: &mut Findings) {
    let place: Place = value.place();
    out.report(&RULE, place, format!("`{key}` is {}, not {wanted}; {}", value.kind(), instead(key)))
        .level(level(key))
        .label(format!("this is {}", value.kind()))
        .help(format!("write {wanted}"));
}
