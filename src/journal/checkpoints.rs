//! Bringing the log into the database, on a thread of its own: both files are synced for that, which takes tens of
//! milliseconds on a busy disk, and every hook would wait for it. The thread has its own connection, and never holds up
//! one that writes. What is left to that one is to sync the log's new header when the log begins anew, which takes less
//! than a millisecond, since all else was synced just before.

use std::ffi::c_int;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, DEFAULT_NAME};

use super::file;

/// Each time the log has grown by so many pages, of 4 KiB each, it is brought into the database.
const PAGES: c_int = 1000;

/// A log of so many pages is brought in by whoever writes, and everybody waits for once: on a machine that is never idle,
/// each checkpoint may end just after something else was written, and only one that has reached the end of the log lets it
/// begin anew.
const TOO_MANY_PAGES: c_int = 8 * PAGES;

/// Earlier ones damage a database, very rarely, when the log begins anew while it is brought in a second time
/// (<https://www.sqlite.org/wal.html#walresetbug>). A later one is built in, but who packages the program may take the
/// system's instead.
const SAFE_SQLITE: i32 = 3_051_003;

/// How often it is tried again at once when something was written meanwhile. Each time there is less to do.
const TRIES: u32 = 20;

/// The thread. It ends when this is dropped, and with it its connection.
#[derive(Debug)]
pub(super) struct Checkpoints(Option<(Arc<SyncSender<()>>, JoinHandle<()>)>);

impl Checkpoints {
    /// Begins with the database at `path`, to which `writer` writes. If it cannot have a thread or another connection,
    /// `writer` goes on to do it by itself.
    pub(super) fn begin(writer: &mut Connection, path: &Path) -> Self {
        // One that has not been heard yet is as good as two.
        let (nudge, nudges) = mpsc::sync_channel(1);
        let nudge = Arc::new(nudge);
        let db = if rusqlite::version_number() < SAFE_SQLITE { None } else { connect(path).ok() };
        let thread = db.and_then(|db| {
            let thread = thread::Builder::new().name("checkpoints".to_owned());
            thread.spawn(move || work(&db, &nudges)).ok()
        });
        Self(thread.map(|thread| {
            // It stands in the place of SQLite's own.
            let _ = writer.wal_hook(Some(watch(Arc::downgrade(&nudge))));
            (nudge, thread)
        }))
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        if let Some((nudge, thread)) = self.0.take() {
            drop(nudge);
            let _ = thread.join();
        }
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = file::connect(path)?;
    // The log is opened with the first look, and later another one might stand at its path.
    db.pragma_query_value(None, "user_version", |_| Ok(()))?;
    file::tune(&db)?;
    Ok(db)
}

/// Looks after each commit at how long the log is. It does not keep the thread from ending, or that could only be waited for
/// when the connection is closed.
fn watch(nudge: Weak<SyncSender<()>>) -> impl FnMut(&mut Wal, c_int) -> rusqlite::Result<()> {
    let mut told_at = 0;
    move |log, pages| {
        if pages < told_at {
            // It has begun anew.
            told_at = 0;
        }
        if pages >= told_at + PAGES {
            told_at = pages;
            let _ = nudge.upgrade().map(|nudge| nudge.try_send(()));
        }
        if pages >= TOO_MANY_PAGES {
            // What fails is tried again after the next commit, which is safe without.
            let _ = log.checkpoint();
        }
        Ok(())
    }
}

fn work(db: &Connection, nudges: &Receiver<()>) {
    while nudges.recv().is_ok() {
        // Pages in the log, and those of them that are in the database.
        let mut before = None;
        for _ in 0..TRIES {
            match db.wal_checkpoint_v2(DEFAULT_NAME, CheckpointMode::PASSIVE) {
                Ok(now) if Some(now) != before => before = Some(now),
                // All is brought in, so that the next commit begins the log anew; or as much as can be while somebody reads
                // an older state. Or the disk is full, say: what is in the log is safe there, and the next nudge comes.
                Ok(_) | Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests;
