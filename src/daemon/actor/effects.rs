//! What the engine asks the actor for.

use std::collections::VecDeque;

use crate::daemon::core::{Consequences, Kept};
use crate::engine::{Denial, Effect, Event};
use crate::host::process;
use crate::host::protocol::{Instructions, Reply};

use super::Actor;

impl Actor {
    /// Does what the engine asks for, and tells it what came of that. Returns the answer to whoever asked.
    pub(super) fn carry_out(
        &mut self,
        consequences: Option<Consequences>,
        mut answer: Option<Reply>,
    ) -> Option<Reply> {
        let mut left: VecDeque<Consequences> = consequences.into_iter().collect();
        while let Some(Consequences { effects, kept }) = left.pop_front() {
            for effect in effects {
                let news = match effect {
                    Effect::Wake { session, poll, wake } => {
                        let order = self.core.order(&session, wake);
                        tracing::info!(%session, %wake, forks = order.forks.len(), "wake");
                        let parked = self.polls.remove(&poll).filter(|_| self.claim.stands());
                        let sent = match (parked, kept) {
                            (Some(parked), Kept::Safely) if order.forks.is_empty() => {
                                parked.reply.send(Reply::Released).is_ok()
                            }
                            (Some(parked), Kept::Safely) => parked.reply.send(Reply::Wake(order)).is_ok(),
                            // Dropping the connection makes the hook park anew; then it is offered again.
                            _ => false,
                        };
                        (!sent).then_some(Event::WakeWithheld(session))
                    }
                    Effect::Release { poll } => {
                        if let Some(parked) = self.polls.remove(&poll) {
                            let _ = parked.reply.send(Reply::Released);
                        }
                        None
                    }
                    // Forgotten with this daemon, and so allowed once more by the next.
                    Effect::Allow { .. } if kept == Kept::No => {
                        answer = Some(Reply::Deny(Denial::Unrecorded));
                        None
                    }
                    Effect::Allow { ticket, fork_type } => {
                        answer = self
                            .core
                            .instructions_of(ticket)
                            .map(|instructions| Reply::Allow(Box::new(Instructions { fork_type, ..instructions })))
                            .or_else(|| Some(Reply::Failed("the ticket's instructions are lost".to_owned())));
                        None
                    }
                    Effect::Deny(denial) => {
                        answer = Some(Reply::Deny(denial));
                        None
                    }
                    // Taken out and kept with the entry.
                    Effect::Record(_) => None,
                    // Without a process to look at, the session's time limit must do.
                    Effect::Probe { session, client } => Some(if client.is_none_or(process::is_alive) {
                        Event::ClientAlive(session)
                    } else {
                        Event::ClientGone(session)
                    }),
                };
                if let Some(event) = news {
                    left.push_back(self.core.happened(self.clock.now(), event));
                }
            }
        }
        answer
    }
}
