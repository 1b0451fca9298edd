//! The text by which a person starts forks by hand: pasted into a live session, it asks for the spawns.
//!
//! No ticket stands in it, so no hook touches the calls, nothing is stamped, and each fork reads its own file.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::wake_text::call_description;
use crate::ir::ForkName;
use crate::text::visible;

/// A fork to be started by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByHand {
    /// The fork.
    pub fork: ForkName,
    /// Its file.
    pub path: PathBuf,
    /// The forks of the same text that it waits for.
    pub after: Vec<ForkName>,
}

/// The text that asks for these forks, given in an order in which none comes before one that it waits for.
pub fn spawn_text(forks: &[ByHand]) -> String {
    let (now, later): (Vec<&ByHand>, Vec<&ByHand>) = forks.iter().partition(|fork| fork.after.is_empty());
    let ask = match now.as_slice() {
        [_] => "Please start this fork now, in the background, with this Agent call, exactly as written:",
        _ => {
            "Please start these forks now, in the background, with these Agent calls, exactly as written, all in one message:"
        }
    };
    let mut text = format!("{ask}\n");
    for fork in now {
        let _ = writeln!(text, "{}", call(fork));
    }
    for fork in later {
        let names: Vec<&str> = fork.after.iter().map(ForkName::as_str).collect();
        let names = names.join(", ");
        let _ =
            writeln!(text, "Then, once {} ended, and not before, this one:", visible(&has(&names, fork.after.len())));
        let _ = writeln!(text, "{}", call(fork));
    }
    text.push_str("Then reply in one short line. Never write an agent file named fork.\n");
    text
}

fn has(names: &str, count: usize) -> String {
    format!("{names} {}", if count == 1 { "has" } else { "have" })
}

fn call(fork: &ByHand) -> String {
    let prompt = format!(
        "autofork, by hand: you are the fork {}. Read {} and follow its body, what stands below its frontmatter, as your \
         only task. Start no subagents. Your final message is the report.",
        fork.fork,
        fork.path.display(),
    );
    format!(
        "{{\"subagent_type\":\"fork\",\"description\":{},\"prompt\":{}}}",
        in_json(&call_description(&fork.fork)),
        in_json(&prompt)
    )
}

/// A text as JSON that a terminal shows as it is: what a terminal would obey is written as JSON's own escapes, so that
/// a path stays the path that it is.
fn in_json(text: &str) -> String {
    let mut shown = String::new();
    for character in json!(text).to_string().chars() {
        if matches!(visible(character.encode_utf8(&mut [0; 4])), Cow::Borrowed(_)) {
            shown.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(name: &str, after: &[&str]) -> ByHand {
        ByHand {
            fork: name.into(),
            path: PathBuf::from(format!("/project/.autofork/forks/{name}.md")),
            after: after.iter().map(|name| (*name).into()).collect(),
        }
    }

    /// The calls in a text, as a model that copies them would make them.
    fn calls(text: &str) -> Vec<serde_json::Value> {
        text.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn dependents_are_asked_for_after_those_they_wait_for() {
        let text = spawn_text(&[fork("a", &[]), fork("b", &[]), fork("c", &["a", "b"])]);
        let calls = calls(&text);
        let descriptions: Vec<&str> = calls.iter().map(|call| call["description"].as_str().unwrap()).collect();
        assert_eq!(descriptions, ["autofork: a", "autofork: b", "autofork: c"]);
        assert!(text.contains("Then, once a, b have ended, and not before, this one:\n{"), "{text}");
        assert!(crate::host::protocol::Token::find_in(&text).is_none(), "no ticket");
    }

    #[test]
    fn a_name_cannot_touch_the_terminal_and_its_path_stays_what_it_is() {
        let name = "a\u{1b}[31m\u{202e}\u{9b}b";
        let text = spawn_text(&[fork(name, &[]), fork("z", &[name])]);
        assert!(text.chars().all(|c| c == '\n' || visible(&c.to_string()) == c.to_string()), "{text:?}");
        let prompt = calls(&text)[0]["prompt"].as_str().unwrap().to_owned();
        assert!(prompt.contains(&format!("/forks/{name}.md")), "{prompt:?}");
    }
}
