//! Completion: what is offered where.

use serde_json::Value;

use crate::client::{Client, fork, started};

/// The labels that are offered at the place of `|`, in a file of that text that is open.
pub(crate) fn offered(client: &mut Client, path: &str, text: &str) -> Vec<String> {
    items(client, path, text).iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn items(client: &mut Client, path: &str, text: &str) -> Vec<Value> {
    let at = text.find('|').expect("a cursor");
    let line = text[..at].matches('\n').count();
    let character = text[..at].rsplit('\n').next().unwrap_or_default().encode_utf16().count();
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
    for taken in ["[b, |", "[b, |]", "\n  - b\n  - |", "\n  - \"b\"\n  - |", "[\n  b,\n  |", "[|, b]", "[ | b"] {
        assert!(at(&format!("---\nfork: true\nafter: {taken}\ntags: [x]\n---\n")).is_empty(), "{taken}");
    }
    assert_eq!(at("---\nfork: true\ntags:\n  - |\n---\n"), ["notes"]);
    assert!(at("---\nfork: true\ntags: [notes, |\n").is_empty(), "it is there");
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
fn behind_what_is_over_nothing_is_offered() {
    let mut client = started(&[("b.md", "---\nfork: true\ntags: [notes]\n---\nTidy.\n")]);
    for line in [
        "after: [b]|",
        "after: \"b\"|",
        "after: 'b'|",
        "after: [\"b\"|]",
        "after:|\n  - x",
        "after: |\n- x",
        "after:\n  - \"b\"|",
        "tags: [x]|",
        "run_on: [idle]|",
        "run_on: [{idle: 15m}|]",
        "run_on:\n  - idle: \"15m\"|",
        "throttle: \"1|h\"",
    ] {
        let offers = offered(&mut client, "new.md", &format!("---\nfork: true\n{line}\n---\nTidy.\n"));
        assert!(offers.is_empty(), "{line}: {offers:?}");
    }
    for line in [
        "disable_tags = [\"x\"]|",
        "disable_tags = [\"x\"|]",
        "default_idle_deadline = \"5m\"|",
        "session_timeout = '|'",
    ] {
        assert!(offered(&mut client, "config.toml", line).is_empty(), "{line}");
    }
}

#[test]
fn no_name_is_offered_that_cannot_be_written() {
    let mut client =
        started(&[("b, c.md", "---\nfork: true\n---\nTidy.\n"), ("d.md", "---\nfork: true\n---\nTidy.\n")]);
    assert_eq!(offered(&mut client, "new.md", "---\nfork: true\nafter: [|]\n---\nTidy.\n"), ["d"]);
}

#[test]
fn what_is_offered_reads_well() {
    let mut client = started(&[
        ("config.toml", "disable_tags = [\"late\"]\n"),
        ("b.md", "---\nfork: true\ndescription: Comes first\ntags: [notes]\n---\nTidy.\n"),
        ("due list.md", "---\nfork: true\nrun_on: [context_used: 80%]\n---\nTidy.\n"),
    ]);
    let mut shown = Vec::new();
    for text in [
        "|",
        "---\n|\n---\n",
        "---\nfork: true\nrun_on:\n  - |\n---\n",
        "---\nfork: true\nrun_on: [context_used: |\n---\n",
        "---\nfork: true\nthrottle: |\n---\n",
        "---\nfork: true\nafter: |\n---\n",
        "---\nfork: true\ntags: [|]\n---\n",
        "---\nfork: true\n# |\n---\n",
    ] {
        let offers = items(&mut client, "new.md", text);
        shown.push(format!("===== fork, at the bar of {text:?}\n{}", offers.iter().map(offer).collect::<String>()));
    }
    for text in ["|", "[tag_throttles]\n|", "disable_tags = [|]", "[lint]\ncomma-list = |", "wake_debounce = |"] {
        let offers = items(&mut client, "config.toml", text);
        shown.push(format!(
            "===== configuration, at the bar of {text:?}\n{}",
            offers.iter().map(offer).collect::<String>()
        ));
    }
    insta::assert_snapshot!("completion", shown.join("\n"));
}

/// An offer as a person sees it, and what it would write.
fn offer(item: &Value) -> String {
    let detail = item["detail"].as_str().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let docs = item["documentation"]["value"].as_str().unwrap_or_default().replace('\n', " ");
    format!("{}{detail} -> {}\n    {docs}\n", item["label"].as_str().unwrap(), item["textEdit"]["newText"])
        .replace("\n    \n", "\n")
}

#[test]
fn completion_in_configuration() {
    let mut client = started(&[("b.md", "---\nfork: true\ntags: [notes]\n---\nTidy.\n")]);
    let mut at = |text: &str| offered(&mut client, "config.toml", text);
    let keys = at("session_timeout = 5\n|");
    assert!(keys.contains(&"wake_debounce".to_owned()) && keys.contains(&"[lint]".to_owned()));
    assert!(!keys.contains(&"session_timeout".to_owned()), "it is there");
    assert!(!keys.contains(&"quiet_period".to_owned()), "it has no effect in a project");
    assert!(at("[lint]\nun|").contains(&"unknown-key".to_owned()));
    assert_eq!(at("[lint]\nunknown-key = \"|\"\n"), ["off", "hint", "warn", "error"]);
    assert_eq!(at("[tag_throttles]\n|"), ["notes"]);
    assert_eq!(at("enable_tags = [|]"), ["notes"]);
    assert_eq!(at("background_hold = |"), ["true", "false"]);
    assert_eq!(at("[|"), ["[tag_throttles]", "[lint]"]);
    assert_eq!(at("disable_tags = [\n  \"x\",\n  |\n]\n"), ["notes"], "a list of several lines");
    assert!(at("disable_tags = [\"notes\", |]").is_empty(), "it is there");
    assert_eq!(at("default_idle_deadline = |")[..2], ["30s", "5m"]);
}

#[test]
fn a_tag_that_is_no_plain_key_is_quoted() {
    let mut client = started(&[("b.md", "---\nfork: true\ntags: [\"say \\\"hi\\\"\"]\n---\nTidy.\n")]);
    let item = items(&mut client, "config.toml", "[tag_throttles]\n|").remove(0);
    assert_eq!(item["textEdit"]["newText"], r#""say \\"hi\\"" = "${1:30m}""#, "a snippet, where \\ must be escaped");
}
