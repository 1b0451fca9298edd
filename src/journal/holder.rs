//! Whose journal it is. The lock file sees to it that there is one daemon; should it be removed, two may have one journal.
//! Then it belongs to the one that came last: each takes the next number when it opens the journal, and every transaction
//! looks whether that is still the latest. So no wake is ever issued by two.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::file;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS holder (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        number INTEGER NOT NULL,
        pid INTEGER NOT NULL
    ) STRICT;
";

/// A hold on the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Ours; the latest there was if ours could not be written yet.
    number: i64,
    is_written: bool,
    /// The process that had it before.
    pub(super) former: Option<u32>,
}

/// Takes the journal over. If it cannot be written now, the first transaction that can be does it.
pub(super) fn take(db: &mut Connection) -> rusqlite::Result<Hold> {
    // Where there is no such table yet, nobody had it.
    let latest = latest(db).unwrap_or(None);
    let mut hold = Hold {
        number: latest.map_or(0, |(number, _)| number),
        is_written: false,
        former: latest.map(|(_, pid)| pid).filter(|pid| *pid != std::process::id()),
    };
    match begin(db, &hold).and_then(|ours| ours.map(Transaction::commit).transpose()) {
        Ok(Some(())) => hold.committed(),
        Err(error) if file::is_unsound(&error) => return Err(error),
        // Another one came in between, or the disk is full, or somebody locks it.
        Ok(None) | Err(_) => {}
    }
    Ok(hold)
}

impl Hold {
    /// A transaction that was begun with it is committed.
    pub(super) fn committed(&mut self) {
        if !self.is_written {
            self.number += 1;
            self.is_written = true;
        }
    }
}

/// Begins a transaction; none if the journal is another's by now.
pub(super) fn begin<'a>(db: &'a mut Connection, hold: &Hold) -> rusqlite::Result<Option<Transaction<'a>>> {
    // From its beginning nobody else can write.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !hold.is_written {
        transaction.execute_batch(SCHEMA)?;
    }
    if latest(&transaction)?.map_or(0, |(number, _)| number) != hold.number {
        return Ok(None);
    }
    if !hold.is_written {
        transaction.execute(
            "INSERT OR REPLACE INTO holder (id, number, pid) VALUES (1, ?1, ?2)",
            params![hold.number + 1, std::process::id()],
        )?;
    }
    Ok(Some(transaction))
}

fn latest(db: &Connection) -> rusqlite::Result<Option<(i64, u32)>> {
    db.prepare_cached("SELECT number, pid FROM holder")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
