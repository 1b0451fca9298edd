//! Whose journal it is. The lock file sees to it that there is one daemon; should it be removed, two may have one journal.
//! Then it belongs to the one that came last: each takes the next number when it opens the journal, and every transaction
//! looks whether that is still the latest. So no wake is ever issued by two.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS holder (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        number INTEGER NOT NULL,
        pid INTEGER NOT NULL
    ) STRICT;
";

/// A hold on the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    number: i64,
    /// The process that had it before.
    pub(super) former: Option<u32>,
}

/// Takes the journal over.
pub(super) fn take(db: &mut Connection) -> rusqlite::Result<Hold> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let latest = latest(&transaction)?;
    let number = latest.map_or(0, |(number, _)| number) + 1;
    transaction.execute(
        "INSERT OR REPLACE INTO holder (id, number, pid) VALUES (1, ?1, ?2)",
        params![number, std::process::id()],
    )?;
    transaction.commit()?;
    Ok(Hold { number, former: latest.map(|(_, pid)| pid).filter(|pid| *pid != std::process::id()) })
}

/// Begins a transaction; none if the journal is another's by now.
pub(super) fn begin<'a>(db: &'a mut Connection, hold: &Hold) -> rusqlite::Result<Option<Transaction<'a>>> {
    // From its beginning nobody else can write.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let latest = latest(&transaction)?;
    Ok(latest.is_some_and(|(number, _)| number == hold.number).then_some(transaction))
}

fn latest(db: &Connection) -> rusqlite::Result<Option<(i64, u32)>> {
    db.prepare_cached("SELECT number, pid FROM holder")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
