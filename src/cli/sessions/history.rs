//! `history`: past wakes and runs, from the journal. Needs no daemon, and leaves no trace.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;

use super::words::{count, first_line, outcome, path, plain};
use crate::cli::style::{BOLD, CYAN, DIM, GREEN, RED, YELLOW};
use crate::cli::{CliError, output};
use crate::compile;
use crate::engine::{Outcome, Trigger, Usage};
use crate::host::dirs::Home;
use crate::ir::{Seconds, Time};
use crate::journal::{JournalError, PastEnd, PastRun, Reader, Wanted};

/// Show past wakes and runs: what made each fork due, how long it ran, what it cost, how it ended.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Runs of this fork alone.
    #[arg(long)]
    fork: Option<String>,
    /// Runs of sessions whose id begins so.
    #[arg(long)]
    session: Option<String>,
    /// Runs of this day alone, as in 2026-03-31.
    #[arg(long, value_name = "YYYY-MM-DD")]
    day: Option<Date>,
    /// So many runs at the most, the latest; 0 for all.
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    most: u32,
    /// Print one JSON document: times and lengths in milliseconds, times since 1970.
    #[arg(long)]
    json: bool,
}

/// How many characters of a session's id and of a report are shown.
const ID_SHOWN: usize = 8;
const REPORT_SHOWN: usize = 80;

/// The widest a column of names gets.
const WIDEST_NAME: usize = 28;

/// The version of the JSON printed.
const VERSION: u32 = 1;

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let trouble = |error: &JournalError| CliError::new(error.to_string()).help(error.help());
    let between = arguments.day.map(day).transpose()?;
    let fork = arguments.fork.as_deref().map(compile::fork_name);
    // One more than is shown tells whether there are more.
    let most = (arguments.most > 0).then(|| arguments.most.saturating_add(1));
    let wanted = Wanted {
        fork: fork.as_ref().map(crate::ir::ForkName::as_str),
        session: arguments.session.as_deref(),
        between,
        most,
    };
    let read = |reader: Reader| {
        let failed = |error| trouble(&JournalError::Database(home.journal(), error));
        reader.runs(&wanted, now()).map_err(failed)
    };
    let reader = Reader::open(&home.journal()).map_err(|error| trouble(&error))?;
    let mut runs = reader.map(read).transpose()?.unwrap_or_default();
    let limit = usize::try_from(arguments.most).unwrap_or(usize::MAX);
    let more = arguments.most > 0 && runs.len() > limit;
    if more {
        runs.remove(0);
    }
    if arguments.json {
        output::print_json(&Json { version: VERSION, runs: runs.iter().map(json_run).collect() })?;
    } else {
        let everything = arguments.fork.is_none() && arguments.session.is_none() && arguments.day.is_none();
        let shown = if runs.is_empty() && !everything {
            "No run is remembered that is like that.\n".to_owned()
        } else {
            text(&runs, more, &TimeZone::system())
        };
        output::say(&shown)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn now() -> Time {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX))
}

/// The instants at which a day begins and ends where the reader lives.
fn day(date: Date) -> Result<(Time, Time), CliError> {
    let start =
        |date: Date| date.to_zoned(TimeZone::system()).map(|day| Time::from_millis(day.timestamp().as_millisecond()));
    let span = date.checked_add(1.day()).and_then(|next| Ok((start(date)?, start(next)?)));
    span.map_err(|error| CliError::new(format!("there is no such day: {error}")))
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    /// Oldest first.
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    ticket: u64,
    wake: u64,
    fork: &'a str,
    session: &'a str,
    conversation: &'a str,
    root: &'a str,
    trigger: Trigger,
    issued: Time,
    /// `waiting`, `never_started`, `withdrawn`, `running`, `completed`, `failed`, `killed` or `lost`.
    outcome: &'static str,
    failed_spawns: u32,
    started: Option<Time>,
    ended: Option<Time>,
    duration_ms: Option<u64>,
    tokens: Option<u64>,
    tool_uses: Option<u64>,
    report: Option<&'a str>,
}

fn json_run(run: &PastRun) -> JsonRun<'_> {
    let (started, ended, usage, report) = match &run.end {
        PastEnd::Waiting | PastEnd::NeverStarted | PastEnd::Withdrawn => (None, None, None, None),
        PastEnd::Running { started } => (Some(*started), None, None, None),
        PastEnd::Ended { started, at, usage, report, .. } => (Some(*started), *at, *usage, report.as_deref()),
    };
    JsonRun {
        ticket: run.ticket.get(),
        wake: run.wake.get(),
        fork: &run.fork,
        session: &run.session,
        conversation: &run.conversation,
        root: &run.root,
        trigger: run.trigger,
        issued: run.issued,
        outcome: outcome_name(&run.end),
        failed_spawns: run.failures,
        started,
        ended,
        duration_ms: duration(started, ended, usage),
        tokens: usage.map(|usage| usage.tokens),
        tool_uses: usage.map(|usage| usage.tool_uses),
        report,
    }
}

/// As the client tells it, else from start to end.
fn duration(started: Option<Time>, ended: Option<Time>, usage: Option<Usage>) -> Option<u64> {
    let told = usage.map(|usage| usage.duration_ms).filter(|told| *told > 0);
    told.or_else(|| u64::try_from(ended?.as_millis().saturating_sub(started?.as_millis())).ok())
}

fn outcome_name(end: &PastEnd) -> &'static str {
    match end {
        PastEnd::Waiting => "waiting",
        PastEnd::NeverStarted => "never_started",
        PastEnd::Withdrawn => "withdrawn",
        PastEnd::Running { .. } => "running",
        PastEnd::Ended { outcome: Outcome::Completed, .. } => "completed",
        PastEnd::Ended { outcome: Outcome::Failed, .. } => "failed",
        PastEnd::Ended { outcome: Outcome::Killed, .. } => "killed",
        PastEnd::Ended { outcome: Outcome::Lost, .. } => "lost",
    }
}

fn text(runs: &[PastRun], more: bool, zone: &TimeZone) -> String {
    let mut text = String::new();
    if runs.is_empty() {
        text.push_str("No fork has fired, as far as is remembered.\n");
    }
    if more {
        let _ = writeln!(text, "{DIM}earlier ones are left out; `--most 0` shows all{DIM:#}\n");
    }
    let width = runs.iter().map(|run| plain(&run.fork).chars().count()).max().unwrap_or(0).min(WIDEST_NAME);
    let mut last_day = None;
    for run in runs {
        let at = Timestamp::from_millisecond(run.issued.as_millis()).unwrap_or_default().to_zoned(zone.clone());
        if last_day != Some(at.date()) {
            let gap = if last_day.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{BOLD}{}{BOLD:#}", at.strftime("%A, %Y-%m-%d"));
            last_day = Some(at.date());
        }
        let id: String = run.session.chars().take(ID_SHOWN).collect();
        let name = plain(&run.fork);
        let gap = " ".repeat(width.saturating_sub(name.chars().count()));
        let _ = writeln!(
            text,
            "  {}  {BOLD}{name}{BOLD:#}{gap}  {}  {DIM}{} · {} · {}{DIM:#}",
            at.strftime("%H:%M"),
            end(run),
            run.trigger,
            plain(&id),
            path(std::path::Path::new(&run.root))
        );
        if let PastEnd::Ended { report: Some(report), .. } = &run.end
            && !report.trim().is_empty()
        {
            let _ = writeln!(text, "         {DIM}“{}”{DIM:#}", first_line(report, REPORT_SHOWN));
        }
    }
    text
}

fn end(run: &PastRun) -> String {
    let (style, words) = match &run.end {
        PastEnd::Waiting => (YELLOW, "not started yet".to_owned()),
        PastEnd::NeverStarted if run.failures > 0 => (RED, "could not be started".to_owned()),
        PastEnd::NeverStarted => (YELLOW, "never started".to_owned()),
        PastEnd::Withdrawn => (DIM, "taken back: you went on before it got through".to_owned()),
        PastEnd::Running { .. } => (CYAN, "running".to_owned()),
        PastEnd::Ended { started, at, outcome: how, usage, .. } => {
            let style = if *how == Outcome::Completed { GREEN } else { RED };
            let mut words = outcome(*how).to_owned();
            if let Some(length) = duration(Some(*started), *at, *usage) {
                let seconds = Seconds::new(length.div_ceil(1000)).unwrap_or(Seconds::MAX);
                let _ = write!(words, " after {seconds}");
            }
            if let Some(usage) = usage {
                let _ = write!(words, ", {} tokens, {} tool calls", count(usage.tokens), usage.tool_uses);
            }
            (style, words)
        }
    };
    format!("{style}{words}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{TicketId, WakeId};

    fn run(number: u64, fork: &str, minutes: i64, end: PastEnd) -> PastRun {
        PastRun {
            ticket: TicketId::new(number),
            wake: WakeId::new(number),
            session: "1f99c879-759c-46bb-ac06-dfcdea740219".to_owned(),
            conversation: "c".to_owned(),
            root: "/srv/app".to_owned(),
            fork: fork.to_owned(),
            trigger: Trigger::Idle(Seconds::minutes(15)),
            issued: Time::from_millis(1_800_000_000_000 + minutes * 60_000),
            failures: 0,
            end,
        }
    }

    #[test]
    fn the_past_is_told_by_day_with_what_came_of_each_run() {
        let started = Time::from_millis(1_800_000_000_000);
        let done = PastEnd::Ended {
            started,
            at: Some(Time::from_millis(1_800_000_090_000)),
            outcome: Outcome::Completed,
            report: Some("Wrote three lines.\nAnd more.".to_owned()),
            usage: Some(Usage { tokens: 12_400, tool_uses: 3, duration_ms: 89_500 }),
        };
        let lost = PastEnd::Ended { started, at: None, outcome: Outcome::Lost, report: None, usage: None };
        let runs = [
            run(1, "journal", 0, done),
            run(2, "review\u{1b}[31m", 30, lost),
            run(3, "journal", 24 * 60, PastEnd::Running { started }),
            run(4, "groom", 24 * 60 + 5, PastEnd::Withdrawn),
        ];
        let shown = anstream::adapter::strip_str(&text(&runs, true, &TimeZone::UTC)).to_string();
        insta::assert_snapshot!(shown);
        assert_eq!(text(&[], false, &TimeZone::UTC), "No fork has fired, as far as is remembered.\n");
    }
}
