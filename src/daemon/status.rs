//! How things stand, read off the state.

use crate::engine::{Delivery, Outlook, Session, State, Ticket, TicketState, Turn};
use crate::host::protocol::{
    Clock, DaemonStatus, ForkStatus, GaugeStatus, HeldStatus, LastFiring, NextDue, RunState, RunStatus,
    SessionStatus, Standing, Status, TaskStatus, WakeStatus,
};
use crate::ir::{Fork, ForkName, Program, Time};

use super::core::Core;

/// How many of a session's latest wakes are told.
const WAKES: usize = 5;

/// How things stand; with `only`, as far as that fork is concerned.
pub(super) fn of(core: &Core, daemon: DaemonStatus, only: Option<&ForkName>) -> Status {
    let now = daemon.now;
    let mut sessions: Vec<SessionStatus> = core
        .state()
        .sessions()
        .map(|session| {
            let program = core.programs().get(&session.launch).cloned().unwrap_or_default();
            session_status(core.state(), session, &program, now, only)
        })
        .collect();
    sessions.sort_by_key(|session| session.began);
    Status { daemon, sessions }
}

fn session_status(
    state: &State,
    session: &Session,
    program: &Program,
    now: Time,
    only: Option<&ForkName>,
) -> SessionStatus {
    let standing = standing(session);
    let wanted = |fork: &&std::sync::Arc<Fork>| only.is_none_or(|only| fork.name == *only);
    let forks: Vec<ForkStatus> =
        program.forks().filter(wanted).map(|fork| fork_status(state, session, fork, program, now)).collect();
    let next = match standing {
        Standing::Parked { .. } => forks
            .iter()
            .filter_map(|fork| fork.due.map(|at| NextDue { fork: fork.fork.clone(), at }))
            .min_by_key(|next| next.at),
        Standing::Fresh | Standing::MidTurn { .. } | Standing::Unparked { .. } => None,
    };
    let latest = session.wakes.len().saturating_sub(WAKES);
    let wakes = session
        .wakes
        .iter()
        .skip(latest)
        .filter(|wake| wake.delivery != Delivery::Withdrawn)
        .map(|wake| WakeStatus {
            wake: wake.id,
            at: wake.at,
            runs: session.tickets_of(wake.id).map(run_status).collect(),
        })
        .collect();
    SessionStatus {
        session: session.id.clone(),
        launch: session.launch.clone(),
        root: session.root.clone(),
        began: session.began,
        last_event: session.last_event,
        standing,
        fork_type: session.fork_type,
        next,
        forks,
        wakes,
        gauge: session.gauge.map(|gauge| GaugeStatus { tokens: gauge.tokens, window: state.window_of(session) }),
        background: session
            .background
            .iter()
            .map(|(task, since)| TaskStatus { task: task.clone(), since: *since })
            .collect(),
        clock: state.held_by_background(session, program).map_or(Clock::Runs, Clock::Held),
        held: session
            .held
            .iter()
            .map(|held| HeldStatus {
                fork: held.fork.clone(),
                after: held.after.iter().cloned().collect(),
                since: held.issued,
            })
            .collect(),
        mode: session.mode,
    }
}

fn fork_status(state: &State, session: &Session, fork: &Fork, program: &Program, now: Time) -> ForkStatus {
    let Outlook { due, reasons, .. } = state.outlook(session, fork, program, now);
    // What was taken back has not fired.
    let withdrawn = |ticket: &Ticket| {
        session.wakes.iter().any(|wake| wake.id == ticket.wake && wake.delivery == Delivery::Withdrawn)
    };
    let last = session.tickets.iter().rfind(|ticket| ticket.fork == fork.name && !withdrawn(ticket));
    let last = last.map(|ticket| {
        let RunStatus { trigger, state, .. } = run_status(ticket);
        LastFiring { at: ticket.issued, trigger, state }
    });
    // What has been due for ever is due now.
    ForkStatus { fork: fork.name.clone(), due: due.map(|due| due.max(now)), reasons, last }
}

fn standing(session: &Session) -> Standing {
    match session.turn {
        Turn::None => Standing::Fresh,
        Turn::Running { since } => Standing::MidTurn { since },
        Turn::Ended { at } => {
            let since = session.pause.as_ref().map_or(at, |pause| pause.began);
            if session.is_parked() { Standing::Parked { since } } else { Standing::Unparked { since } }
        }
    }
}

fn run_status(ticket: &Ticket) -> RunStatus {
    let state = match &ticket.state {
        TicketState::Open => RunState::Waiting,
        TicketState::Void => RunState::Void,
        TicketState::Redeemed(run) => match &run.end {
            None => RunState::Live { since: run.started },
            Some(end) => RunState::Ended {
                started: run.started,
                at: end.at,
                outcome: end.outcome,
                report: end.report.clone(),
                usage: end.usage,
            },
        },
    };
    RunStatus { fork: ticket.fork.clone(), trigger: ticket.trigger, state }
}
