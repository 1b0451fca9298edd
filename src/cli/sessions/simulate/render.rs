//! A timeline as text for a person, and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::sessions::words::{clock, count, names, plain, reason_told, telling};
use crate::cli::style::{BOLD, CYAN, DIM, GREEN, RED};
use crate::engine::{Outcome, Reason, SessionId, StartSource};
use crate::ir::Time;
use crate::sim::scenario::{Change, Line, Played, Scenario, Timeline, Unmet, What};
use crate::text::Source;

/// The version of the JSON printed.
const VERSION: u32 = 1;

/// How an instant is told.
type Clock<'a> = &'a dyn Fn(Time) -> String;

/// A play of a scenario, with what was not met.
pub(super) fn scenario(scenario: &Scenario, played: &Played, source: &Source) -> String {
    let mut text = String::new();
    if let Some(title) = &scenario.title {
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}\n", plain(title));
    }
    for name in &played.broken {
        let _ = writeln!(text, "{RED}{} is broken and does not fire{RED:#}", plain(name.as_str()));
    }
    let began = played.began;
    let clock = |at: Time| offset(at, began);
    lines(&mut text, &played.timeline.lines, &clock);
    text.push('\n');
    for unmet in &played.unmet {
        difference(&mut text, unmet, source, &clock);
    }
    let met = played.expectations - played.unmet.len().min(played.expectations);
    if played.unmet.is_empty() {
        let _ = writeln!(text, "{GREEN}✓{GREEN:#} {}", expectations(met, "met"));
    } else {
        let rest = if met > 0 { format!(", {met} met") } else { String::new() };
        let _ = writeln!(text, "{RED}✗{RED:#} {}{rest}", expectations(played.unmet.len(), "not met"));
    }
    text
}

fn expectations(number: usize, what: &str) -> String {
    let word = if number == 1 { "expectation" } else { "expectations" };
    format!("{number} {word} {what}")
}

fn difference(text: &mut String, unmet: &Unmet, source: &Source, clock: Clock<'_>) {
    let place = source.position(unmet.expectation.span.start);
    let fork = plain(unmet.fork.as_str());
    let path = plain(&source.path().to_string_lossy());
    let _ = writeln!(text, "{RED}✗{RED:#} {path}:{}:{}", place.line, place.column);
    let _ = writeln!(text, "  {GREEN}expected{GREEN:#}  {fork} {}", unmet.expected);
    let fired: Vec<String> = unmet.fired.iter().map(|at| clock(*at)).collect();
    let fired = if fired.is_empty() { "never fires".to_owned() } else { format!("fires at {}", fired.join(", ")) };
    let _ = writeln!(text, "  {RED}found{RED:#}     {fork} {fired}");
    for reason in &unmet.reasons {
        let _ = writeln!(text, "            · {} {DIM}({}){DIM:#}", reason_told(reason, clock), reason.name());
    }
    if let Some(due) = unmet.due {
        let _ = writeln!(text, "            · comes due at {}", clock(due));
    }
    text.push('\n');
}

/// A real session.
pub(super) fn session(id: &SessionId, timeline: &Timeline) -> String {
    let mut text = format!("{BOLD}session {}{BOLD:#}\n\n", plain(id.as_str()));
    let last = timeline.lines.last().map(|line| line.at).unwrap_or_default();
    lines(&mut text, &timeline.lines, &|at| clock(at, last));
    text
}

fn lines(text: &mut String, lines: &[Line], clock: Clock<'_>) {
    let mut sessions: Vec<&str> = lines.iter().filter_map(|line| line.session.as_deref()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let several = sessions.len() > 1;
    let width = lines.iter().map(|line| clock(line.at).len()).max().unwrap_or(0);
    let mut last = String::new();
    for line in lines {
        let at = clock(line.at);
        let shown = if at == last { String::new() } else { at.clone() };
        let who = match &line.session {
            Some(session) if several => format!("{DIM}{}{DIM:#}  ", plain(session)),
            _ => String::new(),
        };
        let _ = writeln!(text, "{shown:>width$}  {who}{}", words(&line.what, clock));
        last = at;
    }
}

fn words(what: &What, clock: Clock<'_>) -> String {
    match what {
        What::Began(StartSource::Startup) => "the session begins".to_owned(),
        What::Began(StartSource::Resume) => "the session is resumed".to_owned(),
        What::Began(StartSource::Clear) => "the conversation is cleared".to_owned(),
        What::Began(StartSource::Compact) => "the conversation is compacted".to_owned(),
        What::UserTurn { planning: false } => "the user's turn begins".to_owned(),
        What::UserTurn { planning: true } => "the user's turn begins, in plan mode".to_owned(),
        What::HookTurn => "another hook makes the session go on".to_owned(),
        What::TaskEnded(tasks) => format!("background work has ended: {}", list(tasks)),
        What::TurnEnded(tasks) if tasks.is_empty() => "the turn ends".to_owned(),
        What::TurnEnded(tasks) => format!("the turn ends; in the background goes on: {}", list(tasks)),
        What::Interrupted => "the turn is interrupted".to_owned(),
        What::HookGone => "the parked hook goes away".to_owned(),
        What::Gauge(Some(tokens)) => format!("the context holds {} tokens", count(*tokens)),
        What::Gauge(None) => "the size of the context is not known any more".to_owned(),
        What::Woken { forks, held, again } => {
            let fired: Vec<String> = forks
                .iter()
                .map(|(fork, trigger)| format!("{BOLD}{}{BOLD:#} {DIM}({trigger}){DIM:#}", plain(fork.as_str())))
                .collect();
            let verb = if forks.len() == 1 { "fires" } else { "fire" };
            let mut words = format!("{GREEN}▶{GREEN:#} {} {verb}", fired.join(", "));
            if *again {
                words += ", asked for again";
            }
            if !held.is_empty() {
                let _ = write!(words, "; held back: {}", names(held));
            }
            words
        }
        What::RunBegan(fork) => format!("{CYAN}│{CYAN:#} {} runs", plain(fork.as_str())),
        What::RunEnded(fork, how) => {
            let words = match how {
                Outcome::Completed => "is done",
                Outcome::Failed => "has failed",
                Outcome::Killed => "was stopped",
                Outcome::Lost => "is lost",
            };
            format!("{CYAN}│{CYAN:#} {} {words}", plain(fork.as_str()))
        }
        What::NeverRan(fork) => format!("{CYAN}│{CYAN:#} {} never ran", plain(fork.as_str())),
        What::DidNotFire { fork, reasons, due } => {
            let why: Vec<String> = telling(reasons).map(|reason| reason_told(reason, clock)).collect();
            let mut why = why.join("; ");
            if let (Some(due), false) =
                (due, reasons.iter().any(|reason| matches!(reason, Reason::NotYetQuiet { .. })))
            {
                let _ = write!(why, "{}due at {}", if why.is_empty() { "" } else { "; " }, clock(*due));
            }
            format!("{DIM}·{DIM:#} {} did not fire: {DIM}{why}{DIM:#}", plain(fork.as_str()))
        }
        What::Files(Change::Written(fork)) => format!("the fork {} is written", plain(fork)),
        What::Files(Change::Removed(fork)) => format!("the fork {} is removed", plain(fork)),
        What::Files(Change::Configured) => "the configuration is written".to_owned(),
        What::Program { forks } => format!("{DIM}{forks} forks are in force{DIM:#}"),
        What::Restarted => "the daemon is started anew".to_owned(),
        What::Ended => "the session ends".to_owned(),
    }
}

fn list(tasks: &[String]) -> String {
    tasks.iter().map(|task| plain(task)).collect::<Vec<_>>().join(", ")
}

/// An instant, from the beginning.
fn offset(at: Time, began: Time) -> String {
    let all = at.since(began).get();
    let parts = [(all / 3600, "h"), (all / 60 % 60, "m"), (all % 60, "s")];
    let shown: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, unit)| format!("{number}{unit}")).collect();
    if shown.is_empty() { "0s".to_owned() } else { shown.concat() }
}

pub(super) fn json(scenario: &Scenario, played: &Played) -> String {
    let unmet: Vec<Value> = played
        .unmet
        .iter()
        .map(|unmet| {
            json!({
                "at": unmet.expectation.at.get() * 1000,
                "session": unmet.expectation.session,
                "fork": unmet.fork,
                "expected": unmet.expected,
                "fired": unmet.fired,
                "reasons": unmet.reasons,
                "due": unmet.due,
            })
        })
        .collect();
    let document = json!({
        "version": VERSION,
        "title": scenario.title,
        "met": played.expectations - unmet.len().min(played.expectations),
        "unmet": unmet,
        "timeline": json_lines(&played.timeline),
    });
    format!("{document:#}\n")
}

pub(super) fn json_session(id: &SessionId, timeline: &Timeline) -> String {
    let document = json!({ "version": VERSION, "session": id, "timeline": json_lines(timeline) });
    format!("{document:#}\n")
}

fn json_lines(timeline: &Timeline) -> Vec<Value> {
    let clock = |at: Time| at.as_millis().to_string();
    let line = |line: &Line| {
        let words = anstream::adapter::strip_str(&words(&line.what, &clock)).to_string();
        let mut value = json!({ "at": line.at, "session": line.session, "what": kind(&line.what), "words": words });
        match &line.what {
            What::Woken { forks, held, .. } => {
                value["forks"] =
                    forks.iter().map(|(fork, trigger)| json!({ "fork": fork, "trigger": trigger })).collect();
                value["held"] = json!(held);
            }
            What::RunBegan(fork) | What::RunEnded(fork, _) | What::NeverRan(fork) => value["fork"] = json!(fork),
            What::DidNotFire { fork, reasons, due } => {
                value["fork"] = json!(fork);
                value["reasons"] = json!(reasons);
                value["due"] = json!(due);
            }
            _ => {}
        }
        value
    };
    timeline.lines.iter().map(line).collect()
}

fn kind(what: &What) -> &'static str {
    match what {
        What::Began(_) => "began",
        What::UserTurn { .. } => "user_turn",
        What::HookTurn => "hook_turn",
        What::TaskEnded(_) => "task_ended",
        What::TurnEnded(_) => "turn_ended",
        What::Interrupted => "interrupted",
        What::HookGone => "hook_gone",
        What::Gauge(_) => "gauge",
        What::Woken { .. } => "fired",
        What::RunBegan(_) => "run_began",
        What::RunEnded(..) => "run_ended",
        What::NeverRan(_) => "never_ran",
        What::DidNotFire { .. } => "did_not_fire",
        What::Files(_) => "files",
        What::Program { .. } => "program",
        What::Restarted => "restarted",
        What::Ended => "ended",
    }
}
