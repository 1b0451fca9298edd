//! The scripted model itself. A scenario that passes because the model did nothing would prove nothing, so what it does
//! is pinned here, without the client.

use std::time::Duration;

use serde_json::{Value, json};

use crate::scene::tickets;
use crate::support::mock_api::{Answer, Block, Conduct, Kind, Model, Request, Scripted};

const DIARY: &str =
    r#"{"subagent_type":"fork","description":"autofork: diary","prompt":"ticket one, /p/forks/diary.md"}"#;
const JOURNAL: &str =
    r#"{"subagent_type":"fork","description":"autofork: journal","prompt":"ticket two, /p/forks/a b/journal.md"}"#;

/// A request of the main conversation with these messages.
fn request(messages: &[Value]) -> Request {
    Request::new(7, "/v1/messages", json!({"tools": [{"name": "Agent"}], "messages": messages}))
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn call(input: &str) -> Value {
    let input: Value = serde_json::from_str(input).unwrap();
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": input}]})
}

/// A session that was woken with both calls; the client's own reminder follows.
fn woken() -> Vec<Value> {
    let wake =
        format!("<summary>Stop hook feedback</summary>\nTwo forks are due.\n{DIARY}\n{JOURNAL}\nOne short line.");
    let answered = json!({"role": "assistant", "content": [{"type": "text", "text": "Reply #1"}]});
    vec![user("hello"), answered, user(&wake), json!({"role": "system", "content": "Today is a day."})]
}

/// The first request of the fork that the diary's call started.
fn fork(directive: &str) -> Vec<Value> {
    let start = format!("<fork-boilerplate>\nRules.\n</fork-boilerplate>\n\nYour directive: {directive}");
    let mut messages = woken();
    messages.extend([call(DIARY), user(&start)]);
    messages
}

/// The answer in short: the inputs of its calls, or its words.
fn said(answer: &Answer) -> Vec<String> {
    let blocks = answer.blocks.iter().map(|block| match block {
        Block::Text(text) => text.clone(),
        Block::ToolUse { name, input } => format!("{name} {input}"),
    });
    blocks.collect()
}

fn answer(conduct: Conduct, messages: &[Value]) -> Vec<String> {
    said(&Scripted::new(conduct).answer(&request(messages)))
}

/// How an Agent call is shown by [`said`].
fn agent(input: &str) -> String {
    let input: Value = serde_json::from_str(input).unwrap();
    format!("Agent {input}")
}

#[test]
fn the_model_makes_the_calls_of_a_wake_text_and_then_ends_its_turn() {
    assert_eq!(answer(Conduct::Obedient, &woken()), [agent(DIARY), agent(JOURNAL)]);
    let mut started = woken();
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "launched"});
    started.extend([call(DIARY), json!({"role": "user", "content": [result]})]);
    assert_eq!(answer(Conduct::Obedient, &started), ["Done."]);
}

#[test]
fn where_the_fork_type_is_missing_the_model_tries_once_more_and_then_tells_the_user() {
    let refused = || {
        let error = "Agent type 'fork' not found. Available agents: Explore";
        let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": error, "is_error": true});
        json!({"role": "user", "content": [result]})
    };
    let mut messages = woken();
    messages[2] = user(&format!(
        "<summary>Stop hook feedback</summary>\n{DIARY}\nIf it still is, tell the user: the remedy. Never write one."
    ));
    messages.extend([call(DIARY), refused()]);
    assert_eq!(answer(Conduct::Obedient, &messages), [agent(DIARY)]);
    messages.extend([call(DIARY), refused()]);
    assert_eq!(answer(Conduct::Obedient, &messages), ["For you: the remedy"]);
}

#[test]
fn an_old_wake_text_is_not_followed_again() {
    let mut later = woken();
    later.extend([json!({"role": "assistant", "content": "Done."}), user("and now?")]);
    assert_eq!(answer(Conduct::Obedient, &later), ["Reply #7"]);
}

#[test]
fn a_disobedient_model_disobeys() {
    let twice = [agent(DIARY), agent(DIARY), agent(JOURNAL), agent(JOURNAL)];
    assert_eq!(answer(Conduct::SpawnsTwice, &woken()), twice);
    assert_eq!(answer(Conduct::NeverSpawns, &woken()), ["Reply #7"]);
    for call in answer(Conduct::AddsNameAndModel, &woken()) {
        assert!(call.contains(r#""name":"helper""#) && call.contains(r#""model":"haiku""#), "{call}");
    }
    assert_eq!(answer(Conduct::ForkSpawnsSister, &fork("Write.")), [agent(JOURNAL)]);
}

#[test]
fn a_fork_reports_and_reads_its_file_when_it_was_told_no_more_than_that() {
    assert_eq!(request(&fork("Write.")).kind, Kind::Fork);
    assert_eq!(answer(Conduct::Obedient, &fork("Write.\nOnly this.")), ["report of Write."]);
    let unredeemed = answer(Conduct::Obedient, &fork("Ticket one: read \"/p/forks/a b/diary.md\" and follow it."));
    assert_eq!(unredeemed, [r#"Read {"file_path":"/p/forks/a b/diary.md"}"#]);
}

#[test]
fn a_model_is_directed_by_lines_of_a_prompt() {
    let directed = "Please.\ncall Bash {\"command\":\"true\"}\ncall nobody\ncall Read {\"file_path\":\"/p\"}";
    let calls = [r#"Bash {"command":"true"}"#, r#"Read {"file_path":"/p"}"#];
    assert_eq!(answer(Conduct::Obedient, &[user(directed)]), calls);

    let model = Scripted::new(Conduct::Obedient);
    let spent = |messages: &[Value]| {
        let usage = model.answer(&request(messages)).usage;
        usage.input + usage.cache_read + usage.cache_creation
    };
    let mut messages = vec![user("hello")];
    assert_eq!(spent(&messages), 40_000);
    messages.push(user("The context holds 70000 tokens."));
    assert_eq!(spent(&messages), 70_000);
    messages.extend([user("The context holds 5 tokens."), user("and now?")]);
    assert_eq!(spent(&messages), 5, "the last word counts");

    let delay = |directive| model.answer(&request(&fork(directive))).delay;
    assert_eq!(delay("Write.\nThink for 3 seconds.\nStop."), Duration::from_secs(3));
    assert_eq!(delay("Write.\nStop."), Duration::ZERO);
}

#[test]
fn a_model_that_stops_its_first_forks_stops_no_others() {
    let launch = |agent: &str| {
        let text = format!("Async agent launched successfully.\nagentId: {agent} (internal ID)");
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]})
    };
    let mut messages = woken();
    assert_eq!(answer(Conduct::StopsFirstForks, &messages).len(), 2);
    messages.extend([call(DIARY), launch("a1b2")]);
    assert_eq!(answer(Conduct::StopsFirstForks, &messages), [r#"TaskStop {"task_id":"a1b2"}"#]);
    let stop = Scripted::new(Conduct::StopsFirstForks).answer(&request(&messages));
    assert_eq!(stop.after_forks, 1, "a fork is stopped in its work, not before it");
    let stop = json!([{"type": "tool_use", "id": "toolu_2", "name": "TaskStop", "input": {"task_id": "a1b2"}}]);
    messages.extend([json!({"role": "assistant", "content": stop}), launch("c3d4")]);
    assert_eq!(answer(Conduct::StopsFirstForks, &messages), ["Done."]);
}

#[test]
fn tickets_are_found_in_running_text() {
    let ticket = format!("af-{}", "0123456789abcdef".repeat(2));
    let text = format!("af-short, /tmp/af-sTVj/project ({ticket}) {ticket}.");
    assert_eq!(tickets(&text), [&ticket, &ticket]);
}
