//! Spawns: redeeming tickets, linking calls to subagents, and the ends of runs.

use super::effect::{Denial, Effect};
use super::event::{Caller, Outcome, SpawnFailure};
use super::fork_type::ForkType;
use super::id::{SessionId, TaskId, TicketId, ToolUseId};
use super::ticket::{Ticket, TicketState};
use super::{State, Work};

impl State {
    pub(super) fn spawn_requested(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        tool_use: &ToolUseId,
        ticket: Option<TicketId>,
        caller: Caller,
    ) {
        work.effects.push(match self.redeem(work, id, tool_use, ticket, caller) {
            Ok((ticket, fork_type)) => Effect::Allow { ticket, fork_type },
            Err(denial) => Effect::Deny(denial),
        });
    }

    fn redeem(
        &mut self,
        work: &Work<'_>,
        id: &SessionId,
        tool_use: &ToolUseId,
        ticket: Option<TicketId>,
        caller: Caller,
    ) -> Result<(TicketId, ForkType), Denial> {
        if caller == Caller::Subagent {
            return Err(Denial::Nested);
        }
        let wanted = ticket.ok_or(Denial::Unknown)?;
        let holder = self
            .sessions
            .values_mut()
            .find(|session| session.tickets.iter().any(|ticket| ticket.id == wanted))
            .ok_or(Denial::Spent)?;
        if holder.id != *id {
            return Err(Denial::Foreign);
        }
        holder.wake_heard_by_ticket(wanted);
        let fork_type = holder.fork_type;
        if !holder.newest_tickets().contains(&wanted) {
            return Err(Denial::Spent);
        }
        let ticket = holder.tickets.iter_mut().find(|ticket| ticket.id == wanted).ok_or(Denial::Spent)?;
        match &ticket.state {
            TicketState::Open => {}
            // The client asks again about the very same call.
            TicketState::Redeemed(run) if run.tool_use.as_ref() == Some(tool_use) => {
                return Ok((ticket.id, fork_type));
            }
            // A subagent was taken for this ticket's run on little evidence; the ticket itself is better.
            TicketState::Redeemed(run) if run.tool_use.is_none() && run.end.is_none() => {}
            TicketState::Void if ticket.has_failed() => return Err(Denial::Failed),
            TicketState::Redeemed(_) | TicketState::Void => return Err(Denial::Spent),
        }
        ticket.redeem(work.now, Some(tool_use.clone()), None);
        Ok((ticket.id, fork_type))
    }

    /// Links a call to its subagent. Where the call's ticket was not redeemed, since nobody was asked before the
    /// spawn, the subagent is the run all the same: it reads the fork's file.
    pub(super) fn spawn_started(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        tool_use: &ToolUseId,
        agent: &TaskId,
        presented: Option<TicketId>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let redeemed = session.ticket_of_call(tool_use).map(|ticket| ticket.id);
        let rightful = redeemed.or(presented);
        let newest = session.newest_tickets();
        for ticket in &mut session.tickets {
            let taken_for_it =
                ticket.run().is_some_and(|run| run.tool_use.is_none() && run.agent.as_ref() == Some(agent));
            if taken_for_it && rightful != Some(ticket.id) {
                ticket.state = if newest.contains(&ticket.id) { TicketState::Open } else { TicketState::Void };
            }
        }
        let Some(ticket) = session.tickets.iter_mut().find(|ticket| Some(ticket.id) == rightful) else { return };
        if ticket.can_take_agent() {
            ticket.take_agent(work.now, agent);
        }
        if let Some(run) = ticket.run_mut()
            && run.agent.as_ref() == Some(agent)
        {
            run.tool_use.get_or_insert_with(|| tool_use.clone());
            run.last_sign = work.now;
        }
        let ticket = ticket.id;
        session.wake_heard_by_ticket(ticket);
    }

    /// Frees the ticket of the call for one more try. Where the client does not know forks, a spawn that failed for
    /// good means that nothing can be spawned: then nothing is to be waited for either.
    pub(super) fn spawn_failed(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        tool_use: &ToolUseId,
        failure: SpawnFailure,
    ) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let newest = session.newest_tickets();
        if let Some(ticket) = session.ticket_of_call(tool_use)
            && ticket.run().is_some_and(|run| run.agent.is_none() && run.end.is_none())
        {
            ticket.spawn_failed();
            let has_failed = ticket.has_failed();
            if !newest.contains(&ticket.id) {
                ticket.state = TicketState::Void;
            }
            if failure == SpawnFailure::ForkTypeMissing {
                session.fork_type.doubt();
                if has_failed {
                    session.fork_type = ForkType::Missing;
                    self.drop_held(work, id);
                }
            }
        }
    }

    /// A fork started and its call is not told. If a ticket was redeemed for a call that is not linked yet, that call
    /// will be told; if none was, and tickets are open, then nobody was asked before the spawn: the oldest is taken.
    pub(super) fn fork_started(&mut self, work: &mut Work<'_>, id: &SessionId, agent: &TaskId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.fork_type.seen();
        let known = session.run_of_agent(agent).is_some();
        let link_to_come = session.runs().any(|run| run.agent.is_none() && run.end.is_none());
        if known || link_to_come {
            return;
        }
        let oldest = session.open_tickets().next();
        if let Some(ticket) = oldest {
            ticket.take_agent(work.now, agent);
            let ticket = ticket.id;
            session.wake_heard_by_ticket(ticket);
        }
    }

    pub(super) fn subagent_stopped(
        &mut self,
        work: &mut Work<'_>,
        id: &SessionId,
        agent: &TaskId,
        report: Option<String>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some(run) = session.run_of_agent(agent) {
            run.finish(work.now, Outcome::Completed, report, None);
        }
    }
}

impl Ticket {
    /// Whether a subagent can still turn out to be this ticket's run.
    pub(super) fn can_take_agent(&self) -> bool {
        match &self.state {
            TicketState::Open => true,
            TicketState::Redeemed(run) => run.agent.is_none() && run.end.is_none(),
            TicketState::Void => false,
        }
    }

    /// The subagent is this ticket's run.
    pub(super) fn take_agent(&mut self, now: crate::ir::Time, agent: &TaskId) {
        if let Some(run) = self.run_mut() {
            run.agent = Some(agent.clone());
            run.last_sign = now;
        } else {
            self.redeem(now, None, Some(agent.clone()));
        }
    }
}
