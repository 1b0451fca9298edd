//! The wake: the text by which the session's model is asked to spawn the forks that are due.
//!
//! It is read by the model and by the user looking on, so it says openly what is asked and why. It is short, since it
//! stays in the conversation: at most 800 bytes for one fork and 300 for each further one, paths and descriptions
//! aside. Instructions are not in it; a ticket stands for them.

use std::fmt::Write as _;

use serde_json::json;

use crate::host::protocol::{DueFork, WakeOrder};
use crate::ir::ForkName;
use crate::text::visible;

/// The words a wake begins with, by which it is known again when the client gives it back as a prompt.
pub const MARKER: &str = "autofork: background forks due\n";

/// What a session's client must be to run forks: the remedy where it knows none.
pub const FORKS_NEED: &str =
    "autofork needs Claude Code 2.1.232 or newer (an older one from 2.1.117 on: set CLAUDE_CODE_FORK_SUBAGENT=1)";

/// The longest description that is shown, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// The text that asks for the forks of `order`.
pub fn wake_text(order: &WakeOrder) -> String {
    let mut text = String::from(MARKER);
    let ask = match order.forks.as_slice() {
        [_] => "One is due: please start it now with this Agent call, exactly as written.",
        _ => "Some are due: please start them now with these Agent calls, exactly as written, all in one message.",
    };
    let _ = writeln!(
        text,
        "The user of this session has set up forks, tasks that run in the background when it is quiet."
    );
    let _ = writeln!(text, "{ask}\n");
    for fork in &order.forks {
        let name = one_line(fork.fork.as_str());
        let _ = write!(text, "{name} ({})", fork.trigger);
        if let Some(description) = &fork.description {
            let _ = write!(text, ": {}", shorten(&one_line(description)));
        }
        let _ = writeln!(text, "\n{}", spawn_call(fork));
    }
    if !order.held.is_empty() {
        let names: Vec<String> = order.held.iter().map(|fork| one_line(fork.as_str())).collect();
        let _ = writeln!(text, "\nLater, when these have ended, and not now: {}.", names.join(", "));
    }
    let _ = writeln!(
        text,
        "\nThen reply in one short line. If the fork type is missing, try once more; if it still is, tell the user: \
         {FORKS_NEED}. Never write an agent file named fork."
    );
    text
}

/// The exact call, as JSON on one line.
fn spawn_call(fork: &DueFork) -> String {
    let prompt = format!(
        "autofork ticket {} for the fork {}. Given nothing more, read {} and follow its body as your only task.",
        fork.ticket,
        one_line(fork.fork.as_str()),
        one_line(&fork.path.to_string_lossy()),
    );
    // Written by hand for the order of the keys: a model copies what it reads.
    format!(
        "{{\"subagent_type\":\"fork\",\"description\":{},\"prompt\":{}}}",
        json!(call_description(&fork.fork)),
        json!(prompt)
    )
}

/// The description that a fork's call carries: on the client's screen, and in its list of background tasks.
pub(super) fn call_description(fork: &ForkName) -> String {
    one_line(&crate::engine::call_description(fork))
}

/// The text as one line in which every character shows: names and descriptions come from files that anybody may have
/// written, and nothing in them may look like something else.
pub(super) fn one_line(text: &str) -> String {
    visible(text).into_owned()
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
