//! Hover and completion.

use std::path::Path;

use serde_json::Value;

use crate::client::{Client, able, fork, memory, started, user};

/// What hovering over the first occurrence of some words shows, with the words that it is about.
fn hover(client: &mut Client, path: &str, text: &str, words: &str) -> String {
    let at = text.find(words).unwrap_or_else(|| panic!("{words} is nowhere"));
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
    let number = |number: usize| u32::try_from(number).unwrap();
    let answer = client.at("textDocument/hover", &fork(path), number(line), number(column));
    let Some(shown) = answer["contents"]["value"].as_str() else { return "nothing".to_owned() };
    let column = |end: &str| usize::try_from(answer["range"][end]["character"].as_u64().unwrap()).unwrap();
    let about = &text.lines().nth(line).unwrap()[column("start")..column("end")];
    format!("about `{about}`:\n{shown}")
}

const HOVER_CONFIG: &str = "default_idle_deadline = \"7m\"\nwake_debounce = 3\ndisable_tags = [\"late\"]\nbackground_hold = false\n\n[tag_throttles]\nnotes = \"1h\"\n\n[lint]\nempty-body = \"off\"\n";

const HOVER_FORK: &str = "---
fork: true
description: Keeps the log
run_on:
  - idle: 15m
  - idle
  - context_used: 80%
  - context_tokens: 150000
  - context_left: 20000
throttle: 90m
after: [b, gone]
overlap: true
tags: [notes, late]
x: 1 # autofork: allow(unknown-key) why
---
Tidy.
";

#[test]
fn hover_says_what_things_come_to_here() {
    let mut client = started(&[
        ("config.toml", HOVER_CONFIG),
        ("a.md", HOVER_FORK),
        ("b.md", "---\nfork: true\ndescription: Comes first\ntags: [early]\nrun_on: [idle: 20m]\n---\nTidy.\n"),
        ("c.md", "---\nfork: true\nafter: [a]\n---\nTidy.\n"),
    ]);
    let mut shown = Vec::new();
    for words in [
        "---",
        "fork:",
        "true",
        "description",
        "Keeps",
        "run_on",
        "idle: 15m",
        "15m",
        "idle\n",
        "80%",
        "context_tokens",
        "20000",
        "throttle",
        "90m",
        "after",
        "b, gone",
        "gone",
        "overlap",
        "tags",
        "notes",
        "late",
        "unknown-key",
        "Tidy",
    ] {
        let said = hover(&mut client, "a.md", HOVER_FORK, words);
        shown.push(format!("===== fork, at `{}`, {said}\n", words.trim()));
    }
    for words in [
        "default_idle",
        "7m",
        "wake_debounce",
        "disable_tags",
        "late",
        "background",
        "tag_throttles",
        "notes",
        "1h",
        "lint",
        "empty-body",
    ] {
        let said = hover(&mut client, "config.toml", HOVER_CONFIG, words);
        shown.push(format!("===== configuration, at `{words}`, {said}\n"));
    }
    insta::assert_snapshot!("hover", shown.join("\n"));
    client.everything();
}

#[test]
fn the_default_is_named_with_who_set_it() {
    let text = "---\nfork: true\nrun_on:\n  - idle: 15m\n---\nTidy.\n";
    let says = |config: &str, user: &str| {
        let mut files = autofork::project::Memory::default();
        files.write(fork("a.md"), text);
        files.write(fork("config.toml"), config);
        files.write("/home/.autofork/config.toml", user);
        let mut client = Client::in_memory(std::sync::Arc::new(files), crate::client::user());
        client.initialize(&able(), &[Path::new("/p")]);
        let said = hover(&mut client, "a.md", text, "idle");
        client.everything();
        said
    };
    for (config, user, wanted) in [
        ("default_idle_deadline = \"7m\"", "", "the default of 7 min comes from the project's config"),
        ("", "default_idle_deadline = \"7m\"", "the default of 7 min comes from your own config"),
        ("", "", "the default of 10 min is built in"),
        ("default_idle_deadline = 0", "", "the default of 0 comes from the project's config"),
    ] {
        assert_eq!(says(config, user), format!("about `idle: 15m`:\n`idle: 15m`: quiet for 15 min; {wanted}."));
    }
}

#[test]
fn where_something_is_found_hover_ends_with_the_rule() {
    let text = "---\nfork: true\nthrotle: 1h\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    let said = hover(&mut client, "a.md", text, "throtle");
    assert!(said.starts_with("about `throtle`:\n**unknown-key** (warn)") && said.contains("Good:"), "{said}");
    let text = "---\nfork: true\nafter: [gone]\n---\nTidy.\n";
    client.open(&fork("b.md"), text);
    let said = hover(&mut client, "b.md", text, "gone");
    assert!(said.contains("There is no fork `gone` here.\n\n---\n\n**unknown-fork**"), "{said}");
    client.everything();
}

#[test]
fn a_fence_tells_of_files_that_are_no_good_forks_too() {
    let text = "---\nfork: true\nrun_on: [idle\n---\nTidy.\n";
    let mut client = started(&[("a.md", text)]);
    assert!(hover(&mut client, "a.md", text, "---").contains("**a** (broken)"));
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
fn whatever_is_taken_of_what_is_offered_the_file_stays_whole() {
    let files = [
        ("b.md", "---\nfork: true\ntags: [notes]\n---\nTidy.\n"),
        ("it's - \"c\".md", "---\nfork: true\ntags: ['a: \"b\"']\n---\nTidy.\n"),
    ];
    let mut client = Client::in_memory(memory(&files), user());
    // No snippets: what is taken is what is written.
    client.initialize(&serde_json::json!({}), &[Path::new("/p")]);
    let mut taken = 0;
    for part in [
        "after: []",
        "after: [x]",
        "after: [x, y]",
        "after: [ \"x\", 'y' ]",
        "after: x",
        "after: x, y",
        "after: \"x\"",
        "after: ''",
        "after: ",
        "after:\n  - x\n  - y",
        "after:\n- 'x'",
        "tags: [x, ]",
        "tags:\n  - ",
        "run_on: [idle: 15m, {context_used: 80%}]",
        "run_on:\n  - idle: 15m\n  - context_left: 20000",
        "run_on: idle",
        "throttle: 1h",
        "throttle: '1h'",
        "overlap: true",
    ] {
        let text = format!("---\nfork: true\n{part}\ndescription: d\n---\nTidy.\n");
        let colon = text.find(part).unwrap() + part.find(':').unwrap() + 1;
        for at in colon..=text.find("\ndescription").unwrap() {
            let (before, after) = text.split_at(at);
            for item in items(&mut client, "new.md", &format!("{before}|{after}")) {
                let column = |end: &str| {
                    let column = item["textEdit"]["range"][end]["character"].as_u64().unwrap();
                    before.rfind('\n').unwrap() + 1 + usize::try_from(column).unwrap()
                };
                let words = item["textEdit"]["newText"].as_str().unwrap();
                let result = [&text[..column("start")], words, &text[column("end")..]].concat();
                client.open(&fork("new.md"), &result);
                let found = client.found(&fork("new.md"));
                let broken =
                    found.iter().find(|found| found["code"] == "invalid-yaml" || found["code"] == "invalid-type");
                assert_eq!(broken, None, "{result}");
                client.close(&fork("new.md"));
                client.everything();
                taken += 1;
            }
        }
    }
    assert!(taken > 300, "{taken}");
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
