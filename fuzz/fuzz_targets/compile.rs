//! Any bytes compile, and every place that is pointed at lies in the text, on a character.
#![no_main]

use std::path::Path;
use std::sync::Arc;

use autofork::compile::{Contents, fork_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path: Arc<Path> = Path::new("/fuzz/example.md").into();
    let compiled = fork_file(&"example".into(), &path, &Contents::from_bytes(bytes.to_vec()));
    let text = compiled.file.source.text();
    for found in &compiled.diagnostics {
        let edits = found.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in [found.span].into_iter().chain(found.labels.iter().map(|label| label.span)).chain(edits) {
            let inside = span.end() <= text.len() && text.is_char_boundary(span.start()) && text.is_char_boundary(span.end());
            assert!(inside, "{} points outside of the text", found.rule.name);
        }
        assert!(!found.message.is_empty());
    }
});
