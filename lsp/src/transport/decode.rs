//! From bytes to messages, forgiving where that loses nothing.
//!
//! An editor whose texts are UTF-16 may send half of a character, escaped in JSON: a text that no Rust string can be.
//! It is read as U+FFFD, which counts as one code unit as well, so that all places stay where they are.

use std::borrow::Cow;

use lsp_server::Message;
use serde::Deserialize;
use serde_json::Value;

/// What cannot be read.
#[derive(Debug, PartialEq)]
pub(super) enum Unreadable {
    /// A request with this id, whose sender waits for an answer.
    Request(Value),
    /// Anything else.
    Other,
}

/// The message in these bytes.
pub(super) fn message(bytes: &[u8]) -> Result<Message, Unreadable> {
    read(bytes).or_else(|_| read(whole(&String::from_utf8_lossy(bytes)).as_bytes())).unwrap_or(Err(Unreadable::Other))
}

/// The message, or the request that is none, in this JSON.
fn read(json: &[u8]) -> serde_json::Result<Result<Message, Unreadable>> {
    let message = serde_json::from_slice(json)?;
    // A request whose id cannot be kept is taken for a notification.
    if matches!(message, Message::Notification(_)) && json.windows(4).any(|word| word == b"\"id\"") {
        let Identified { id } = serde_json::from_slice(json)?;
        return Ok(id.map_or(Ok(message), |id| Err(Unreadable::Request(id))));
    }
    Ok(Ok(message))
}

/// What has an id waits for an answer.
#[derive(Deserialize)]
struct Identified {
    id: Option<Value>,
}

/// JSON with U+FFFD for every escaped half of a character that stands without the other one.
fn whole(json: &str) -> String {
    let mut result = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        result.push_str(before);
        let (shown, length) = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(unit(&escape[6..]), Some(0xdc00..=0xdfff)) => {
                (Cow::from(&escape[..12]), 12)
            }
            Some(0xd800..=0xdfff) => ("\\ufffd".into(), 6),
            // The character behind a backslash, which may be one itself, belongs to it.
            _ => {
                let length = escape.chars().take(2).map(char::len_utf8).sum();
                (escape[..length].into(), length)
            }
        };
        result.push_str(&shown);
        rest = &escape[length..];
    }
    result + rest
}

/// The code unit that a text begins with, escaped.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_become_one_unit_each() {
        for (before, after) in [
            (r#"{"a":"x\ud83dy"}"#, r#"{"a":"x\ufffdy"}"#),
            (r#"["\ud83d\udc1b", "\udc1b\ud83d"]"#, r#"["\ud83d\udc1b", "\ufffd\ufffd"]"#),
            (r#""\ud83d\ud83d\udc1b""#, r#""\ufffd\ud83d\udc1b""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\n\"\u00e9""#, r#""\n\"\u00e9""#),
            ("\\", "\\"),
            ("\\\u{e9}", "\\\u{e9}"),
            (r#""\ud83"#, r#""\ud83"#),
        ] {
            assert_eq!(whole(before), after);
        }
    }

    #[test]
    fn a_message_is_read_with_what_is_whole_of_it() {
        let text = br#"{"jsonrpc":"2.0","method":"m","params":["\ud83d","\xff"]}"#;
        let text: Vec<u8> = String::from_utf8_lossy(text).replace("\\xff", "\u{e9}").into_bytes();
        let Ok(Message::Notification(note)) = message(&text) else { panic!("a notification") };
        assert_eq!(note.params, serde_json::json!(["\u{fffd}", "\u{e9}"]));
    }

    #[test]
    fn who_waits_for_an_answer_is_known() {
        let request =
            |id: &str| message(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).as_bytes()).unwrap_err();
        assert_eq!(request("4294967296"), Unreadable::Request(4_294_967_296_u64.into()));
        assert_eq!(request("1.5"), Unreadable::Request(1.5.into()));
        assert_eq!(message(br#"{"id":4294967296}"#).unwrap_err(), Unreadable::Other);
        assert_eq!(message(b"{nonsense").unwrap_err(), Unreadable::Other);
    }
}
