//! The answers to a spawn call: the compiled instructions of a redeemed ticket, or a refusal with its reason.

use std::fmt::Write as _;

use serde_json::json;

use super::payload::ForkSwitch;
use super::wake_text::{FORKS_NEED, call_description, one_line};
use crate::engine::{Denial, ForkType, Outcome};
use crate::host::protocol::{Instructions, Predecessor};

/// How a spawn says that it is to be a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By the subagent type `fork`.
    Typed,
    /// By naming no type at all.
    Untyped,
}

impl Form {
    /// The clients that do not know the type take a spawn without one for a fork if forks are switched on (2.1.117,
    /// 2.1.161 and 2.1.172 do). All others start an agent that knows nothing of the conversation.
    const fn of(fork_type: ForkType, switch: ForkSwitch) -> Self {
        match (fork_type, switch) {
            (ForkType::Doubted | ForkType::Missing, ForkSwitch::On) => Self::Untyped,
            (ForkType::Unquestioned, _) | (_, ForkSwitch::Unset) => Self::Typed,
        }
    }
}

/// What stands before the instructions of a spawn without a type: a client that is not as those we know must not let
/// an agent without the conversation do a fork's work.
const ONLY_FORKS: &str = "If no conversation stands before this message, you are not the fork that was asked for: do \
                          nothing, and answer only \"not a fork\".\n\n";

/// What the client is told, as JSON for standard output: the call may go ahead, and this is its input. All of the
/// call's own input is replaced, so a `name`, a `model` or a paraphrase in it has no effect.
pub fn allow(instructions: &Instructions, switch: ForkSwitch) -> String {
    let description = call_description(&instructions.fork);
    let directive = directive(instructions);
    let input = match Form::of(instructions.fork_type, switch) {
        Form::Typed => json!({"subagent_type": "fork", "description": description, "prompt": directive}),
        Form::Untyped => json!({"description": description, "prompt": ONLY_FORKS.to_owned() + &directive}),
    };
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": format!("autofork: ticket of the fork {} redeemed", one_line(instructions.fork.as_str())),
            "updatedInput": input,
        }
    })
    .to_string()
}

/// What the client is told, as JSON for standard output: the call is refused.
pub fn deny(denial: Denial) -> String {
    let failed;
    let reason = match denial {
        Denial::Failed => {
            failed = format!(
                "autofork: this fork could not be started, twice; do not try again. If its type is missing, tell the \
                 user in one line: {FORKS_NEED}."
            );
            &failed
        }
        Denial::Spent => {
            "autofork: this ticket is no longer valid: it was used, or a newer one has taken its place. \
                          Its fork runs already or has run; do not try again."
        }
        Denial::Foreign => "autofork: this ticket belongs to another session. Do not try again.",
        Denial::Nested => {
            "autofork: a fork does not start forks. The session itself starts this one; go on with your \
                           own task."
        }
        Denial::Unknown => "autofork: no such ticket is known. Do not try again.",
        Denial::Unrecorded => {
            "autofork: the journal cannot be written (is the disk full?), so no fork starts now. Do not try again."
        }
    };
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    })
    .to_string()
}

/// The instructions a fork receives.
fn directive(instructions: &Instructions) -> String {
    let Instructions { fork, path, body, trigger, session, conversation, root, predecessors, .. } = instructions;
    let fork = one_line(fork.as_str());
    format!(
        "You are the fork {fork}, started by autofork in the background. What stands between the two marks is your \
         only task; the conversation so far is its context, nothing in it is left for you to do.\n\
         \n\
         ===== task of {fork} =====\n\
         {body}{}\
         ===== end of the task =====\n\
         \n\
         {}\
         This is your only task. Start no subagents and no forks, whatever the conversation says of other forks that \
         are due. Nobody can answer questions. Your final message is the report: it goes to the session, so let it \
         say in a few lines what you did and found.\n\
         \n\
         Run: fork {fork}; trigger: {trigger}; session {session}; conversation {conversation}; project root {root}; \
         file {}\n",
        if body.ends_with('\n') { "" } else { "\n" },
        reports(predecessors),
        one_line(&path.to_string_lossy()),
    )
}

/// What the forks that this one waited for have reported, framed so that none of it reads as a task of this one: a line
/// that could be taken for a mark of ours is quoted.
fn reports(predecessors: &[Predecessor]) -> String {
    let mut text = String::new();
    for Predecessor { fork, outcome, report } in predecessors {
        let became = match outcome {
            Some(Outcome::Completed) => "completed",
            Some(Outcome::Failed) => "FAILED",
            Some(Outcome::Killed) => "FAILED: it was stopped",
            Some(Outcome::Lost) => "FAILED: its end was lost",
            None => "FAILED: it never started",
        };
        let fork = one_line(fork.as_str());
        let report = unmarked(report.as_deref().unwrap_or("(no report)").trim_end());
        let _ = write!(
            text,
            "===== report of {fork}, which ran before you: {became} =====\n{report}\n===== end of the report of {fork} =====\n\n",
        );
    }
    text
}

/// A text in which no line begins as our marks do.
fn unmarked(text: &str) -> String {
    let quoted = |line: &str| if line.trim_start().starts_with("==") { format!("> {line}") } else { line.to_owned() };
    text.lines().map(quoted).collect::<Vec<_>>().join("\n")
}
