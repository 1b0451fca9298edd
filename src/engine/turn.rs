//! Turns and pauses: what begins them, what ends them, and when a hook may park.

use std::collections::BTreeSet;

use super::effect::Effect;
use super::event::{
    BackgroundTask, Evidence, Mark, Outcome, PermissionMode, Prompt, Start, StartSource, TaskKind, TaskNotice,
    TurnKind,
};
use super::fork_type::ForkType;
use super::id::{PollId, SessionId, TaskId};
use super::session::{Pause, Poll, StopOrder, Turn};
use super::ticket::call_description;
use super::{State, Work};

impl State {
    pub(super) fn started(&mut self, work: &mut Work<'_>, id: &SessionId, start: Start) {
        match start.source {
            // The client has compacted the conversation on its way: nothing began and nothing ended.
            StartSource::Compact => {}
            StartSource::Startup | StartSource::Resume | StartSource::Clear => {
                self.withdraw_unconfirmed_wake(work, id);
                self.drop_held(work, id);
                let Some(session) = self.sessions.get_mut(id) else { return };
                session.turn = Turn::None;
                session.pause = None;
                // A fresh leg: each threshold may fire again.
                session.spent.clear();
                session.background.clear();
                // Under a new process of the client, perhaps a newer one.
                session.fork_type = ForkType::default();
                self.set_gauge(work.now, id, start.tokens, start.window);
            }
        }
    }

    pub(super) fn prompted(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        mark: &Mark,
        prompt: Prompt,
        mode: Option<PermissionMode>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.remember_turn(mark);
        session.mode = mode.or(session.mode);
        session.turn = Turn::Running { since: work.now };
        // The turn ends with a Stop of its own, whose hook parks anew. After an interruption none comes, and then
        // nothing may wake the session: so this hook is of no use any more.
        if let Some(poll) = session.poll.take() {
            work.effects.push(Effect::Release { poll: poll.id });
        }
        let genuine = match prompt {
            Prompt::Human => true,
            // A hook's feedback that comes after a wake of ours is most likely that wake, whatever it looks like.
            Prompt::Wake | Prompt::OtherHook => {
                session.wake_heard();
                false
            }
            Prompt::Tasks(notices) => notices.into_iter().fold(false, |genuine, notice| {
                let ends_pause = session.pause.as_ref().is_none_or(|pause| pause.is_ended_by(notice.task.as_ref()));
                let ours = session.runs().find(|run| run.is_meant_by(&notice));
                // One that names nothing tells of nothing foreign: it may be ours, told in words that we do not know.
                let names_something = notice.task.is_some() || notice.tool_use.is_some();
                let is_foreign = ours.is_none() && names_something && notice.evidence == Evidence::Plain;
                if let Some(run) = ours {
                    let TaskNotice { outcome, report, usage, .. } = notice;
                    run.finish(work.now, outcome, report, usage);
                }
                genuine || (is_foreign && ends_pause)
            }),
        };
        if genuine {
            self.withdraw_unconfirmed_wake(work, id);
            self.drop_held(work, id);
            if let Some(session) = self.sessions.get_mut(id) {
                session.pause = None;
            }
        }
    }

    pub(super) fn stopped(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        mark: &Mark,
        kind: TurnKind,
        background: Option<Vec<BackgroundTask>>,
        mode: Option<PermissionMode>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let order = session.order_of_stop(mark);
        if order == StopOrder::Late {
            return;
        }
        // A hook that parks anew, since the daemon it was parked at went away, tells of its Stop anew. That is no news:
        // above all it is no sign that a wake has arrived which was issued since.
        if session.last_stop.as_ref() == Some(mark) && matches!(session.turn, Turn::Ended { .. }) {
            return;
        }
        session.last_stop = Some(mark.clone());
        session.remember_turn(mark);
        session.mode = mode.or(session.mode);
        session.turn = Turn::Ended { at: work.now };
        if kind == TurnKind::HookAsked {
            session.wake_turn_ends();
        }
        match &mut session.pause {
            None => session.pause = Some(Pause::beginning(work.now)),
            // Nobody told who began this turn. If it was the user, the clock begins anew now; if it was a report of a
            // fork, what has fired must not fire again. Both are kept: too late is better than twice.
            Some(pause) if order == StopOrder::Unseen && kind == TurnKind::Plain => {
                pause.began = work.now;
                pause.clock = None;
                pause.window = None;
            }
            Some(_) => {}
        }
        session.answer_wakes();
        match background {
            Some(background) => self.background_listed(work, id, &background),
            None => session.background.clear(),
        }
        self.start_clock(work, id);
    }

    /// The clock of a pause starts at the first Stop that no background work holds.
    fn start_clock(&mut self, work: &Work<'_>, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let program = work.program(&session.launch);
        let held = program.config().background_hold && !session.background.is_empty();
        if let Some(pause) = &mut session.pause
            && pause.clock.is_none()
            && !held
        {
            pause.clock = Some(work.now);
        }
    }

    /// The client has listed its unfinished background work: a run that is not in it is over.
    fn background_listed(&mut self, work: &mut Work<'_>, id: &SessionId, background: &[BackgroundTask]) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        for task in background.iter().filter(|task| task.kind == TaskKind::Fork) {
            if session.run_of_agent(&task.id).is_some() {
                continue;
            }
            // A run whose beginning or whose link was not told: the description of its call is its ticket's.
            let mut unlinked = session
                .tickets
                .iter_mut()
                .filter(|ticket| call_description(&ticket.fork) == task.description && ticket.can_take_agent());
            if let Some(ticket) = unlinked.next() {
                ticket.take_agent(work.now, &task.id);
                let ticket = ticket.id;
                session.wake_heard_by_ticket(ticket);
            }
        }
        let ours: BTreeSet<TaskId> = session.runs().filter_map(|run| run.agent.clone()).collect();
        let earlier = std::mem::take(&mut session.background);
        let foreign = background.iter().map(|task| &task.id).filter(|id| !ours.contains(*id));
        session.background = foreign.map(|id| (id.clone(), earlier.get(id).copied().unwrap_or(work.now))).collect();
        if let Some(pause) = session.pause.as_mut().filter(|pause| !pause.fired.is_empty()) {
            let new = session.background.keys().filter(|id| !earlier.contains_key(*id));
            pause.left_behind.extend(new.cloned());
        }
        for run in session.runs().filter(|run| run.end.is_none()) {
            let listed = background.iter().any(|task| run.agent.as_ref() == Some(&task.id));
            if listed {
                run.last_sign = work.now;
            } else {
                run.finish(work.now, Outcome::Lost, None, None);
            }
        }
    }

    pub(super) fn parked(&mut self, work: &mut Work<'_>, id: &SessionId, poll: PollId, mark: Mark) {
        let Some(session) = self.sessions.get_mut(id) else {
            work.effects.push(Effect::Release { poll });
            return;
        };
        let late = session.order_of_stop(&mark) == StopOrder::Late
            || !matches!(session.turn, Turn::Ended { .. })
            || session.poll.as_ref().is_some_and(|parked| parked.mark.at > mark.at);
        if late {
            work.effects.push(Effect::Release { poll });
            return;
        }
        session.orphan_check = None;
        if let Some(earlier) = session.poll.replace(Poll { id: poll, mark }) {
            work.effects.push(Effect::Release { poll: earlier.id });
        }
        self.settle(work, id);
    }
}
