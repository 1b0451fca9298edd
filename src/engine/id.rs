//! The names by which the engine knows sessions, polls, tickets and what the host runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ir::text_name;

text_name!(
    /// One run of a client, by the client's own id.
    SessionId
);
text_name!(
    /// A conversation: it outlives sessions that resume it. The stem of the transcript's file, or else the session's id.
    Conversation
);
text_name!(
    /// A turn of the session, by the client's own id for the prompt that began it.
    PromptId
);
text_name!(
    /// A background task of the client; for a subagent it is the agent's id.
    TaskId
);
text_name!(
    /// One call of a tool.
    ToolUseId
);

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The id with that number.
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// The number.
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// A parked hook, by the number the daemon gave its connection. Unique within one life of the daemon.
    PollId
);
number_id!(
    /// A wake, numbered in the order of issue over all sessions.
    WakeId
);
number_id!(
    /// A ticket, numbered in the order of issue over all sessions. The unguessable token that stands for it outside is
    /// the daemon's affair: nothing in here is secret.
    TicketId
);

/// The client's process: its id together with its start time, since ids are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientProcess {
    /// The process's id.
    pub pid: u32,
    /// Its start time in the unit of the operating system; on Linux clock ticks since boot.
    pub start: u64,
}
