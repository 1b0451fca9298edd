//! What is read from disk, on a thread of its own: fork files to be compiled, and transcripts for their gauge. Either can
//! take its time, and nobody else waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc as thread_mpsc;
use std::thread;

use tokio::sync::mpsc;

use crate::engine::{SessionId, WindowSign};
use crate::ir::{LaunchDir, Program, ProjectRoot};

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
    /// The program in force at `launch` now.
    fn load(&mut self, launch: &LaunchDir) -> Loaded;

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

/// The way to the thread that compiles.
#[derive(Debug)]
pub(super) struct Loader {
    orders: thread_mpsc::Sender<Order>,
}

/// What came of an order.
#[derive(Debug)]
pub(super) enum Delivery {
    /// A program; `None` if the compiler has panicked.
    Program(LaunchDir, Option<Loaded>),
    /// The gauge of a session; nothing known if it could not be read.
    Gauge(SessionId, GaugeReading),
}

impl Loader {
    /// Starts the thread. It ends when the loader is dropped.
    pub(super) fn start<S: ProgramSource>(
        make_source: impl Fn() -> S + Send + 'static,
    ) -> (Self, mpsc::UnboundedReceiver<Delivery>) {
        let (orders, inbox) = thread_mpsc::channel::<Order>();
        let (deliveries, outbox) = mpsc::unbounded_channel();
        let work = move || {
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
        };
        if let Err(error) = thread::Builder::new().name("compiler".to_owned()).spawn(work) {
            tracing::error!("cannot start a thread to compile on: {error}");
        }
        (Self { orders }, outbox)
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

/// Carrying out an order, for any source.
trait Fetch {
    fn fetch(&mut self, order: &Order) -> Delivery;
}

impl<S: ProgramSource> Fetch for S {
    fn fetch(&mut self, order: &Order) -> Delivery {
        match order {
            Order::Program(launch) => Delivery::Program(launch.clone(), Some(self.load(launch))),
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
