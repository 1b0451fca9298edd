//! Programs, compiled on a thread of their own: reading fork files can take its time, and nobody else waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc as thread_mpsc;
use std::thread;

use tokio::sync::mpsc;

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
}

/// The way to the thread that compiles.
#[derive(Debug)]
pub(super) struct Loader {
    orders: thread_mpsc::Sender<LaunchDir>,
}

/// What came of an order; `None` if the compiler has panicked.
pub(super) type Delivery = (LaunchDir, Option<Loaded>);

impl Loader {
    /// Starts the thread. It ends when the loader is dropped.
    pub(super) fn start<S: ProgramSource>(
        make_source: impl Fn() -> S + Send + 'static,
    ) -> (Self, mpsc::UnboundedReceiver<Delivery>) {
        let (orders, inbox) = thread_mpsc::channel::<LaunchDir>();
        let (deliveries, outbox) = mpsc::unbounded_channel();
        let work = move || {
            let mut source = make_source();
            for launch in inbox {
                // After a panic the source may be in any state: a new one takes its place.
                let loaded = catch_unwind(AssertUnwindSafe(|| source.load(&launch))).ok();
                if loaded.is_none() {
                    source = make_source();
                }
                if deliveries.send((launch, loaded)).is_err() {
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
        self.orders.send(launch.clone()).is_ok()
    }
}
