//! What the engine asks for.

use serde::{Deserialize, Serialize};

use super::fork_type::ForkType;
use super::id::{ClientProcess, PollId, SessionId, TicketId, WakeId};
use super::record::Record;

/// A request to the engine's surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answer a parked hook with a wake. Again with the same wake if the first time did not get through.
    Wake {
        /// The session to wake.
        session: SessionId,
        /// The hook to answer.
        poll: PollId,
        /// The wake.
        wake: WakeId,
    },
    /// Let a parked hook go without a wake.
    Release {
        /// The hook.
        poll: PollId,
    },
    /// Let the spawn go ahead, with the instructions that the ticket stands for.
    Allow {
        /// The ticket redeemed.
        ticket: TicketId,
        /// What the client has shown of the type that the spawn names.
        fork_type: ForkType,
    },
    /// Refuse the spawn.
    Deny(Denial),
    /// Keep this of a ticket, in place of what was kept of it before.
    Record(Box<Record>),
    /// Find out whether the client of a session is alive, and say so with an event.
    Probe {
        /// The session.
        session: SessionId,
        /// Its client's process, if it was told.
        client: Option<ClientProcess>,
    },
}

/// Why a spawn is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denial {
    /// The ticket was redeemed before, or a newer one for the same fork has taken its place.
    Spent,
    /// Its spawns have failed, and no further one is tried.
    Failed,
    /// The ticket was issued to another session.
    Foreign,
    /// The ticket was presented by a subagent: forks do not start forks.
    Nested,
    /// No such ticket was ever issued, or it is long forgotten.
    Unknown,
    /// That it was redeemed cannot be written down: after a restart it would be redeemed once more.
    Unrecorded,
}
