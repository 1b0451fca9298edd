//! What is read from disk, on a thread of its own: fork files to be compiled, and transcripts for their gauge. Either can
//! take its time, and nobody else waits for it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc as thread_mpsc;
use std::thread;

use tokio::sync::mpsc;

use crate::engine::{SessionId, WindowSign};
use crate::ir::{LaunchDir, Program, ProjectRoot};

/// How often a thread that hangs is replaced in a daemon's life.
const MOST_REPLACEMENTS: u32 = 8;

/// What is in force at a launch folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The program.
    pub program: Arc<Program>,
    /// The project's root.
    pub root: ProjectRoot,
}

/// What compiles programs. It lives on one thread and may keep what it knows from one call to the next.
pub trait ProgramSource: 'static {
    /// The program in force at `launch` now; `None` if that cannot be told for want of something that may be had later,
    /// so that what was in force stays.
    fn load(&mut self, launch: &LaunchDir) -> Option<Loaded>;

    /// How large the context of the conversation is that is kept in `transcript`; `None` if that cannot be read.
    fn gauge(&mut self, transcript: &Path) -> Option<GaugeReading>;
}

/// How large a conversation's context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaugeReading {
    /// Tokens in the context; `None` if the transcript does not tell.
    pub tokens: Option<u64>,
    /// What the models' ids say of the context window.
    pub window: WindowSign,
}

/// What is to be read.
#[derive(Debug)]
enum Order {
    Program(LaunchDir),
    Gauge(SessionId, PathBuf),
}

/// The way to the thread that reads.
pub(super) struct Loader {
    /// Starts a thread that works on these orders.
    hire: Box<dyn Fn(thread_mpsc::Receiver<Order>) + Send>,
    orders: thread_mpsc::Sender<Order>,
    replacements: u32,
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("replacements", &self.replacements).finish_non_exhaustive()
    }
}

/// What came of an order.
#[derive(Debug)]
pub(super) enum Delivery {
    /// A program; `None` if it could not be read, or the compiler has panicked.
    Program(LaunchDir, Option<Loaded>),
    /// The gauge of a session; nothing known if it could not be read.
    Gauge(SessionId, GaugeReading),
}

impl Loader {
    /// Starts the thread. It ends when the loader is dropped.
    pub(super) fn start<S: ProgramSource>(
        make_source: impl Fn() -> S + Send + Sync + 'static,
    ) -> (Self, mpsc::UnboundedReceiver<Delivery>) {
        let (deliveries, outbox) = mpsc::unbounded_channel();
        let make_source = Arc::new(make_source);
        let hire = move |inbox| {
            let (make_source, deliveries) = (Arc::clone(&make_source), deliveries.clone());
            let work = move || work(&*make_source, inbox, &deliveries);
            if let Err(error) = thread::Builder::new().name("compiler".to_owned()).spawn(work) {
                tracing::error!("cannot start a thread to read on: {error}");
            }
        };
        let (orders, inbox) = thread_mpsc::channel();
        hire(inbox);
        (Self { hire: Box::new(hire), orders, replacements: 0 }, outbox)
    }

    /// Puts another thread in the place of one that hangs, which loses the orders it has not come to. It ends when it
    /// hangs no longer. False if there were too many already: then the disk is to blame, and more threads do not help.
    pub(super) fn replace(&mut self) -> bool {
        if self.replacements >= MOST_REPLACEMENTS {
            return false;
        }
        self.replacements += 1;
        let (orders, inbox) = thread_mpsc::channel();
        self.orders = orders;
        (self.hire)(inbox);
        true
    }

    /// Orders the program in force at `launch`; false if nobody works any more.
    pub(super) fn order(&self, launch: &LaunchDir) -> bool {
        self.orders.send(Order::Program(launch.clone())).is_ok()
    }

    /// Orders the gauge of a session. It is delivered before any program that is ordered later.
    pub(super) fn order_gauge(&self, session: &SessionId, transcript: &Path) {
        // If nobody works any more, the gauge stays what it was.
        let _ = self.orders.send(Order::Gauge(session.clone(), transcript.to_owned()));
    }
}

/// What the thread does.
fn work<S: ProgramSource>(
    make_source: &dyn Fn() -> S,
    inbox: thread_mpsc::Receiver<Order>,
    deliveries: &mpsc::UnboundedSender<Delivery>,
) {
    let mut source = make_source();
    for order in inbox {
        // After a panic the source may be in any state: a new one takes its place.
        let delivery = catch_unwind(AssertUnwindSafe(|| source.fetch(&order)));
        let delivery = delivery.unwrap_or_else(|_| {
            source = make_source();
            order.failed()
        });
        if deliveries.send(delivery).is_err() {
            break;
        }
    }
}

/// Carrying out an order, for any source.
trait Fetch {
    fn fetch(&mut self, order: &Order) -> Delivery;
}

impl<S: ProgramSource> Fetch for S {
    fn fetch(&mut self, order: &Order) -> Delivery {
        match order {
            Order::Program(launch) => Delivery::Program(launch.clone(), self.load(launch)),
            Order::Gauge(session, transcript) => {
                let reading = self.gauge(transcript).unwrap_or(GaugeReading::UNKNOWN);
                Delivery::Gauge(session.clone(), reading)
            }
        }
    }
}

impl GaugeReading {
    const UNKNOWN: Self = Self { tokens: None, window: WindowSign::None };
}

impl Order {
    fn failed(self) -> Delivery {
        match self {
            Self::Program(launch) => Delivery::Program(launch, None),
            Self::Gauge(session, _) => Delivery::Gauge(session, GaugeReading::UNKNOWN),
        }
    }
}
