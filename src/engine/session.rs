//! One session: where it stands, its pause, its wakes and tickets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::event::{Mark, Origin, PermissionMode, TagOverride};
use super::fork_type::ForkType;
use super::gauge::Gauge;
use super::id::{ClientProcess, Conversation, PollId, PromptId, SessionId, TaskId, TicketId, ToolUseId, WakeId};
use super::stamps::Before;
use super::ticket::{Run, Ticket, TicketState, Trigger};
use crate::ir::{ForkName, LaunchDir, Moment, ProjectRoot, Seconds, Time};

/// How many of a session's latest turns are remembered, to tell a late Stop from a new one.
const TURNS_REMEMBERED: usize = 32;

/// How many of a session's latest wakes are kept, with their tickets.
const WAKES_KEPT: usize = 64;

/// How many times a wake is sent at the most. Whoever does not confirm it that often never will, and a session that is
/// woken again and again is worse off than one that is not woken.
const MOST_OFFERS: u8 = 3;

/// How long a client whose turn has ended can take to begin the next one with a wake that has got through. One that
/// waits for its user begins at once; what it has not begun by then it never will.
pub(super) const WAKE_UNHEARD: Seconds = match Seconds::new(30) {
    Some(length) => length,
    None => Seconds::ZERO,
};

/// After a parked hook went away without a further event, how long before asking whether the client still lives.
pub(super) const ORPHAN_GRACE: Seconds = match Seconds::new(90) {
    Some(length) => length,
    None => Seconds::ZERO,
};

/// One session of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its conversation.
    pub conversation: Conversation,
    /// Where it was launched.
    pub launch: LaunchDir,
    /// The project it works on.
    pub root: ProjectRoot,
    /// The client's process, where the host tells it.
    pub client: Option<ClientProcess>,
    /// Tag sets from its environment.
    pub tags: TagOverride,
    /// When it was first heard of.
    pub began: Time,
    /// When it was last heard of.
    pub last_event: Time,
    /// The last permission mode seen.
    pub mode: Option<PermissionMode>,
    /// Where its turns stand.
    pub turn: Turn,
    /// The hook through which it can be woken.
    pub poll: Option<Poll>,
    /// The pause it is in.
    pub pause: Option<Pause>,
    /// Its latest wakes, oldest first.
    pub wakes: VecDeque<Wake>,
    /// The tickets of these wakes, oldest first.
    pub tickets: Vec<Ticket>,
    /// The forks that came due together with others and wait for them.
    #[serde(default)]
    pub held: Vec<Held>,
    /// How much of the context is used, as last read.
    #[serde(default)]
    pub gauge: Option<Gauge>,
    /// The thresholds that have fired since the session began or was resumed.
    #[serde(default)]
    pub spent: BTreeMap<ForkName, Vec<Moment>>,
    /// Unfinished background work that is not ours, as last listed, each with when it was first seen at a Stop.
    #[serde(default)]
    pub background: BTreeMap<TaskId, Time>,
    /// Whether its client can spawn forks, as far as it has shown.
    #[serde(default)]
    pub fork_type: ForkType,
    /// When to ask whether the client still lives.
    pub(super) orphan_check: Option<Time>,
    /// The latest turns, oldest first.
    turns: VecDeque<PromptId>,
    /// The last Stop that was taken in.
    #[serde(default)]
    pub(super) last_stop: Option<Mark>,
    /// When the hook that told of the newest turn was started.
    newest_turn_at: Option<Time>,
    /// When this session next needs a tick. Every change of the session renews it. Kept with the rest, since what a
    /// tick does depends on it: a state that was read back must take a tick as the state that was written would have.
    #[serde(default)]
    pub(super) deadline: Option<Time>,
}

/// Where a session's turns stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// There was none yet in this client process.
    None,
    /// One is under way, or was interrupted: no event tells these apart.
    Running {
        /// Since when.
        since: Time,
    },
    /// The last one has ended.
    Ended {
        /// When.
        at: Time,
    },
}

/// A hook that is parked at the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// Its connection.
    pub id: PollId,
    /// The Stop it belongs to.
    pub mark: Mark,
}

/// The quiet stretch after a turn of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began: the first Stop after the user's turn.
    pub began: Time,
    /// When its clock began to run: the first Stop without background work that holds it. `None` as long as it is held.
    pub clock: Option<Time>,
    /// The forks whose idle moments have fired in it.
    pub fired: BTreeSet<ForkName>,
    /// The background work that is not ours and was first listed after a fork had fired in it.
    #[serde(default)]
    pub(super) left_behind: BTreeSet<TaskId>,
    /// When the first fork came due that has not been woken yet: the wake waits from here for others to join.
    pub window: Option<Time>,
    /// Up to when it is known which forks were due.
    pub(super) evaluated: Time,
}

/// A wake: several forks that came due together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    /// Its number.
    pub id: WakeId,
    /// When it was issued.
    pub at: Time,
    /// How many times it was sent.
    pub offers: u8,
    /// Whether the turn it asked for has begun. After it has got through, the client may first tell the session of
    /// something else.
    #[serde(default)]
    pub heard: bool,
    /// Whether that turn has ended: what was not spawned by then is not waited for.
    #[serde(default)]
    pub answered: bool,
    /// Whether it got through.
    pub delivery: Delivery,
}

/// A fork that is held back: it came due together with others, and waits for some of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The fork.
    pub fork: ForkName,
    /// The wake of the batch it belongs to.
    pub batch: WakeId,
    /// The forks of the batch that it waits for.
    pub after: BTreeSet<ForkName>,
    /// What made it due.
    pub trigger: Trigger,
    /// When it was stamped as issued.
    pub issued: Time,
    /// What the stamps and latches were before, to be restored if it never starts.
    pub(super) before: Before,
}

/// Whether a wake got through to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It was sent, and there is no sign yet that it arrived.
    Sent,
    /// It arrived.
    Arrived,
    /// It came to nothing before it arrived, and was taken back.
    Withdrawn,
}

impl Pause {
    pub(super) fn beginning(now: Time) -> Self {
        Self {
            began: now,
            clock: None,
            fired: BTreeSet::new(),
            left_behind: BTreeSet::new(),
            window: None,
            evaluated: now,
        }
    }

    /// Whether the end of background work that is not ours ends it. What came up once a fork had fired may be what that
    /// fork has left running; then it would fire again and again.
    pub(super) fn is_ended_by(&self, task: Option<&TaskId>) -> bool {
        task.is_none_or(|task| !self.left_behind.contains(task))
    }
}

/// How a Stop relates to the turns that were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopOrder {
    /// It ends the newest turn.
    Newest,
    /// It ends a turn whose beginning was not seen.
    Unseen,
    /// A newer turn has begun since.
    Late,
}

impl Session {
    pub(super) fn new(origin: &Origin, root: ProjectRoot, now: Time) -> Self {
        Self {
            id: origin.session.clone(),
            conversation: origin.conversation.clone(),
            launch: origin.launch.clone(),
            root,
            client: origin.client,
            tags: origin.tags.clone(),
            began: now,
            last_event: now,
            mode: None,
            turn: Turn::None,
            poll: None,
            pause: None,
            wakes: VecDeque::new(),
            tickets: Vec::new(),
            held: Vec::new(),
            gauge: None,
            spent: BTreeMap::new(),
            background: BTreeMap::new(),
            fork_type: ForkType::default(),
            orphan_check: None,
            turns: VecDeque::new(),
            last_stop: None,
            newest_turn_at: None,
            deadline: None,
        }
    }

    /// Whether it can be woken now: its last turn has ended and a hook is parked.
    pub fn is_parked(&self) -> bool {
        self.poll.is_some() && matches!(self.turn, Turn::Ended { .. })
    }

    pub(super) fn remember_turn(&mut self, mark: &Mark) {
        if let Some(prompt) = &mark.prompt
            && self.turns.back() != Some(prompt)
        {
            self.turns.push_back(prompt.clone());
            while self.turns.len() > TURNS_REMEMBERED {
                self.turns.pop_front();
            }
        }
        self.newest_turn_at = self.newest_turn_at.max(Some(mark.at));
    }

    /// The client's id of the newest turn, where it gives one.
    pub(super) fn newest_turn(&self) -> Option<&PromptId> {
        self.turns.back()
    }

    /// By the client's own ids where it gives them, else by when the hooks were started.
    pub(super) fn order_of_stop(&self, mark: &Mark) -> StopOrder {
        if let Some(prompt) = &mark.prompt {
            match self.turns.iter().rposition(|turn| turn == prompt) {
                Some(place) if place + 1 == self.turns.len() => StopOrder::Newest,
                Some(_) => StopOrder::Late,
                None => StopOrder::Unseen,
            }
        } else {
            match self.newest_turn_at {
                Some(newest) if mark.at < newest => StopOrder::Late,
                Some(_) => StopOrder::Newest,
                None => StopOrder::Unseen,
            }
        }
    }

    /// The last wake, if it is to be sent again: there is no sign yet that it arrived.
    pub(super) fn wake_to_offer(&mut self) -> Option<&mut Wake> {
        self.unconfirmed_wake().filter(|wake| wake.offers < MOST_OFFERS)
    }

    /// The last wake, if there is no sign yet that it arrived.
    pub(super) fn unconfirmed_wake(&mut self) -> Option<&mut Wake> {
        self.wakes.back_mut().filter(|wake| wake.delivery == Delivery::Sent)
    }

    /// The last offer of a wake was none: nobody can have heard it, so it does not count.
    pub(super) fn wake_withheld(&mut self) {
        if let Some(wake) = self.unconfirmed_wake() {
            wake.offers = wake.offers.saturating_sub(1);
        }
    }

    pub(super) fn wake_arrived(&mut self) {
        if let Some(wake) = self.unconfirmed_wake() {
            wake.delivery = Delivery::Arrived;
        }
    }

    /// A wake has come to the session's ears: the oldest of those that no turn has heard yet.
    pub(super) fn wake_heard(&mut self) {
        self.wake_arrived();
        let unheard = |wake: &&mut Wake| wake.delivery == Delivery::Arrived && !wake.heard && !wake.answered;
        if let Some(wake) = self.wakes.iter_mut().find(unheard) {
            wake.heard = true;
        }
    }

    /// The turn that ends was begun by a wake. Most likely that is known already.
    pub(super) fn wake_turn_ends(&mut self) {
        if self.wakes.iter().any(|wake| wake.heard && !wake.answered) {
            self.wake_arrived();
        } else {
            self.wake_heard();
        }
    }

    /// A ticket is presented: its wake has been heard, and so has every earlier one.
    pub(super) fn wake_heard_by_ticket(&mut self, ticket: TicketId) {
        self.wake_arrived();
        let presented = self.tickets.iter().find(|known| known.id == ticket).map(|ticket| ticket.wake);
        for wake in self.wakes.iter_mut().filter(|wake| Some(wake.id) <= presented) {
            wake.heard = true;
        }
    }

    /// A turn has ended: what the wakes that were heard asked for was done in it or will not be. One that never got
    /// through is given up.
    pub(super) fn answer_wakes(&mut self) {
        for wake in &mut self.wakes {
            wake.answered |= wake.heard || wake.delivery == Delivery::Withdrawn || wake.offers >= MOST_OFFERS;
        }
    }

    pub(super) fn add_wake(&mut self, wake: Wake) {
        self.wakes.push_back(wake);
        while self.wakes.len() > WAKES_KEPT {
            self.wakes.pop_front();
            if let Some(oldest) = self.wakes.front().map(|wake| wake.id) {
                // A live run is kept whatever its age: its end must still be known for ours.
                self.tickets
                    .retain(|ticket| ticket.wake >= oldest || ticket.run().is_some_and(|run| run.end.is_none()));
            }
        }
    }

    /// Whether a threshold of a fork has fired since the session began or was resumed.
    pub fn has_spent(&self, fork: &ForkName, threshold: Moment) -> bool {
        self.spent.get(fork).is_some_and(|spent| spent.contains(&threshold))
    }

    /// The tickets of one wake.
    pub fn tickets_of(&self, wake: WakeId) -> impl Iterator<Item = &Ticket> {
        self.tickets.iter().filter(move |ticket| ticket.wake == wake)
    }

    pub(super) fn run_of_agent(&mut self, agent: &TaskId) -> Option<&mut Run> {
        self.runs().find(|run| run.agent.as_ref() == Some(agent))
    }

    pub(super) fn ticket_of_call(&mut self, tool_use: &ToolUseId) -> Option<&mut Ticket> {
        self.tickets.iter_mut().find(|ticket| ticket.run().is_some_and(|run| run.tool_use.as_ref() == Some(tool_use)))
    }

    pub(super) fn runs(&mut self) -> impl Iterator<Item = &mut Run> {
        self.tickets.iter_mut().filter_map(Ticket::run_mut)
    }

    /// The newest ticket of each fork: only these may be open.
    pub(super) fn newest_tickets(&self) -> BTreeSet<TicketId> {
        let newest: BTreeMap<&ForkName, TicketId> =
            self.tickets.iter().map(|ticket| (&ticket.fork, ticket.id)).collect();
        newest.into_values().collect()
    }

    /// Open tickets of wakes that arrived, oldest first.
    pub(super) fn open_tickets(&mut self) -> impl Iterator<Item = &mut Ticket> {
        self.tickets.iter_mut().filter(|ticket| ticket.state == TicketState::Open)
    }

    /// The live run of a fork that stays live longest without a further sign.
    pub(super) fn live_run_of(&self, fork: &ForkName, now: Time) -> Option<&Run> {
        self.tickets
            .iter()
            .filter(|ticket| ticket.fork == *fork)
            .filter_map(|ticket| ticket.live_run(now))
            .max_by_key(|run| run.ages_out())
    }
}
