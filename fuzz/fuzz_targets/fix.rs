//! Fixes come to an end, and safe ones do not change what a fork comes to.
#![no_main]

use std::path::Path;
use std::sync::Arc;

use autofork::compile::{CompiledFile, Contents, FileKind, fork_file};
use autofork::diagnostic::{Applicability, apply};
use autofork::text::Sources;
use libfuzzer_sys::fuzz_target;

fn compile(text: &str) -> CompiledFile {
    let path: Arc<Path> = Path::new("/fuzz/example.md").into();
    fork_file(&"example".into(), &path, &Contents::text(text))
}

fuzz_target!(|text: &str| {
    let first = compile(text);
    let mut mended: Option<CompiledFile> = None;
    for round in 0.. {
        let compiled = mended.as_ref().unwrap_or(&first);
        let sources: Sources = [compiled.file.source.clone()].into_iter().collect();
        let (changed, made) = apply(&compiled.diagnostics, &sources, Applicability::Safe);
        if made == 0 {
            break;
        }
        assert!(round < 50, "fixes go on for ever");
        mended = Some(compile(&changed.into_iter().next().expect("a changed file").1));
    }
    if let Some(mended) = mended
        && first.file.kind == FileKind::Fork
    {
        assert_eq!(first.file.without_lines(), mended.file.without_lines());
    }
});
