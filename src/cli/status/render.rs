//! Status as text for a person: what is quiet, what comes next, what came of the last wakes.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::cli::words::{clock, first_line, outcome, path, plain, reason, until};
use crate::engine::Reason;
use crate::host::protocol::{ForkStatus, RunState, RunStatus, SessionStatus, Standing, Status, WakeStatus};
use crate::ir::Time;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// How many characters of a session's id are shown: enough to tell sessions apart.
const ID_SHOWN: usize = 8;

/// How many characters of a report are shown.
const REPORT_SHOWN: usize = 72;

/// The widest a column of names gets.
const WIDEST_NAME: usize = 28;

pub(super) fn no_daemon(newer_format: Option<u32>, obstacle: Option<&str>) -> String {
    let mut text = format!("{BOLD}No daemon is running.{BOLD:#} The next hook of a session starts one.\n");
    if let Some(format) = newer_format {
        let _ = writeln!(
            text,
            "{YELLOW}It will not stay{YELLOW:#}: the journal was written by a newer autofork (format {format}), and \
             is left alone. Update autofork."
        );
    }
    if let Some(obstacle) = obstacle {
        let _ = writeln!(text, "{YELLOW}It cannot start{YELLOW:#}: {}.", plain(obstacle));
    }
    text
}

pub(super) fn status(status: &Status) -> String {
    let daemon = &status.daemon;
    let now = daemon.now;
    let mut text = format!(
        "{BOLD}autofork {}{BOLD:#} {DIM}·{DIM:#} daemon {} {DIM}·{DIM:#} up {}\n",
        plain(&daemon.version),
        daemon.pid,
        now.since(daemon.since)
    );
    for note in &daemon.notes {
        let _ = writeln!(text, "{YELLOW}note{YELLOW:#}: {}", plain(note));
    }
    if status.sessions.is_empty() {
        text.push_str("\nNo session has been heard of.\n");
    }
    for session in &status.sessions {
        text.push('\n');
        session_block(&mut text, session, now);
    }
    text
}

fn session_block(text: &mut String, session: &SessionStatus, now: Time) {
    let id: String = session.session.as_str().chars().take(ID_SHOWN).collect();
    let (mark, style, standing) = match session.standing {
        Standing::Fresh => ("○", DIM, "no turn yet".to_owned()),
        Standing::MidTurn { since } => {
            ("◐", CYAN, format!("mid-turn for {}; nothing fires until it has ended", now.since(since)))
        }
        Standing::Parked { since } => ("●", GREEN, format!("quiet for {}", now.since(since))),
        Standing::Unparked { since } => {
            ("●", YELLOW, format!("quiet for {}, but no hook is parked to wake it through", now.since(since)))
        }
    };
    let _ = writeln!(
        text,
        "{style}{mark}{style:#} {BOLD}{}{BOLD:#}  {}  {style}{standing}{style:#}",
        plain(&id),
        path(session.launch.as_path())
    );
    if let Some(next) = &session.next {
        let _ = writeln!(
            text,
            "  next   {} {} {DIM}({}){DIM:#}",
            plain(next.fork.as_str()),
            until(next.at, now),
            clock(next.at, now)
        );
    }
    if session.forks.is_empty() {
        let _ = writeln!(text, "  {DIM}no forks here{DIM:#}");
    }
    let width = session.forks.iter().map(|fork| width(fork.fork.as_str())).max().unwrap_or(0).min(WIDEST_NAME);
    for (index, fork) in session.forks.iter().enumerate() {
        let label = if index == 0 { "forks" } else { "" };
        let _ = writeln!(text, "  {label:<6} {}  {}", padded(fork.fork.as_str(), width), fork_line(fork, now));
    }
    for (index, wake) in session.wakes.iter().rev().enumerate() {
        let label = if index == 0 { "wakes" } else { "" };
        wake_lines(text, label, wake, now);
    }
}

fn fork_line(fork: &ForkStatus, now: Time) -> String {
    // That it is not quiet for long enough yet is what being due later means.
    let speaks = |known: &&Reason| fork.due.is_none() || !matches!(known, Reason::NotYetQuiet { .. });
    let reasons: Vec<String> = fork.reasons.iter().filter(speaks).map(|known| reason(known, now)).collect();
    match (fork.due, reasons.as_slice()) {
        (Some(due), []) => format!("{GREEN}due {}{GREEN:#}", until(due, now)),
        (Some(due), reasons) => format!("due {} {DIM}· {}{DIM:#}", until(due, now), reasons.join("; ")),
        (None, []) => format!("{DIM}not due{DIM:#}"),
        (None, reasons) => format!("{DIM}{}{DIM:#}", reasons.join("; ")),
    }
}

fn wake_lines(text: &mut String, label: &str, wake: &WakeStatus, now: Time) {
    let at = clock(wake.at, now);
    for (index, run) in wake.runs.iter().enumerate() {
        let (label, at) = if index == 0 { (label, at.as_str()) } else { ("", "") };
        let _ = writeln!(
            text,
            "  {label:<6} {at:<5}  {} {DIM}({}){DIM:#}  {}",
            plain(run.fork.as_str()),
            run.trigger,
            run_line(run, now)
        );
        if let RunState::Ended { report: Some(report), .. } = &run.state {
            let _ = writeln!(text, "                {DIM}“{}”{DIM:#}", first_line(report, REPORT_SHOWN));
        }
    }
}

fn run_line(run: &RunStatus, now: Time) -> String {
    match &run.state {
        RunState::Waiting => format!("{YELLOW}not started yet{YELLOW:#}"),
        RunState::Void => format!("{DIM}never started{DIM:#}"),
        RunState::Live { since } => format!("{CYAN}running for {}{CYAN:#}", now.since(*since)),
        RunState::Ended { started, at, outcome: how, usage, .. } => {
            let mut line = format!("{} after {}", outcome(*how), at.since(*started));
            if let Some(usage) = usage {
                let _ = write!(line, ", {} tokens", usage.tokens);
            }
            line
        }
    }
}

fn width(name: &str) -> usize {
    plain(name).chars().count()
}

fn padded(name: &str, to: usize) -> String {
    let gap = to.saturating_sub(width(name));
    plain(name) + &" ".repeat(gap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Outcome, SessionId, Trigger, Usage, WakeId};
    use crate::host::protocol::{DaemonStatus, NextDue};
    use crate::ir::{LaunchDir, ProjectRoot, Seconds};

    fn at(minutes: i64) -> Time {
        Time::from_millis(1_800_000_000_000 + minutes * 60_000)
    }

    fn without_times_of_day(text: &str) -> String {
        // Times of day depend on where the reader lives.
        let mut words: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let core = word.trim_matches(|c: char| !c.is_ascii_digit());
            let is_clock = core.len() == 5 && core.as_bytes()[2] == b':';
            words.push(if is_clock { word.replace(core, "HH:MM") } else { word.to_owned() });
        }
        words.join(" ")
    }

    #[test]
    fn a_status_says_what_is_quiet_what_comes_next_and_what_came_of_the_last_wake() {
        let status_of = Status {
            daemon: DaemonStatus {
                version: "0.1.0".to_owned(),
                pid: 4242,
                since: at(-125),
                now: at(0),
                notes: vec!["The journal was damaged.".to_owned()],
            },
            sessions: vec![SessionStatus {
                session: SessionId::from("1f99c879-759c-46bb-ac06-dfcdea740219"),
                launch: LaunchDir::new("/home/dev/proj\u{1b}[31mect"),
                root: ProjectRoot::new("/home/dev/project"),
                began: at(-60),
                last_event: at(-4),
                standing: Standing::Parked { since: at(-4) },
                next: Some(NextDue { fork: "review".into(), at: at(11) }),
                forks: vec![
                    ForkStatus { fork: "journal".into(), due: None, reasons: vec![Reason::Latched] },
                    ForkStatus {
                        fork: "review".into(),
                        due: Some(at(11)),
                        reasons: vec![Reason::NotYetQuiet { until: at(11) }],
                    },
                ],
                wakes: vec![WakeStatus {
                    wake: WakeId::new(3),
                    at: at(-2),
                    runs: vec![RunStatus {
                        fork: "journal".into(),
                        trigger: Trigger::Idle(Seconds::minutes(2)),
                        state: RunState::Ended {
                            started: at(-2),
                            at: at(-1),
                            outcome: Outcome::Completed,
                            report: Some("Wrote three lines.\nMore.".to_owned()),
                            usage: Some(Usage { tokens: 12_400, tool_uses: 3, duration_ms: 60_000 }),
                        },
                    }],
                }],
            }],
        };
        let shown = anstream::adapter::strip_str(&status(&status_of)).to_string();
        insta::assert_snapshot!(without_times_of_day(&shown), @r"
        autofork 0.1.0 · daemon 4242 · up 2h 5m
        note: The journal was damaged.

        ● 1f99c879  /home/dev/proj\u{1b}[31mect  quiet for 4m
          next   review in 11m (HH:MM)
          forks  journal  has fired in this pause
                 review   due in 11m
          wakes  HH:MM  journal (quiet for 2m)  done after 1m, 12400 tokens
                        “Wrote three lines.”
        ");
    }
}
