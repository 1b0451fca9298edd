//! The actor between connections, a compiler that misbehaves, and time. Tokio's clock is paused, so what waits for a
//! program that never comes waits no longer than it takes to say so.

use std::sync::{Arc, Mutex, mpsc as thread_mpsc};

use tokio::task::JoinHandle;

use super::*;
use crate::daemon::loader::{GaugeReading, ProgramSource};
use crate::daemon::random::Random;
use crate::daemon::seat::Seat;
use crate::engine::{Conversation, Prompt, PromptId, StartSource, TagOverride, TurnKind};
use crate::ir::{Body, Config, Fork, Moment, Overlap, Program};
use crate::journal::Journal;

/// A compiler that hangs at `/hang` until the test is over, panics at `/panic` once, finds nothing at `/empty`, and
/// elsewhere knows one fork that is due at once.
struct Moody {
    hang: Arc<Mutex<thread_mpsc::Receiver<()>>>,
    panicked: Arc<Mutex<bool>>,
}

impl ProgramSource for Moody {
    fn load(&mut self, launch: &LaunchDir) -> Option<Loaded> {
        let place = launch.as_path().to_str().unwrap();
        if place == "/hang" {
            // An error means that the test is over.
            let _ = self.hang.lock().unwrap().recv();
        }
        if place == "/panic" {
            let first = !std::mem::replace(&mut *self.panicked.lock().unwrap(), true);
            assert!(!first, "as ordered");
        }
        let fork = Fork {
            name: "journal".into(),
            path: format!("{place}/.autofork/forks/journal.md").into(),
            description: None,
            run_on: vec![Moment::Idle(Some(Seconds::ZERO))],
            throttle: None,
            after: Vec::new(),
            overlap: Overlap::Forbidden,
            tags: Vec::new(),
            body: Body { first_line: 1, text: "Write.".into() },
        };
        let config = Config { wake_debounce: Seconds::ZERO, ..Config::default() };
        let forks = (place != "/empty").then(|| Arc::new(fork));
        Some(Loaded { program: Arc::new(Program::new(config, forks)), root: ProjectRoot::new(place) })
    }

    fn gauge(&mut self, _: &std::path::Path) -> Option<GaugeReading> {
        None
    }
}

/// A daemon without a socket.
struct House {
    messages: mpsc::Sender<Message>,
    last_poll: u64,
    living: JoinHandle<()>,
    _hang: thread_mpsc::Sender<()>,
    _folder: tempfile::TempDir,
}

impl House {
    fn open() -> Self {
        Self::build(|exits| exits)
    }

    /// One to which nobody tells that a client has ended, as where the system does not.
    fn that_watches_nobody() -> Self {
        Self::build(|_| mpsc::unbounded_channel().1)
    }

    fn build(
        told: impl FnOnce(mpsc::UnboundedReceiver<ClientProcess>) -> mpsc::UnboundedReceiver<ClientProcess>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::find(|_| None, Some(folder.path().to_owned())).unwrap();
        home.prepare().unwrap();
        let claim = Seat::take(&home).unwrap().claim().clone();
        let opened = Journal::open(&folder.path().join("journal.db")).unwrap();
        let core = Core::new(opened, Random::open().unwrap());
        let (hang, hangs) = thread_mpsc::channel();
        let (hangs, panicked) = (Arc::new(Mutex::new(hangs)), Arc::new(Mutex::new(false)));
        let source = move || Moody { hang: Arc::clone(&hangs), panicked: Arc::clone(&panicked) };
        let (loader, deliveries) = Loader::start(source);
        let (watch, exits) = Watch::new();
        let (messages, inbox) = mpsc::channel(16);
        let mut actor = Actor::new(core, loader, watch, &home, claim);
        let exits = told(exits);
        let living = tokio::spawn(async move { actor.run(inbox, deliveries, exits).await });
        Self { messages, last_poll: 0, living, _hang: hang, _folder: folder }
    }

    async fn ask(&mut self, request: Request) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        self.last_poll += 1;
        let asked = Asked { request, poll: PollId::new(self.last_poll), reply };
        self.messages.send(Message::Asked(Box::new(asked))).await.unwrap();
        answer
    }

    async fn tell(&mut self, session: &str, launch: &str, fact: Fact<Token>) -> oneshot::Receiver<Reply> {
        self.ask(Request::Fact { origin: origin(session, launch), fact }).await
    }

    /// What a person is told, in whole sentences.
    async fn notes(&mut self) -> Vec<String> {
        let Ok(Reply::Status(status)) = self.ask(Request::Status).await.await else { panic!("no status") };
        status.daemon.notes
    }

    async fn park(&mut self, session: &str, launch: &str) -> oneshot::Receiver<Reply> {
        let mark = mark();
        let stopped = Fact::Stopped { mark: mark.clone(), kind: TurnKind::Plain, background: None, mode: None };
        self.ask(Request::Park { origin: origin(session, launch), mark, stopped }).await
    }
}

fn mark() -> Mark {
    Mark { prompt: Some(PromptId::from("turn")), at: Time::from_millis(1) }
}

fn origin(session: &str, launch: &str) -> Origin {
    Origin {
        session: session.into(),
        conversation: Conversation::from(session),
        launch: LaunchDir::new(launch),
        client: None,
        transcript: None,
        tags: TagOverride::default(),
    }
}

fn started() -> Fact<Token> {
    Fact::Started(StartSource::Startup.into())
}

fn prompt() -> Fact<Token> {
    Fact::Prompt { mark: mark(), prompt: Prompt::Human, mode: None }
}

fn forks_of(reply: Reply) -> usize {
    match reply {
        Reply::Wake(order) => order.forks.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_fork_that_is_due_at_once_is_answered_at_once() {
    let mut house = House::open();
    assert_eq!(house.tell("s", "/project", started()).await.await, Ok(Reply::Done));
    assert_eq!(house.tell("s", "/project", prompt()).await.await, Ok(Reply::Done));
    assert_eq!(forks_of(house.park("s", "/project").await.await.unwrap()), 1);
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_read_keeps_nobody_else_waiting_and_its_own_sessions_not_for_long() {
    let mut house = House::open();
    // The order of these matters: the others are in the queue behind the one that hangs.
    let stuck = house.tell("stuck", "/hang", started()).await;
    let behind = house.tell("other", "/project", started()).await;
    let parked = house.park("other", "/project").await;
    assert_eq!(stuck.await, Ok(Reply::Done));
    assert_eq!(behind.await, Ok(Reply::Done));
    assert_eq!(forks_of(parked.await.unwrap()), 1);
    let told = "The forks of /hang take too long to be read: no change to them counts until they can be read.";
    assert_eq!(house.notes().await, [told]);
    assert_eq!(house.tell("stuck", "/hang", prompt()).await.await, Ok(Reply::Done));
    let quiet = house.park("stuck", "/hang").await;
    assert!(
        tokio::time::timeout(Duration::from_mins(1), quiet).await.is_err(),
        "it has no forks, so nothing wakes it"
    );
}

#[tokio::test]
async fn a_compiler_that_panics_costs_one_load() {
    let mut house = House::open();
    assert_eq!(house.tell("s", "/panic", started()).await.await, Ok(Reply::Done));
    let told = "The forks of /panic could not be read: no change to them counts until they can be read.";
    assert_eq!(house.notes().await, [told]);
    assert_eq!(house.tell("s", "/panic", prompt()).await.await, Ok(Reply::Done));
    assert_eq!(forks_of(house.park("s", "/panic").await.await.unwrap()), 1);
    assert_eq!(house.notes().await, [""; 0], "it is over");
}

#[tokio::test]
async fn prune_ends_the_sessions_of_clients_that_are_gone_and_lets_their_hooks_go() {
    let mut house = House::that_watches_nobody();
    let ours = process::identify(std::process::id()).unwrap();
    let clients =
        [("gone", Some(ClientProcess { start: ours.start + 1, ..ours })), ("here", Some(ours)), ("?", None)];
    for (session, client) in clients {
        let origin = Origin { client, ..origin(session, "/empty") };
        let fact = started();
        assert_eq!(house.ask(Request::Fact { origin, fact }).await.await, Ok(Reply::Done));
    }
    let parked = house.park("gone", "/empty").await;
    let Ok(Reply::Pruned(looked_after)) = house.ask(Request::Prune).await.await else { panic!("no answer") };
    let verdicts: Vec<_> = looked_after.iter().map(|known| (known.session.as_str(), known.verdict)).collect();
    assert_eq!(verdicts, [("?", Verdict::Unknown), ("gone", Verdict::Ended), ("here", Verdict::Alive)]);
    assert_eq!(parked.await, Ok(Reply::Released));
    let Ok(Reply::Status(status)) = house.ask(Request::Status).await.await else { panic!("no status") };
    let left: Vec<_> = status.sessions.iter().map(|session| session.session.as_str()).collect();
    assert_eq!(left.iter().collect::<std::collections::BTreeSet<_>>(), ["?", "here"].iter().collect());
}

#[tokio::test]
async fn facts_of_a_session_keep_their_order_while_its_program_is_read() {
    let mut house = House::open();
    let begun = house.tell("s", "/project", started()).await;
    let parked = house.park("s", "/project").await;
    let ended = house.tell("s", "/project", Fact::Ended).await;
    assert_eq!(begun.await, Ok(Reply::Done));
    assert_eq!(forks_of(parked.await.unwrap()), 1);
    assert_eq!(ended.await, Ok(Reply::Done));
    let Ok(Reply::Status(status)) = house.ask(Request::Status).await.await else { panic!() };
    assert_eq!(status.sessions, []);
}

#[tokio::test]
async fn a_hook_that_vanished_is_not_woken_and_its_wake_is_kept_for_the_next() {
    let mut house = House::open();
    house.tell("s", "/project", started()).await.await.unwrap();
    drop(house.park("s", "/project").await);
    assert_eq!(forks_of(house.park("s", "/project").await.await.unwrap()), 1);
}

#[tokio::test]
async fn only_after_a_turn_has_ended_can_a_hook_park() {
    let mut house = House::open();
    let request = Request::Park { origin: origin("s", "/project"), mark: mark(), stopped: started() };
    assert!(matches!(house.ask(request).await.await, Ok(Reply::Failed(_))));
}

#[tokio::test(start_paused = true)]
async fn it_leaves_after_the_quiet_period_and_not_while_there_is_a_connection() {
    let mut house = House::open();
    house.messages.send(Message::Opened).await.unwrap();
    tokio::time::sleep(Duration::from_hours(10)).await;
    assert!(matches!(house.ask(Request::Status).await.await, Ok(Reply::Status(_))));
    house.messages.send(Message::Closed).await.unwrap();
    house.living.await.unwrap();
}
