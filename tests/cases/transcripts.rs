//! Transcripts, and how large each says the context is after each of its lines.

use std::fs;
use std::io::Write;
use std::path::Path;

use autofork::host::claude_code::Transcript;

/// A transcript's file, and the gauge after each whole line of it.
const CASES: &[(&str, &[Option<u64>])] = &[
    // The model id carries no 1M marker and the context grows beyond 200000 tokens.
    ("1m-without-marker.jsonl", &[None, Some(160_010), Some(160_010), Some(231_010)]),
    // Two forks were spawned and only the first has completed.
    ("after-two-one-missing.jsonl", &[None, Some(40_110), Some(40_110), Some(40_110), Some(40_110), Some(40_110)]),
    // Three assistant records, one per content block, share one message id and repeat its usage.
    ("blocks-share-usage.jsonl", &[None, Some(75_004), Some(75_004), Some(75_004)]),
    // A compact boundary with postTokens is the last record.
    ("compact-boundary-last.jsonl", &[None, Some(182_010), Some(21_500)]),
    // A background command that is not one of our forks completes.
    ("foreign-task.jsonl", &[None, Some(20_010), Some(20_010)]),
    // A transcript with a line that is no JSON, one with a usage of the wrong type, an empty line, and a last line without its end.
    ("garbage-and-half-line.jsonl", &[None, None, None, None, Some(40_010)]),
    // An Agent call for a fork carries a name and a model, and its prompt holds no ticket.
    ("named-fork.jsonl", &[None, Some(40_110), Some(40_110)]),
    // The assistant records come without a request id and name a model that is not Claude.
    ("no-request-id.jsonl", &[None, Some(50_000), Some(50_000)]),
    // One completion of a fork stands in three records of different types.
    (
        "one-completion-three-carriers.jsonl",
        &[None, Some(40_110), Some(40_110), Some(40_110), Some(40_110), Some(40_110)],
    ),
    // The completion of a fork stands only in a queue-operation record.
    ("queue-only-completion.jsonl", &[None, Some(40_110), Some(40_110), Some(40_110)]),
    // A main record is followed by a sidechain record and by a main record that is marked as copied from another conversation.
    ("sidechain-and-forkedfrom.jsonl", &[None, Some(30_510), Some(30_510), Some(195_405)]),
    // The transcript has a shape that is not known.
    ("unknown-shape.jsonl", &[None]),
];

#[test]
fn the_gauge_is_right_after_every_line_of_every_transcript() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/transcripts");
    for (name, gauges) in CASES {
        let text = fs::read(folder.join(name)).unwrap();
        let mut growing = tempfile::NamedTempFile::new().unwrap();
        let mut transcript = Transcript::default();
        let mut seen = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            growing.write_all(line).unwrap();
            let reading = transcript.read(growing.path()).unwrap();
            if line.ends_with(b"\n") {
                seen.push(reading.tokens);
            }
        }
        assert_eq!(seen, *gauges, "{name}");
        let at_once = Transcript::default().read(growing.path()).unwrap();
        assert_eq!(Some(at_once.tokens), gauges.last().copied(), "{name}, read at once");
    }
}

/// A transcript that the real client wrote: a session with a fork in a worktree, compacted at its end. Its long texts are
/// cut.
#[test]
fn the_gauge_is_right_in_a_transcript_of_the_real_client() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/transcripts");
    let text = fs::read(folder.join("recorded-compaction.jsonl")).unwrap();
    let mut growing = tempfile::NamedTempFile::new().unwrap();
    let mut transcript = Transcript::default();
    let mut changes = Vec::new();
    for (line, bytes) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        growing.write_all(bytes).unwrap();
        let tokens = transcript.read(growing.path()).unwrap().tokens;
        if changes.last().map(|(_, known)| *known) != Some(tokens) {
            changes.push((line, tokens));
        }
    }
    assert_eq!(changes, [(1, None), (19, Some(40_000)), (51, Some(2_959))]);
}
