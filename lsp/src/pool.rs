//! A few threads that compute answers.

use std::thread::JoinHandle;

use crossbeam_channel::{Sender, unbounded};

type Job = Box<dyn FnOnce() + Send>;

/// Threads that take jobs in order.
#[derive(Debug)]
pub(crate) struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// As many threads as help: answers are short, and the machine has other things to do.
    pub(crate) fn new() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 4);
        let (jobs, queue) = unbounded::<Job>();
        let threads = (0..count)
            .filter_map(|number| {
                let queue = queue.clone();
                let work = move || queue.iter().for_each(|job| job());
                std::thread::Builder::new().name(format!("worker-{number}")).spawn(work).ok()
            })
            .collect();
        Self { jobs: Some(jobs), threads }
    }

    /// Does `job` soon.
    pub(crate) fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            // The threads live as long as the pool.
            let _ = jobs.send(Box::new(job));
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
