//! An answer as the API would send it: one message, or the same message cut into server-sent events.

use serde_json::{Value, json};

use super::model::{Answer, Block};
use super::request::Request;

/// The whole message. Ids carry the request's number, so that a recorded conversation can be read.
pub(super) fn message(request: &Request, answer: &Answer) -> Value {
    let number = request.number;
    let content: Vec<Value> = answer
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::ToolUse { name, input } => {
                let id = format!("toolu_{number:04}_{index}");
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    let calls = answer.blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    json!({
        "id": format!("msg_{number:04}"),
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": content,
        "stop_reason": if calls { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": {
            "input_tokens": answer.usage.input,
            "cache_read_input_tokens": answer.usage.cache_read,
            "cache_creation_input_tokens": answer.usage.cache_creation,
            "output_tokens": answer.usage.output,
        },
    })
}

/// The message as the body of a `text/event-stream` answer.
pub(super) fn events(message: &Value) -> String {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut body = event(&json!({"type": "message_start", "message": start}));
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut opening = block.clone();
        let delta = if block["type"] == "text" {
            opening["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            opening["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        body += &event(&json!({"type": "content_block_start", "index": index, "content_block": opening}));
        body += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        body += &event(&json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    let usage = json!({"output_tokens": message["usage"]["output_tokens"]});
    body += &event(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
    body + &event(&json!({"type": "message_stop"}))
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
