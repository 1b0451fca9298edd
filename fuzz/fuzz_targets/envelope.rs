//! Any text comes apart into an envelope whose parts lie in it, in order, on characters.
#![no_main]

use autofork::syntax::envelope::{keys_at_line_start, split};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let envelope = split(text);
    for part in [envelope.lead, envelope.frontmatter, envelope.body] {
        assert!(part.end() <= text.len());
        assert!(text.is_char_boundary(part.start()) && text.is_char_boundary(part.end()));
    }
    assert!(envelope.frontmatter.end() <= envelope.body.start() || envelope.body.start() == 0 || envelope.opening.is_none());
    for (key, span) in keys_at_line_start(text, envelope.frontmatter) {
        assert_eq!(span.of(text), key);
    }
});
