//! Who began a turn: the client gives typed prompts, ends of background work and feedback of hooks all as prompts.
//!
//! The latter two begin with a `<task-notification>` block. Only a prompt that *begins* so is one: a person may well
//! quote such text. Inside a block, the report of an agent is free text, and whatever looks like a further block after
//! it may be part of that report; such a notice is passed on as doubtful.
//!
//! A client of tomorrow may word all this otherwise. Were its text taken for the user's, the fork that it tells of would
//! fire again, and that text would follow again, for ever. So a prompt that carries what only our own wake or our own
//! call could have put there is never the user's.

use super::payload::shorten_report;
use super::wake_text::MARKER;
use crate::engine::{CALL_PREFIX, Evidence, Outcome, Prompt, TaskId, TaskNotice, ToolUseId, Usage};
use crate::host::protocol::Token;

const OPEN: &str = "<task-notification>";
const CLOSE: &str = "</task-notification>";

/// The summary of a notification that brings a hook's feedback, and the words before that feedback.
const HOOK_SUMMARY: &str = "Stop hook feedback";
const HOOK_FEEDBACK: &str = "Stop hook blocking error from command ";

/// How many notices of one prompt are read. The client gives one at a time.
const MOST_NOTICES: usize = 64;

/// Who or what began the turn with this prompt.
pub(super) fn classify(prompt: &str) -> Prompt {
    let prompt = prompt.trim_start();
    let Some(first) = Block::first(prompt) else {
        return if is_machine_made(prompt) { Prompt::OtherHook } else { Prompt::Human };
    };
    if first.field("summary") == Some(HOOK_SUMMARY) {
        return if is_our_wake(first.rest) { Prompt::Wake } else { Prompt::OtherHook };
    }
    let mut notices = Vec::new();
    let mut evidence = Evidence::Plain;
    let mut next = Some(first);
    while let Some(block) = next.filter(|_| notices.len() < MOST_NOTICES) {
        notices.extend(block.notice(evidence));
        if block.report().is_some() {
            evidence = Evidence::AfterReport;
        }
        next = Block::first(block.rest.trim_start());
    }
    // A notification that tells of no end is not the user's doing either.
    if notices.is_empty() { Prompt::OtherHook } else { Prompt::Tasks(notices) }
}

/// How a prompt begins that no person types.
const MACHINE_MADE: [&str; 3] = ["<task-notification", "<system-reminder>", "Agent \"autofork: "];

/// How far into a prompt its beginning reaches.
const BEGINNING: usize = 2048;

/// Whether a prompt that reads like no notification is one all the same: it begins as one does, is in tags and names a
/// call by the description that ours have, or brings a whole wake, ticket included.
fn is_machine_made(prompt: &str) -> bool {
    let beginning = &prompt[..prompt.floor_char_boundary(BEGINNING)];
    let names_our_call = || beginning.starts_with('<') && beginning.contains(&format!("\"{CALL_PREFIX}"));
    let brings_a_wake = || prompt.contains(MARKER) && Token::find_in(prompt).is_some();
    MACHINE_MADE.iter().any(|words| prompt.starts_with(words)) || names_our_call() || brings_a_wake()
}

/// The feedback begins with our first words, right after the name of the hook's command in quotes.
fn is_our_wake(reminder: &str) -> bool {
    let feedback = reminder.split_once(HOOK_FEEDBACK).and_then(|(_, command)| command.split_once("\": "));
    feedback.is_some_and(|(_, text)| text.starts_with(MARKER))
}

/// One notification.
#[derive(Clone, Copy)]
struct Block<'a> {
    /// Between its tags.
    inside: &'a str,
    /// After it.
    rest: &'a str,
}

impl<'a> Block<'a> {
    /// The block that the text begins with.
    fn first(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix(OPEN)?;
        // A report may quote a closing tag; the real one follows the report's or the usage's end.
        let search_from = match inside.find("<result>") {
            Some(report) if inside.find(CLOSE).is_some_and(|close| report < close) => {
                report + end_of_report(&inside[report..]).unwrap_or_default()
            }
            _ => 0,
        };
        let end = search_from + inside[search_from..].find(CLOSE)?;
        Some(Self { inside: &inside[..end], rest: &inside[end + CLOSE.len()..] })
    }

    /// The fields before the report: what the report says cannot be taken for one.
    fn head(self) -> &'a str {
        self.inside.split("<result>").next().unwrap_or_default()
    }

    /// The fields after the report.
    fn tail(self) -> &'a str {
        self.inside.rsplit("</result>").next().unwrap_or_default()
    }

    fn field(self, name: &str) -> Option<&'a str> {
        between(self.head(), name)
    }

    fn report(self) -> Option<&'a str> {
        let (_, report) = self.inside.split_once("<result>")?;
        Some(report.rsplit_once("</result>").map_or(report, |(report, _)| report))
    }

    /// The end of work that this block tells of, if it tells of one.
    fn notice(self, evidence: Evidence) -> Option<TaskNotice> {
        let outcome = match self.field("status")? {
            "completed" => Outcome::Completed,
            "killed" | "stopped" => Outcome::Killed,
            "failed" => Outcome::Failed,
            _ => return None,
        };
        Some(TaskNotice {
            task: self.field("task-id").map(TaskId::from),
            tool_use: self.field("tool-use-id").map(ToolUseId::from),
            outcome,
            report: self.report().map(shorten_report),
            usage: self.usage(),
            evidence,
        })
    }

    fn usage(self) -> Option<Usage> {
        let usage = between(self.tail(), "usage")?;
        let number = |name| between(usage, name).and_then(|number| number.trim().parse().ok());
        Some(Usage {
            tokens: number("subagent_tokens")?,
            tool_uses: number("tool_uses").unwrap_or_default(),
            duration_ms: number("duration_ms").unwrap_or_default(),
        })
    }
}

/// Where a report ends: at the first closing tag that what follows a report comes after.
fn end_of_report(text: &str) -> Option<usize> {
    const END: &str = "</result>";
    let follows = ["\n<usage>", "\n</task-notification>", "</task-notification>"];
    text.match_indices(END)
        .find(|(at, _)| follows.iter().any(|follow| text[at + END.len()..].starts_with(follow)))
        .map(|(at, _)| at)
}

/// What stands between `<name>` and `</name>`.
fn between<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.split_once(&format!("<{name}>"))?;
    value.split_once(&format!("</{name}>")).map(|(value, _)| value)
}
