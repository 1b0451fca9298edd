//! Status as text for a person: what is quiet, what comes next, what came of the last wakes.

use std::fmt::Write;

use anstyle::Style;

use super::Silence;
use crate::cli::sessions::words::{clock, count, first_line, names, path, plain, reason, run_state, telling, until};
use crate::cli::style::{BOLD, CYAN, DIM, GREEN, YELLOW};
use crate::engine::{ForkType, PermissionMode, Reason};
use crate::host::claude_code::FORKS_NEED;
use crate::host::protocol::{Clock, ForkStatus, RunState, RunStatus, SessionStatus, Standing, Status, WakeStatus};
use crate::ir::{Seconds, Time};

/// How many characters of a session's id are shown: enough to tell sessions apart.
const ID_SHOWN: usize = 8;

/// How many characters of a report are shown.
const REPORT_SHOWN: usize = 72;

/// How many forks of a session are shown.
const FORKS_SHOWN: usize = 20;

/// Not heard of for so long, a session may be over.
const STALE: Seconds = Seconds::minutes(120);

/// The widest a column of names gets.
const WIDEST_NAME: usize = 28;

pub(super) fn no_daemon(silence: &Silence) -> String {
    let mut text = format!("{BOLD}No daemon is running.{BOLD:#} The next hook of a session starts one.\n");
    if let Some(format) = silence.newer_format {
        let _ = writeln!(
            text,
            "{YELLOW}It will not stay{YELLOW:#}: the journal was written by a newer autofork (format {format}), and \
             is left alone. Update autofork."
        );
    } else if let Some(obstacle) = &silence.obstacle {
        let _ = writeln!(text, "{YELLOW}It cannot start{YELLOW:#}: {}.", plain(obstacle));
    } else if let Some(said) = &silence.last_words {
        let _ = writeln!(text, "{YELLOW}The last one ended with an error{YELLOW:#}: {}", plain(said));
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
        text.push_str("\nNo session is open.\n");
    }
    for session in &status.sessions {
        text.push('\n');
        session_block(&mut text, session, now);
    }
    text
}

/// One line that says which session this is and where it stands.
pub(in crate::cli) fn heading(text: &mut String, session: &SessionStatus, now: Time) {
    let id: String = session.session.as_str().chars().take(ID_SHOWN).collect();
    let (mark, style, standing) = match session.standing {
        Standing::Fresh => ("○", DIM, "no turn yet".to_owned()),
        Standing::MidTurn { since } => {
            let length = now.since(since);
            ("◐", CYAN, format!("mid-turn, or interrupted, for {length}; nothing fires until a turn ends"))
        }
        Standing::Parked { since } => ("●", GREEN, format!("quiet for {}", now.since(since))),
        Standing::Unparked { since } => {
            ("●", YELLOW, format!("quiet for {}, but no hook is parked to wake it through", now.since(since)))
        }
    };
    let plan = if session.mode == Some(PermissionMode::Plan) { " in plan mode" } else { "" };
    let doubt = if is_stale(session, now) {
        format!("  {YELLOW}[stale?]{YELLOW:#} not heard of for {}", now.since(session.last_event))
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "{style}{mark}{style:#} {BOLD}{}{BOLD:#}  {}  {style}{standing}{plan}{style:#}{doubt}",
        plain(&id),
        path(session.launch.as_path())
    );
}

fn session_block(text: &mut String, session: &SessionStatus, now: Time) {
    heading(text, session, now);
    if session.fork_type == ForkType::Missing {
        let _ = writeln!(text, "  {YELLOW}forks cannot run here{YELLOW:#}: {FORKS_NEED}");
    }
    if let Some(gauge) = session.gauge {
        let percent = (gauge.tokens * 100).checked_div(gauge.window).unwrap_or(0);
        let _ = writeln!(
            text,
            "  gauge  {} of {} tokens {DIM}({percent}%){DIM:#}",
            count(gauge.tokens),
            count(gauge.window)
        );
    }
    if let Clock::Held(limit) = session.clock {
        let tasks: Vec<String> = session
            .background
            .iter()
            .map(|task| format!("{} {DIM}(for {}){DIM:#}", plain(task.task.as_str()), now.since(task.since)))
            .collect();
        let limit =
            limit.map_or_else(|| "until it ends".to_owned(), |limit| format!("until {} at most", clock(limit, now)));
        let _ = writeln!(text, "  held   {YELLOW}by background work{YELLOW:#} {}, {limit}", tasks.join(", "));
    }
    for held in &session.held {
        let _ = writeln!(
            text,
            "  held   {} {YELLOW}waits for {}{YELLOW:#} {DIM}(for {}){DIM:#}",
            plain(held.fork.as_str()),
            names(&held.after),
            now.since(held.since)
        );
    }
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
    // Whoever is due first is what a reader looks for; after so many it is only noise.
    let mut forks: Vec<&ForkStatus> = session.forks.iter().collect();
    forks.sort_by_key(|fork| fork.due.unwrap_or(Time::from_millis(i64::MAX)));
    for (index, fork) in forks.iter().take(FORKS_SHOWN).enumerate() {
        let label = if index == 0 { "forks" } else { "" };
        let _ = writeln!(text, "  {label:<6} {}  {}", padded(fork.fork.as_str(), width), fork_line(fork, now));
    }
    if let Some(more) = forks.len().checked_sub(FORKS_SHOWN).filter(|more| *more > 0) {
        let _ =
            writeln!(text, "         {DIM}and {} more; `autofork why FORK` tells of each{DIM:#}", count(more as u64));
    }
    for (index, wake) in session.wakes.iter().rev().enumerate() {
        let label = if index == 0 { "wakes" } else { "" };
        wake_lines(text, label, wake, now);
    }
}

/// Whether a session may well be over without anybody having said so. A parked hook lives no longer than its client,
/// so one that has it is there however long it has been quiet.
fn is_stale(session: &SessionStatus, now: Time) -> bool {
    !matches!(session.standing, Standing::Parked { .. }) && session.last_event.after(STALE) <= now
}

fn fork_line(fork: &ForkStatus, now: Time) -> String {
    // That it is not quiet for long enough yet is what being due later means.
    let speaks = |known: &&Reason| fork.due.is_none() || !matches!(known, Reason::NotYetQuiet { .. });
    let reasons: Vec<String> = telling(&fork.reasons).filter(speaks).map(|known| reason(known, now)).collect();
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
    let style = match &run.state {
        RunState::Waiting => YELLOW,
        RunState::Void => DIM,
        RunState::Live { .. } => CYAN,
        RunState::Ended { .. } => Style::new(),
    };
    format!("{style}{}{style:#}", run_state(&run.state, now))
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
    use crate::host::protocol::{DaemonStatus, GaugeStatus, HeldStatus, NextDue, TaskStatus};
    use crate::ir::{LaunchDir, ProjectRoot};

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
                trouble: None,
            },
            sessions: vec![SessionStatus {
                session: SessionId::from("1f99c879-759c-46bb-ac06-dfcdea740219"),
                launch: LaunchDir::new("/home/dev/proj\u{1b}[31mect"),
                root: ProjectRoot::new("/home/dev/project"),
                began: at(-60),
                last_event: at(-4),
                standing: Standing::Parked { since: at(-4) },
                fork_type: ForkType::Unquestioned,
                next: Some(NextDue { fork: "review".into(), at: at(11) }),
                forks: vec![
                    ForkStatus { fork: "journal".into(), due: None, reasons: vec![Reason::Latched], last: None },
                    ForkStatus {
                        fork: "review".into(),
                        due: Some(at(11)),
                        reasons: vec![Reason::NotYetQuiet { until: at(11) }],
                        last: None,
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
                gauge: Some(GaugeStatus { tokens: 61_234, window: 200_000 }),
                background: vec![TaskStatus { task: "b1".into(), since: at(-3) }],
                clock: Clock::Held(Some(at(27))),
                held: vec![HeldStatus {
                    fork: "distill".into(),
                    after: vec!["journal".into(), "review".into()],
                    since: at(-2),
                }],
                mode: None,
            }],
        };
        let shown = anstream::adapter::strip_str(&status(&status_of)).to_string();
        insta::assert_snapshot!(without_times_of_day(&shown), @r"
        autofork 0.1.0 · daemon 4242 · up 2h 5m
        note: The journal was damaged.

        ● 1f99c879  /home/dev/proj\u{1b}[31mect  quiet for 4m
          gauge  61 234 of 200 000 tokens (30%)
          held   by background work b1 (for 3m), until HH:MM at most
          held   distill waits for journal, review (for 2m)
          next   review in 11m (HH:MM)
          forks  review   due in 11m
                 journal  has fired in this pause
          wakes  HH:MM  journal (quiet for 2m)  done after 1m, 12 400 tokens
                        “Wrote three lines.”
        ");
    }

    #[test]
    fn where_no_daemon_is_running_it_says_why_as_far_as_that_shows() {
        let shown = |silence: Silence| anstream::adapter::strip_str(&no_daemon(&silence)).to_string();
        insta::assert_snapshot!(shown(Silence::default()), @"No daemon is running. The next hook of a session starts one.");
        insta::assert_snapshot!(shown(Silence { newer_format: Some(9), ..Silence::default() }), @r"
        No daemon is running. The next hook of a session starts one.
        It will not stay: the journal was written by a newer autofork (format 9), and is left alone. Update autofork.
        ");
        let obstacle = Some("/home/me/.autofork cannot be written to".to_owned());
        insta::assert_snapshot!(shown(Silence { obstacle, ..Silence::default() }), @r"
        No daemon is running. The next hook of a session starts one.
        It cannot start: /home/me/.autofork cannot be written to.
        ");
        let last_words = Some("cannot use the socket: no \u{1b}[31mroom".to_owned());
        insta::assert_snapshot!(shown(Silence { last_words, ..Silence::default() }), @r"
        No daemon is running. The next hook of a session starts one.
        The last one ended with an error: cannot use the socket: no \u{1b}[31mroom
        ");
    }

    #[test]
    fn a_session_not_heard_of_for_long_is_marked_unless_its_hook_is_parked() {
        let session = |standing, last_event| SessionStatus {
            session: SessionId::from("s"),
            launch: LaunchDir::new("/project"),
            root: ProjectRoot::new("/project"),
            began: at(-600),
            last_event,
            standing,
            next: None,
            forks: Vec::new(),
            wakes: Vec::new(),
            fork_type: ForkType::Unquestioned,
            gauge: None,
            background: Vec::new(),
            clock: Clock::Runs,
            held: Vec::new(),
            mode: None,
        };
        let shown = |standing, last_event| {
            let mut text = String::new();
            session_block(&mut text, &session(standing, last_event), at(0));
            text.contains("[stale?]")
        };
        assert!(shown(Standing::MidTurn { since: at(-121) }, at(-121)));
        assert!(shown(Standing::Unparked { since: at(-500) }, at(-500)));
        assert!(!shown(Standing::MidTurn { since: at(-121) }, at(-5)));
        assert!(!shown(Standing::Parked { since: at(-500) }, at(-500)), "its client lives, or the hook would not");
    }
}
