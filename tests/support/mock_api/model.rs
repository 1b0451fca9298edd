//! The scripted model: what it answers to a request.
//!
//! It takes a wake text literally: each line that is an Agent call becomes that call. How well it behaves otherwise is
//! its [`Conduct`]; a scenario gives it further directions in its prompts and in the bodies of its forks.

use std::time::Duration;

use serde_json::{Value, json};

use super::directions;
use super::request::{Kind, Request};

/// How a client says that it knows no subagent of type fork.
pub(crate) const TYPE_MISSING: &str = "Agent type 'fork' not found";

/// Something that answers requests of the conversation and of its forks.
pub(crate) trait Model: Send + Sync {
    /// The answer to one request.
    fn answer(&self, request: &Request) -> Answer;
}

/// One message of the model's.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Its blocks; a tool call among them makes the client run it and ask again.
    pub(crate) blocks: Vec<Block>,
    /// What it says it cost.
    pub(crate) usage: Usage,
    /// How long it is thought about.
    pub(crate) delay: Duration,
    /// How many requests of forks there must have been before it is given.
    pub(crate) after_forks: usize,
}

/// A block of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Words.
    Text(String),
    /// A tool call.
    ToolUse {
        /// The tool's name.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// Token counts of one answer, in the API's words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Uncached input.
    pub(crate) input: u64,
    /// Input read from the cache.
    pub(crate) cache_read: u64,
    /// Input written to the cache.
    pub(crate) cache_creation: u64,
    /// Output.
    pub(crate) output: u64,
}

impl Default for Usage {
    /// 40 000 tokens of context: a session some way in, far below every window.
    fn default() -> Self {
        Self { input: 10, cache_read: 39_000, cache_creation: 990, output: 20 }
    }
}

impl Usage {
    /// A context of this many tokens, nearly all of it cached.
    fn holding(tokens: u64) -> Self {
        let rest = tokens.min(10);
        Self { input: rest, cache_read: tokens - rest, cache_creation: 0, output: 20 }
    }
}

impl Answer {
    /// An answer that ends the turn with a text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::of(vec![Block::Text(text.into())])
    }

    /// An answer that makes tool calls, all in one message.
    pub(crate) fn calls(name: &str, inputs: impl IntoIterator<Item = Value>) -> Self {
        let calls = inputs.into_iter().map(|input| Block::ToolUse { name: name.to_owned(), input });
        Self::of(calls.collect())
    }

    /// An answer of these blocks, given at once.
    fn of(blocks: Vec<Block>) -> Self {
        Self { blocks, usage: Usage::default(), delay: Duration::ZERO, after_forks: 0 }
    }
}

/// How the model treats a wake text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// Makes exactly the calls that it asks for.
    Obedient,
    /// Makes every call twice.
    SpawnsTwice,
    /// Adds a `name` and a `model` to every call.
    AddsNameAndModel,
    /// Answers with words only.
    NeverSpawns,
    /// Obeys, but a fork, which has read the wake text too, first makes another fork's call itself.
    ForkSpawnsSister,
    /// Obeys, and then stops the first agents it started, once in a session.
    StopsFirstForks,
}

/// The model of the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scripted {
    conduct: Conduct,
    usage: Usage,
}

impl Scripted {
    /// A model of this conduct.
    pub(crate) fn new(conduct: Conduct) -> Self {
        Self { conduct, usage: Usage::default() }
    }

    /// The same model with another token count in each answer.
    pub(crate) fn with_usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    fn answer_as_parent(self, request: &Request) -> Answer {
        if request.tool_results().iter().any(|result| result.contains(TYPE_MISSING)) {
            return once_more(request);
        }
        // A wake can come in the middle of a turn, beside the results of its calls.
        let asked = request.asked_calls();
        if request.answers_tool_call() && asked.is_empty() {
            let results = request.tool_results();
            let agents = launched_agents(&results);
            if self.conduct == Conduct::StopsFirstForks && !request.calls_tool("TaskStop") && !agents.is_empty() {
                // A fork stopped before its first request would never be seen here.
                let stops = Answer::calls("TaskStop", agents.iter().map(|agent| json!({ "task_id": agent })));
                return Answer { after_forks: agents.len(), ..stops };
            }
            return Answer::text("Done.");
        }
        let directed = directions::calls(&request.newest_text());
        if !directed.is_empty() {
            return Answer::of(directed.into_iter().map(|(name, input)| Block::ToolUse { name, input }).collect());
        }
        let calls = match self.conduct {
            Conduct::Obedient | Conduct::ForkSpawnsSister | Conduct::StopsFirstForks => asked,
            Conduct::SpawnsTwice => asked.iter().flat_map(|call| [call.clone(), call.clone()]).collect(),
            Conduct::AddsNameAndModel => asked.into_iter().map(named_and_modelled).collect(),
            Conduct::NeverSpawns => Vec::new(),
        };
        if calls.is_empty() {
            return Answer::text(format!("Reply #{}", request.number));
        }
        Answer::calls("Agent", calls)
    }

    fn answer_as_fork(self, request: &Request, directive: &str) -> Answer {
        if called(request, "Agent", 1) {
            return Answer::text(format!("report after a refusal: {}", request.tool_results().join(" ")));
        }
        if let Some(read) = request.tool_results().first().filter(|_| called(request, "Read", 1)) {
            return Answer::text(format!("report of the file: {read}"));
        }
        if self.conduct == Conduct::ForkSpawnsSister {
            let sister = request.all_asked_calls().into_iter().rfind(|call| !spawned_by(request, call));
            if let Some(call) = sister {
                return Answer::calls("Agent", [call]);
            }
        }
        let directed = directions::calls(directive);
        if directed.first().is_some_and(|(name, _)| !called(request, name, 1)) {
            return Answer::of(directed.into_iter().map(|(name, input)| Block::ToolUse { name, input }).collect());
        }
        if let Some(file) = file_to_read(directive) {
            return Answer::calls("Read", [json!({ "file_path": file })]);
        }
        Answer::text(format!("report of {}", directive.lines().next().unwrap_or_default()))
    }
}

impl Model for Scripted {
    fn answer(&self, request: &Request) -> Answer {
        if let (Kind::Fork, Some(directive)) = (request.kind, request.fork_directive()) {
            let delay = directions::thinking(&directive);
            return Answer { usage: self.usage, delay, ..self.answer_as_fork(request, &directive) };
        }
        let usage = directions::context(&request.all_text()).map_or(self.usage, Usage::holding);
        Answer { usage, ..self.answer_as_parent(request) }
    }
}

/// The fork type is missing: as the wake text asks, the same calls once more, and then the remedy for the user.
fn once_more(request: &Request) -> Answer {
    let since_wake = request.since_wake();
    let failed = since_wake.iter().filter(|message| message.to_string().contains(TYPE_MISSING)).count();
    if failed < 2 {
        return Answer::calls("Agent", request.last_calls());
    }
    let text = request.all_text();
    let remedy = text.rsplit_once("tell the user: ").and_then(|(_, rest)| rest.split_once(". Never"));
    Answer::text(format!("For you: {}", remedy.map_or("nothing", |(remedy, _)| remedy)))
}

/// The agents that the client says it has launched.
fn launched_agents(results: &[String]) -> Vec<&str> {
    let after = results.iter().flat_map(|result| result.split("agentId: ").skip(1));
    after.filter_map(|rest| rest.split(|character: char| !character.is_ascii_alphanumeric()).next()).collect()
}

fn named_and_modelled(mut call: Value) -> Value {
    call["name"] = json!("helper");
    call["model"] = json!("haiku");
    call
}

/// Whether the fork itself, after it was started, has called this tool at least `times` times.
fn called(request: &Request, tool: &str, times: usize) -> bool {
    let own =
        request.messages().iter().rev().take_while(|message| !message.to_string().contains("<fork-boilerplate>"));
    let blocks =
        own.filter(|message| message["role"] == "assistant").filter_map(|message| message["content"].as_array());
    blocks.flatten().filter(|block| block["type"] == "tool_use" && block["name"] == tool).count() >= times
}

/// Whether `call` is the one that started this fork: the only call its copy of the conversation was left with.
fn spawned_by(request: &Request, call: &Value) -> bool {
    let blocks = request.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
    blocks.filter(|block| block["type"] == "tool_use").any(|block| block["input"]["prompt"] == call["prompt"])
}

/// The fork file that a directive of one line tells its fork to read. Compiled instructions are never one line.
fn file_to_read(directive: &str) -> Option<&str> {
    let mut lines = directive.lines();
    let (line, None) = (lines.next()?, lines.next()) else {
        return None;
    };
    let end = line.rfind(".md")? + ".md".len();
    let starts = line[..end].match_indices('/').map(|(index, _)| index);
    let start = starts.rev().find(|&index| line[..index].ends_with([' ', '"', '`', '\'', '(']))?;
    Some(&line[start..end])
}
