//! The actor: the one task that owns the state. What connections ask, what time brings and what the compiler delivers
//! comes to it one at a time; it tells the engine, and does what the engine asks for.

mod alarms;
mod effects;
mod loads;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::engine::{ClientProcess, Event, Fact, Mark, Origin, PollId, SessionId, WindowSign};
use crate::host::dirs::Home;
use crate::host::process;
use crate::host::protocol::{DaemonStatus, LookedAfter, Reply, Request, Token, Verdict};
use crate::ir::{LaunchDir, ProjectRoot, Seconds, Time};

use super::bell::Bell;
use super::clock::{Clock, sleep_until};
use super::core::Core;
use super::loader::{Delivery, GaugeReading, Loaded, Loader};
use super::seat::Claim;
use super::second_look::SecondLooks;
use super::status;
use super::watch::Watch;

use self::loads::{Load, Waiter};

/// How long parked hooks are given to take their leave.
const FAREWELL: Duration = Duration::from_millis(500);

/// What connections tell the actor.
#[derive(Debug)]
pub(super) enum Message {
    /// A connection was opened.
    Opened,
    /// A connection is gone.
    Closed,
    /// A request.
    Asked(Box<Asked>),
    /// The connection under which a hook was parked is gone, or its reply could not be written.
    PollGone(PollId),
    /// Something has happened at the door that a person should know, in a whole sentence.
    Noted(String),
    /// The frame that retires a daemon.
    Retire,
}

/// A request, and where its reply goes.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    /// The id under which this connection parks, if it does.
    pub(super) poll: PollId,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// What the actor wakes up for.
#[derive(Debug)]
enum News {
    Message(Message),
    Delivery(Delivery),
    ClientEnded(ClientProcess),
    Alarm,
}

/// Whether the daemon lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    Stay,
    Leave,
}

#[derive(Debug)]
pub(super) struct Actor {
    core: Core,
    claim: Claim,
    clock: Clock,
    /// Rings for the engine's deadlines.
    bell: Bell,
    since: Time,
    loader: Loader,
    watch: Watch,
    connections: usize,
    /// Where the replies to parked hooks go.
    polls: BTreeMap<PollId, Parked>,
    /// What waits for a program, by session and in the order it came.
    waiting: BTreeMap<SessionId, VecDeque<Job>>,
    loads: BTreeMap<LaunchDir, Load>,
    second_looks: SecondLooks,
    /// Why the forks of a folder could not be read when that was tried last, in a whole sentence.
    unread: BTreeMap<LaunchDir, String>,
    /// Loads that the next tick waits for; no tick is under way if `None`.
    tick: Option<usize>,
    /// No tick before this instant.
    tick_not_before: Option<Instant>,
    quiet_period: Seconds,
    quiet_since: Option<Instant>,
}

#[derive(Debug)]
struct Parked {
    session: SessionId,
    reply: oneshot::Sender<Reply>,
}

/// A fact, taken in when its turn comes.
#[derive(Debug)]
struct Job {
    origin: Origin,
    fact: Fact<Token>,
    then: Then,
    reply: oneshot::Sender<Reply>,
}

/// What follows a fact.
#[derive(Debug)]
enum Then {
    Answer,
    Park(PollId, Mark),
}

impl Actor {
    pub(super) fn new(core: Core, loader: Loader, watch: Watch, home: &Home, claim: Claim) -> Self {
        let clock = Clock::starting_at_least(core.state().now());
        let since = clock.now();
        let mut actor = Self {
            core,
            claim,
            clock,
            bell: Bell::new(),
            since,
            loader,
            watch,
            connections: 0,
            polls: BTreeMap::new(),
            waiting: BTreeMap::new(),
            loads: BTreeMap::new(),
            second_looks: SecondLooks::default(),
            unread: BTreeMap::new(),
            tick: None,
            tick_not_before: None,
            quiet_period: crate::ir::Config::default().quiet_period,
            quiet_since: None,
        };
        if let Some(ahead) = actor.clock.ahead() {
            actor.core.note(format!(
                "The last time that is known of is {ahead} ahead of this machine's clock, which was wrong then or is \
                 now. Until the clock has caught up, throttles run only while a daemon does. To begin anew, run \
                 `autofork stop-daemon` and move journal.db out of the base folder."
            ));
        }
        actor.happened(Event::Restarted, None);
        // Clients that have ended while no daemon was there to see it.
        for session in actor.core.state().sessions() {
            actor.watch.add(session.client);
        }
        // The quiet period is the user's alone, so any folder's program tells it.
        actor.load(&LaunchDir::new(home.base()), Waiter::Nobody);
        actor
    }

    /// Lives until it is told to leave, or nobody has been there for the quiet period.
    pub(super) async fn run(
        &mut self,
        mut inbox: mpsc::Receiver<Message>,
        mut deliveries: mpsc::UnboundedReceiver<Delivery>,
        mut exits: mpsc::UnboundedReceiver<ClientProcess>,
    ) {
        loop {
            let alarm = self.alarm();
            self.bell.set(self.next_tick(), &self.clock);
            let news = tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => News::Message(message),
                    None => return,
                },
                Some(delivery) = deliveries.recv() => News::Delivery(delivery),
                Some(client) = exits.recv() => News::ClientEnded(client),
                () = sleep_until(alarm) => News::Alarm,
                () = self.bell.rings() => News::Alarm,
            };
            // Before anything is done about it: the journal and the sessions are another daemon's then.
            if self.has_lost_seat() {
                return;
            }
            let course = match news {
                News::Message(message) => self.hear(message, &mut inbox).await,
                News::Delivery(delivery) => self.delivered(delivery),
                News::ClientEnded(client) => self.client_ended(client),
                News::Alarm => self.ring(),
            };
            if course == Course::Leave || self.has_lost_seat() {
                return;
            }
        }
    }

    /// Whether another daemon is in our place, or may come at any time.
    fn has_lost_seat(&self) -> bool {
        if self.core.is_overtaken() {
            tracing::warn!("another daemon has taken over the journal: leaving");
            return true;
        }
        let lost = !self.claim.stands();
        if lost {
            tracing::warn!("the lock was removed or replaced: leaving to whoever holds it now");
        }
        lost
    }

    fn delivered(&mut self, delivery: Delivery) -> Course {
        match delivery {
            Delivery::Program(launch, Some(Loaded { program, root })) => {
                self.quiet_period = program.config().quiet_period;
                self.unread.remove(&launch);
                if self.is_wanted(&launch) {
                    let consequences = self.core.in_force(self.clock.now(), &launch, program);
                    self.carry_out(consequences, None);
                }
                self.loaded(&launch, Some(&root));
            }
            Delivery::Program(launch, None) => {
                self.cannot_read(&launch, "could not be read");
                let consequences = self.core.not_loaded(self.clock.now(), &launch);
                self.carry_out(consequences, None);
                self.loaded(&launch, None);
            }
            Delivery::Gauge(session, GaugeReading { tokens, window }) => {
                let known = self.core.state().session(&session).map(|known| known.gauge.map(|gauge| gauge.tokens));
                if known != Some(tokens) || window != WindowSign::None {
                    self.happened(Event::GaugeRead { session, tokens, window }, None);
                }
            }
        }
        Course::Stay
    }

    /// The forks of a folder cannot be read, for that reason: those that were in force stay, or there are none.
    fn cannot_read(&mut self, launch: &LaunchDir, why: &str) {
        let trouble = format!("The forks of {launch} {why}: no change to them counts until they can be read.");
        tracing::warn!("{trouble}");
        self.unread.insert(launch.clone(), trouble);
    }

    /// What a person should know, in whole sentences.
    fn notes(&self) -> Vec<String> {
        let unread =
            self.unread.iter().filter(|(launch, _)| self.is_wanted(launch)).map(|(_, trouble)| trouble.clone());
        self.core.notes().into_iter().chain(unread).collect()
    }

    /// A client's process has ended, and with it every session that it had.
    fn client_ended(&mut self, client: ClientProcess) -> Course {
        self.watch.remove(client);
        let its = self.core.state().sessions().filter(|session| session.client == Some(client));
        let its: Vec<SessionId> = its.map(|session| session.id.clone()).collect();
        for session in its {
            tracing::info!(%session, "its client has ended");
            self.happened(Event::ClientGone(session), None);
        }
        Course::Stay
    }

    /// Ends every session whose client has ended.
    fn prune(&mut self) -> Vec<LookedAfter> {
        let sessions = self.core.state().sessions();
        let looked_after: Vec<LookedAfter> = sessions
            .map(|session| LookedAfter {
                session: session.id.clone(),
                launch: session.launch.clone(),
                verdict: match session.client {
                    None => Verdict::Unknown,
                    Some(client) if process::is_alive(client) => Verdict::Alive,
                    Some(_) => Verdict::Ended,
                },
            })
            .collect();
        for LookedAfter { session, .. } in looked_after.iter().filter(|known| known.verdict == Verdict::Ended) {
            tracing::info!(%session, "its client is gone");
            self.happened(Event::ClientGone(session.clone()), None);
        }
        looked_after
    }

    /// Leaves everything so that the next daemon can go on.
    pub(super) fn finish(&mut self) {
        // The next one writes its own.
        if !self.core.is_overtaken() && self.claim.stands() {
            self.core.finish();
        }
        tracing::info!("left");
    }

    async fn hear(&mut self, message: Message, inbox: &mut mpsc::Receiver<Message>) -> Course {
        match message {
            Message::Opened => self.connections += 1,
            Message::Closed => self.connections = self.connections.saturating_sub(1),
            Message::PollGone(poll) => {
                if let Some(parked) = self.polls.remove(&poll) {
                    self.happened(Event::PollDropped { session: parked.session, poll }, None);
                }
            }
            Message::Noted(note) => self.core.note(note),
            Message::Retire => {
                tracing::info!("told to leave");
                return Course::Leave;
            }
            Message::Asked(asked) if asked.request == Request::Leave => {
                tracing::info!("told to leave, and to let the parked hooks go");
                let _ = asked.reply.send(Reply::Done);
                for parked in std::mem::take(&mut self.polls).into_values() {
                    let _ = parked.reply.send(Reply::Released);
                }
                let everybody_gone = async {
                    while self.connections > 0 {
                        match inbox.recv().await {
                            Some(Message::Closed) => self.connections = self.connections.saturating_sub(1),
                            Some(_) => {}
                            None => break,
                        }
                    }
                };
                let _ = tokio::time::timeout(FAREWELL, everybody_gone).await;
                return Course::Leave;
            }
            Message::Asked(asked) => self.asked(*asked),
        }
        Course::Stay
    }

    fn asked(&mut self, asked: Asked) {
        let Asked { request, poll, reply } = asked;
        match request {
            Request::Fact { origin, fact } => self.queue(Job { origin, fact, then: Then::Answer, reply }),
            Request::Park { origin, mark, stopped } => {
                if matches!(stopped, Fact::Stopped { .. }) {
                    self.queue(Job { origin, fact: stopped, then: Then::Park(poll, mark), reply });
                } else {
                    let _ = reply.send(Reply::Failed("only after a turn has ended can a hook park".to_owned()));
                }
            }
            Request::WakeArrived { session } => {
                self.happened(Event::WakeDelivered(session), None);
                let _ = reply.send(Reply::Done);
            }
            Request::Status | Request::Why(_) => {
                let only = if let Request::Why(fork) = &request { Some(fork) } else { None };
                let daemon = DaemonStatus {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    pid: std::process::id(),
                    since: self.since,
                    now: self.clock.now(),
                    notes: self.notes(),
                    trouble: self.core.trouble().map(str::to_owned),
                };
                let status = status::of(&self.core, daemon, only);
                let _ = reply.send(Reply::Status(Box::new(status)));
            }
            Request::Prune => {
                let sessions = self.prune();
                let _ = reply.send(Reply::Pruned(sessions));
            }
            Request::Ticket(token) => {
                let known = self.core.by_token(&token).map(|(_, instructions)| Box::new(instructions));
                let _ = reply.send(Reply::Ticket(known));
            }
            Request::Leave => {}
        }
    }

    /// Takes a fact in at once if it can be, else when its program is there. Facts of one session keep their order;
    /// those of others never wait for it.
    fn queue(&mut self, job: Job) {
        let id = job.origin.session.clone();
        if let Some(queue) = self.waiting.get_mut(&id) {
            queue.push_back(job);
            return;
        }
        let session = self.core.state().session(&id);
        let begins = matches!(job.fact, Fact::Started(_) | Fact::Prompt { .. } | Fact::Stopped { .. });
        let looks = matches!(job.fact, Fact::Started(_) | Fact::Stopped { .. });
        match session {
            Some(session) if !looks => {
                let root = session.root.clone();
                self.take_in(job, root);
            }
            None if !begins => {
                // Nobody the engine knows: no root is needed to say so.
                let root = ProjectRoot::new(job.origin.launch.as_path());
                self.take_in(job, root);
            }
            _ => {
                let known = session.filter(|_| !job.fact.places_session());
                let launch = known.map_or(&job.origin.launch, |session| &session.launch).clone();
                if matches!(job.fact, Fact::Stopped { .. })
                    && let Some(transcript) = &job.origin.transcript
                    && self.core.wants_gauge(&launch)
                {
                    self.loader.order_gauge(&id, transcript);
                    self.second_looks.expect(&id, transcript);
                }
                self.waiting.insert(id.clone(), VecDeque::from([job]));
                self.load(&launch, Waiter::Session(id));
            }
        }
    }

    fn take_in(&mut self, job: Job, root: ProjectRoot) {
        let Job { origin, fact, then, reply } = job;
        let fact = fact.map_ticket(|token| self.core.by_token(&token).map(|(ticket, _)| ticket));
        let session = origin.session.clone();
        self.watch.add(origin.client);
        let event = Event::Host { origin, root, fact };
        match then {
            Then::Answer => {
                let answer = self.happened(event, Some(Reply::Done));
                let _ = reply.send(answer.unwrap_or(Reply::Done));
            }
            Then::Park(poll, mark) => {
                self.happened(event, None);
                // The hook may have gone while its program was read.
                if !reply.is_closed() {
                    self.polls.insert(poll, Parked { session: session.clone(), reply });
                    self.happened(Event::Parked { session, poll, mark }, None);
                }
            }
        }
    }

    fn happened(&mut self, event: Event, answer: Option<Reply>) -> Option<Reply> {
        let consequences = self.core.happened(self.clock.now(), event);
        self.carry_out(Some(consequences), answer)
    }
}

#[cfg(test)]
mod tests;
