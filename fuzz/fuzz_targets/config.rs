//! Any bytes compile as a configuration, and every place that is pointed at lies in the text.
#![no_main]

use std::path::Path;
use std::sync::Arc;

use autofork::compile::{Contents, Layer, config_file, merge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path: Arc<Path> = Path::new("/fuzz/config.toml").into();
    let contents = Contents::from_bytes(bytes.to_vec());
    for layer in [Layer::User, Layer::Project] {
        let compiled = config_file(layer, &path, &contents);
        let text = compiled.layer.source.text();
        for found in &compiled.diagnostics {
            assert!(found.span.end() <= text.len(), "{} points outside of the text", found.rule.name);
            assert!(text.is_char_boundary(found.span.start()));
        }
        let _ = merge([&compiled.layer]);
    }
});
