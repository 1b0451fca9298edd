//! One recorded request, and the questions tests and models ask about it.

use std::fmt;

use serde_json::{Value, json};

/// What the client puts around the instructions of a fork's first request.
const FORK_MARK: &str = "<fork-boilerplate>";
/// What stands before a fork's directive.
const DIRECTIVE_MARK: &str = "Your directive: ";

/// What the client puts over the text of a Stop hook that woke it.
const WAKE_MARK: &str = "Stop hook feedback";

/// Who in the session a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The main conversation.
    Parent,
    /// A fork of it.
    Fork,
    /// A title, a safety check: a request that carries no conversation with tools.
    Side,
    /// Not a message at all: a token count, an unknown path.
    Other,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// 1 for the first of the server.
    pub(crate) number: usize,
    /// Who it comes from.
    pub(crate) kind: Kind,
    /// The path, without the query.
    pub(crate) path: String,
    /// The JSON body; `Null` if it was none.
    pub(crate) body: Value,
}

impl Request {
    /// Reads what kind of request this is.
    pub(crate) fn new(number: usize, path: &str, body: Value) -> Self {
        let mut request = Self { number, kind: Kind::Other, path: path.to_owned(), body };
        if path == "/v1/messages" {
            request.kind = if !request.has_tool("Agent") {
                Kind::Side
            } else if request.fork_directive().is_some() {
                Kind::Fork
            } else {
                Kind::Parent
            };
        }
        request
    }

    /// The conversation.
    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The messages after the model's last one: all that it has not answered yet.
    pub(crate) fn newest(&self) -> &[Value] {
        let messages = self.messages();
        let answered = messages.iter().rposition(|message| message["role"] == "assistant");
        &messages[answered.map_or(0, |index| index + 1)..]
    }

    /// All text in the newest messages.
    pub(crate) fn newest_text(&self) -> String {
        texts(self.newest())
    }

    /// All text in the conversation, tool calls and their results included.
    pub(crate) fn all_text(&self) -> String {
        texts(self.messages())
    }

    /// Whether the newest messages answer a tool call of the model's.
    pub(crate) fn answers_tool_call(&self) -> bool {
        self.newest_blocks().any(|block| block["type"] == "tool_result")
    }

    /// The text of each tool result in the newest messages.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let results = self.newest_blocks().filter(|block| block["type"] == "tool_result");
        results.map(block_text).collect()
    }

    /// What the fork was told to do, if this is a fork's request.
    pub(crate) fn fork_directive(&self) -> Option<String> {
        let marked = self.messages().iter().rev().find_map(|message| {
            let text = texts(std::slice::from_ref(message));
            text.contains(FORK_MARK).then_some(text)
        })?;
        let after = marked.split_once(FORK_MARK)?.1;
        let directive = after.split_once(DIRECTIVE_MARK).map_or(after, |(_, directive)| directive);
        Some(directive.trim().to_owned())
    }

    /// Whether this is what a fork asks first, before any tool call of its own.
    pub(crate) fn starts_fork(&self) -> bool {
        self.kind == Kind::Fork && self.newest_text().contains(FORK_MARK)
    }

    /// Whether a Stop hook's wake is among the newest messages.
    pub(crate) fn is_wake(&self) -> bool {
        self.kind == Kind::Parent && self.newest_text().contains(WAKE_MARK)
    }

    /// The messages from the last wake on.
    pub(crate) fn since_wake(&self) -> &[Value] {
        let messages = self.messages();
        let wake = messages.iter().rposition(|message| texts(std::slice::from_ref(message)).contains(WAKE_MARK));
        &messages[wake.unwrap_or(0)..]
    }

    /// The inputs of the tool calls in the model's last message.
    pub(crate) fn last_calls(&self) -> Vec<Value> {
        let last = self.messages().iter().rfind(|message| message["role"] == "assistant");
        let blocks = last.and_then(|message| message["content"].as_array()).into_iter().flatten();
        blocks.filter(|block| block["type"] == "tool_use").map(|block| block["input"].clone()).collect()
    }

    /// The reports of finished forks among the newest messages.
    pub(crate) fn reports(&self) -> Vec<String> {
        let text = self.newest_text();
        let parts = text.split("<result>").skip(1);
        parts.filter_map(|part| Some(part.split_once("</result>")?.0.to_owned())).collect()
    }

    /// The Agent calls written in a wake text among the newest messages, in order.
    pub(crate) fn asked_calls(&self) -> Vec<Value> {
        agent_calls(&self.newest_text())
    }

    /// The Agent calls written in the whole conversation, in order.
    pub(crate) fn all_asked_calls(&self) -> Vec<Value> {
        agent_calls(&texts(self.messages()))
    }

    /// The system prompt without the block that carries the client's billing header, which differs in each request.
    pub(crate) fn system(&self) -> Vec<Value> {
        let blocks = self.body["system"].as_array().cloned().unwrap_or_default();
        blocks.into_iter().filter(|block| !block_text(block).starts_with("x-anthropic-billing-header")).collect()
    }

    /// Whether the model has called a tool in the conversation so far.
    pub(crate) fn calls_tool(&self, name: &str) -> bool {
        let blocks = self.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
        blocks.filter(|block| block["type"] == "tool_use").any(|block| block["name"] == name)
    }

    fn has_tool(&self, name: &str) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name))
    }

    fn newest_blocks(&self) -> impl Iterator<Item = &Value> {
        self.newest().iter().filter_map(|message| message["content"].as_array()).flatten()
    }
}

/// A message as the model reads it: without the cache markers, which move to the newest message with every request,
/// and with a lone text written as the list of blocks that it becomes when it gets a marker.
pub(crate) fn as_read(message: &Value) -> Value {
    let mut message = without_cache_markers(message);
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
    message
}

fn without_cache_markers(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| *key != "cache_control");
            kept.map(|(key, value)| (key.clone(), without_cache_markers(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_cache_markers).collect(),
        other => other.clone(),
    }
}

/// Every line that is a JSON object with the fields of an Agent call.
fn agent_calls(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
        .filter(|value| value["prompt"].is_string() && value["subagent_type"].is_string())
        .collect()
}

/// All text of some messages, a block a paragraph.
fn texts(messages: &[Value]) -> String {
    let blocks = messages.iter().flat_map(|message| match &message["content"] {
        Value::Array(blocks) => blocks.iter().map(block_text).collect(),
        content => vec![block_text(content)],
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn block_text(block: &Value) -> String {
    match block {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("tool_use") => format!("{}({})", fields["name"].as_str().unwrap_or("?"), fields["input"]),
            Some("tool_result") => {
                let content = fields.get("content").unwrap_or(&Value::Null);
                content.as_array().map_or_else(
                    || block_text(content),
                    |parts| parts.iter().map(block_text).collect::<Vec<_>>().join("\n"),
                )
            }
            _ => fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        },
        _ => String::new(),
    }
}

/// One line of head, then the newest messages, each cut to what a reader of a failed test needs.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.body["model"].as_str().unwrap_or("-");
        let count = self.messages().len();
        write!(f, "#{} {:?} {} {model}, {count} messages", self.number, self.kind, self.path)?;
        if matches!(self.kind, Kind::Parent | Kind::Fork) {
            // The client's own `system` messages describe the machine; no test is about them.
            for message in self.newest().iter().filter(|message| message["role"] != "system") {
                let text = texts(std::slice::from_ref(message));
                let role = message["role"].as_str().unwrap_or("?");
                write!(f, "\n    {role}: {}", shortened(&text, 700).replace('\n', "\n      | "))?;
            }
        }
        Ok(())
    }
}

/// Client prose in system reminders is long and never the point: only its ends are kept.
fn shortened(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit / 2).collect();
    let tail: String = text.chars().skip(count - limit / 2).collect();
    format!("{head} [... {} characters ...] {tail}", count - limit)
}
