//! Text to spanned trees: the envelope of a fork file, YAML, and the little languages inside of values.
//!
//! Nothing in here knows a key's name or what a value is for, and nothing in here fails: every function gives a tree
//! and the faults that it found on the way. The grammars are in `grammar/`.

pub mod duration;
pub mod envelope;
pub mod moment;
pub mod suppression;
pub mod yaml;

/// A number in plain digits without a leading zero; none for anything else.
fn whole_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}
