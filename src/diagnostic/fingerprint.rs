//! Fingerprints: the same for a finding as long as the line that it is on stays the same, wherever that line moves.

use std::collections::HashMap;

use super::Report;

/// One fingerprint for each finding of the report, in order: 16 hexadecimal digits, no two the same.
pub(super) fn fingerprints(report: &Report<'_>) -> Vec<String> {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let hashes = report.diagnostics.iter().map(|found| {
        let line = report.sources.get(&found.path).map(|source| source.line_text(source.line_of(found.span.start())));
        let hash = fnv([found.rule.name, &report.path(&found.path), line.unwrap_or("").trim()]);
        let count = seen.entry(hash).or_default();
        *count += 1;
        format!("{:016x}", hash.wrapping_add(*count - 1))
    });
    hashes.collect()
}

/// FNV-1a, which is the same on every machine and in every version.
fn fnv(parts: [&str; 3]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
