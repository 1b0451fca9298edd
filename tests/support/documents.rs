//! Fork files with faults, made at random.

use proptest::prelude::*;

/// Ways to write each key, sound ones and faulty ones.
const LINES: [&[&str]; 8] = [
    &["fork: true", "fork: yes", "fork: \"true\"", "# a comment\nfork: true", "fork: true # really"],
    &[
        "description: Keep LOG.md current",
        "description: Nightly tidy: sort",
        "description: [wip] tidy",
        "description: Issue #12",
        "description: \"a: b\"",
        "description: |\n  Two\n  lines",
        "description: @home",
        "description: it's 'fine'",
    ],
    &[
        "run_on: [idle]",
        "run_on: idle",
        "run_on:\n  idle: 15m",
        "run_on: {idle: 15m, context_used: 80%}",
        "run_on:\n  - idle: 1h30m\n    context_used: 80\n  - session_end",
        "run_on:\n  - idle: 15M # soon\n  - compact # never\n  - idel",
        "run_on:\n- idle: 90\n- context_tokens: 150k",
        "run_on:\n\t- idle",
    ],
    &[
        "throttle: 30m",
        "throttle: 1h30m",
        "throttle: 30M",
        "throttle: \"2 h\"",
        "throttle:\u{a0}30m",
        "throttle: '1h1s'",
    ],
    &["after: a, b", "after: [\"a,b\", c]", "after:\n  - x, y", "after: draft", "after: \"true, no\""],
    &["tags: ci, notes", "tags: [ci, notes]", "tags: \"a, b\"", "tags: &t [ci]\nx: *t", "tags: [null, 'a, b']"],
    &["model: haiku", "model: haiku # cheap", "delivery:\n  - inject", "allowed_tools: [Read,\n  Write]"],
    &["# autofork: allow(unknown-key) why\nowner: me", "# autofork: allow(unknown-key)", "owner: me", "overlap: on"],
];

/// Fork files of such lines, with fences, line ends and orders of all kinds.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let line = |choices: &'static [&'static str]| prop::option::weighted(0.6, prop::sample::select(choices));
    let lines: Vec<_> = LINES.iter().map(|choices| line(choices)).collect();
    let first = prop::sample::select(vec!["---", "---  ", "\n---", "\u{feff}---", "----"]);
    let last = prop::sample::select(vec!["---", "---\t", "...", "---# Title"]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (lines.prop_shuffle(), first, last, end).prop_map(|(lines, first, last, end)| {
        let keys: Vec<&str> = lines.into_iter().flatten().collect();
        let text = format!("{first}\n{}\n{last}\nBring LOG.md up to date.\n", keys.join("\n"));
        text.replace('\n', end)
    })
}
