//! How fast a transcript of 100 MB is read once, and how fast its tail is afterwards. Run with
//! `cargo bench --bench transcript`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use autofork::host::claude_code::Transcript;
use divan::Bencher;
use divan::counter::BytesCount;

const SIZE: usize = 100 * 1024 * 1024;

fn main() {
    divan::main();
}

/// Answers with their usage, and between them the outputs of tools, which make up most of a transcript.
fn write_to(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let output = "x".repeat(16 * 1024);
    let mut written = 0;
    while written < SIZE {
        let tool = format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{output}\"}}}}\n");
        let answer = "{\"type\":\"assistant\",\"message\":{\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"text\",\
                      \"text\":\"done\"}],\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":40000}}}\n";
        file.write_all(tool.as_bytes())?;
        file.write_all(answer.as_bytes())?;
        written += tool.len() + answer.len();
    }
    file.flush()
}

#[divan::bench(sample_count = 10)]
fn read_once(bencher: Bencher<'_, '_>) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    write_to(file.path()).expect("a transcript");
    bencher
        .counter(BytesCount::new(SIZE))
        .bench_local(|| Transcript::default().read(file.path()).expect("a reading"));
}

#[divan::bench(sample_count = 10)]
fn read_again(bencher: Bencher<'_, '_>) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    write_to(file.path()).expect("a transcript");
    let mut transcript = Transcript::default();
    transcript.read(file.path()).expect("a reading");
    bencher.bench_local(|| transcript.read(file.path()).expect("a reading"));
}
