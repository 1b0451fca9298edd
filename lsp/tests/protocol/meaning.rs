//! Hover and completion.

use serde_json::Value;

use crate::client::{Client, fork, started};

fn hover(client: &mut Client, path: &str, line: u32, character: u32) -> String {
    let answer = client.at("textDocument/hover", &fork(path), line, character);
    answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn hover_says_what_things_come_to_here() {
    let mut client = started(&[
        ("config.toml", "default_idle_deadline = \"7m\"\n[tag_throttles]\nnotes = \"1h\"\n"),
        (
            "a.md",
            "---\nfork: true\nrun_on:\n  - idle: 15m\n  - idle\n  - context_used: 80%\nthrottle: 90m\nafter: [b]\ntags: [notes]\nx: 1 # autofork: allow(unknown-key) why\n---\nTidy.\n",
        ),
        ("b.md", "---\nfork: true\ndescription: Comes first\ntags: [early]\n---\nTidy.\n"),
        ("c.md", "---\nfork: true\nafter: [a]\n---\nTidy.\n"),
    ]);
    let at = |client: &mut Client, line, character| hover(client, "a.md", line, character);
    assert_eq!(
        at(&mut client, 3, 6),
        "`idle: 15m`: quiet for 15 min; bare `idle` would be 7 min, from the project's config."
    );
    assert_eq!(at(&mut client, 4, 5), "`idle`: quiet for 7 min; `default_idle_deadline`, from the project's config.");
    assert!(at(&mut client, 5, 8).contains("160,000 tokens of 200k"));
    assert!(at(&mut client, 6, 2).contains("at most once in 90 min"), "{}", at(&mut client, 6, 2));
    let other = at(&mut client, 7, 9);
    assert!(other.contains("**b**") && other.contains("Comes first") && other.contains("`early`"), "{other}");
    assert!(at(&mut client, 8, 9).contains("at most one run of any fork with it in 1 h, from the project's config"));
    assert!(at(&mut client, 9, 30).starts_with("**unknown-key** (warn)"));
    let whole = at(&mut client, 0, 1);
    assert!(whole.contains("Runs after `b` and before `c`."), "{whole}");
    assert!(hover(&mut client, "config.toml", 0, 3).contains("In force here: 7 min, from the project's config."));
    assert_eq!(at(&mut client, 11, 1), "", "instructions mean what they say");
    client.everything();
}

/// The labels that are offered at the place of `|`, in a file of that text that is open.
fn offered(client: &mut Client, path: &str, text: &str) -> Vec<String> {
    items(client, path, text).iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

fn items(client: &mut Client, path: &str, text: &str) -> Vec<Value> {
    let at = text.find('|').expect("a cursor");
    let line = text[..at].matches('\n').count();
    let character = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
    let number = |number: usize| u32::try_from(number).unwrap();
    client.open(&fork(path), &text.replace('|', ""));
    let answer = client.at("textDocument/completion", &fork(path), number(line), number(character));
    client.close(&fork(path));
    client.everything();
    answer.as_array().cloned().unwrap_or_default()
}

#[test]
fn completion_knows_what_may_stand_where() {
    let mut client = started(&[
        ("b.md", "---\nfork: true\ntags: [notes]\n---\nTidy.\n"),
        ("c.md", "---\nfork: true\nafter: [new]\n---\nTidy.\n"),
        ("d.md", "---\nfork: true\nafter: [c]\n---\nTidy.\n"),
    ]);
    let mut at = |text: &str| offered(&mut client, "new.md", text);
    assert_eq!(at("|"), ["fork"]);
    assert_eq!(at("---\nfork: true\nt|\n---\n"), ["description", "run_on", "throttle", "after", "overlap", "tags"]);
    assert_eq!(
        at("---\nfork: true\nthrottle: 1h\n|"),
        ["description", "run_on", "after", "overlap", "tags"],
        "unclosed"
    );
    assert!(at("---\nfork: true\nrun_on:\n  - |\n---\n").contains(&"context_used: 80%".to_owned()));
    assert!(at("---\nfork: true\nrun_on: [idle: 1|\n---\n").contains(&"15m".to_owned()), "an open bracket");
    assert!(at("---\nfork: true\nthrottle: |\n---\n").contains(&"30m".to_owned()));
    assert_eq!(at("---\nfork: true\nafter: [|]\n---\n"), ["b"], "no cycles, and not itself");
    assert_eq!(
        at("---\nfork: true\nafter: [b, |\n---\n"),
        ["b"],
        "an open bracket: what is taken cannot be read yet"
    );
    assert_eq!(at("---\nfork: true\ntags:\n  - |\n---\n"), ["notes"]);
    assert_eq!(at("---\nfork: true\noverlap: |\n---\n"), ["true", "false"]);
    assert!(at("---\nfork: true\nx: 1 # autofork: allow(unk|)\n---\n").contains(&"unknown-key".to_owned()));
    assert!(at("---\nfork: true\n---\nTidy |\n").is_empty(), "instructions are prose");
}

#[test]
fn what_is_inserted_fits_what_is_there() {
    let mut client = started(&[("b.md", "---\nfork: true\n---\nTidy.\n")]);
    let item = items(&mut client, "new.md", "---\nfork: true\nafter:|\n---\n").remove(0);
    assert_eq!(item["textEdit"]["newText"], " [b]");
    let item = items(&mut client, "new.md", "---\nfork: true\nrun_on: id|\n---\n").remove(0);
    assert_eq!(item["textEdit"]["newText"], "[idle]");
    let start = &item["textEdit"]["range"]["start"]["character"];
    assert_eq!(*start, 8, "what was typed is replaced");
}

#[test]
fn completion_in_configuration() {
    let mut client = started(&[("b.md", "---\nfork: true\ntags: [notes]\n---\nTidy.\n")]);
    let mut at = |text: &str| offered(&mut client, "config.toml", text);
    let keys = at("quiet_period = 5\n|");
    assert!(keys.contains(&"wake_debounce".to_owned()) && keys.contains(&"[lint]".to_owned()));
    assert!(!keys.contains(&"quiet_period".to_owned()));
    assert!(at("[lint]\nun|").contains(&"unknown-key".to_owned()));
    assert_eq!(at("[lint]\nunknown-key = \"|\"\n"), ["off", "hint", "warn", "error"]);
    assert_eq!(at("[tag_throttles]\n|"), ["notes"]);
    assert_eq!(at("enable_tags = [|]"), ["notes"]);
    assert_eq!(at("background_hold = |"), ["true", "false"]);
    assert_eq!(at("[|"), ["[tag_throttles]", "[lint]"]);
}
