//! What the last daemon had to say when it ended, where that was an error: it said so to its log alone, since nobody was
//! there to hear it.

use std::io::{Read, Seek, SeekFrom};

use crate::host::dirs::Home;
use crate::host::files::{self, Access};

/// The end of the log that is looked at, in bytes.
const LOOKED_AT: u64 = 4 * 1024;

/// How an error is marked in the log, behind its time.
const MARK: &str = " ERROR ";

/// The error that the log ends with, if it ends with one.
pub(super) fn last_words(home: &Home) -> Option<String> {
    let mut log = files::open(&home.log(), Access::Read).ok()?;
    let start = log.metadata().ok()?.len().saturating_sub(LOOKED_AT);
    log.seek(SeekFrom::Start(start)).ok()?;
    let mut end = Vec::new();
    log.take(LOOKED_AT).read_to_end(&mut end).ok()?;
    error_in(String::from_utf8_lossy(&end).lines().last()?)
}

fn error_in(line: &str) -> Option<String> {
    let (time, said) = line.split_once(MARK)?;
    (!time.trim().contains(' ')).then(|| said.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_its_mark_behind_the_time() {
        let error = error_in("2026-11-30T16:34:24.192666Z ERROR cannot use the socket: no room");
        assert_eq!(error.as_deref(), Some("cannot use the socket: no room"));
        assert_eq!(error_in("2026-11-30T16:34:24.192666Z  INFO a fork named ERROR fires"), None);
        assert_eq!(error_in(""), None);
    }
}
