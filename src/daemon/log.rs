//! The daemon's log: a file for people, of bounded size, with no instruction and no report in it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::host::files::{self, Access};

/// At this size the log is moved to `….1`, in place of the one that was moved there before: a megabyte each.
const LIMIT: u64 = 1024 * 1024;

/// Begins to log to `path`.
pub(super) fn start(path: &Path) -> io::Result<()> {
    let writer = Log(Mutex::new(LogFile::open(path)?));
    // An earlier one may have been left open to others. If it is none of ours, it is left alone.
    if older(path).exists() {
        let _ = files::open(&older(path), Access::Append);
    }
    // Our own words only: the compiler's database tells every step it takes.
    let ours =
        filter_fn(|event| event.target().starts_with(env!("CARGO_CRATE_NAME")) && *event.level() <= Level::INFO);
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).with_target(false);
    // It is set already where several daemons live in one process, as in tests.
    let _ = tracing_subscriber::registry().with(lines.with_filter(ours)).try_init();
    Ok(())
}

fn older(path: &Path) -> PathBuf {
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    older.into()
}

/// The log, for whoever has a line for it. The daemon's only lock.
#[derive(Debug)]
struct Log(Mutex<LogFile>);

impl<'a> MakeWriter<'a> for Log {
    type Writer = Turn<'a>;

    fn make_writer(&'a self) -> Turn<'a> {
        // A panic while somebody had it costs that line, and must not take everybody's voice away: a file can always be
        // written to again.
        Turn(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Somebody's turn to write.
#[derive(Debug)]
struct Turn<'a>(MutexGuard<'a, LogFile>);

impl Write for Turn<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path, Access::Append)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, size })
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Renaming replaces whatever stands there, a link too, and follows nothing.
        fs::rename(&self.path, older(&self.path))?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.size >= LIMIT {
            self.rotate()?;
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_log_never_grows_past_its_limit_and_keeps_one_predecessor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let mut log = LogFile::open(&path).unwrap();
        let line = [b'x'; 4096];
        for _ in 0..3 * LIMIT / 4096 {
            log.write_all(&line).unwrap();
        }
        assert!(fs::metadata(&path).unwrap().len() <= LIMIT);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_panic_while_somebody_writes_takes_nobodys_voice_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let log = Log(Mutex::new(LogFile::open(&path).unwrap()));
        let panicked = std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let _turn = log.make_writer();
                panic!("as ordered");
            });
            writing.join()
        });
        assert!(panicked.is_err() && log.0.is_poisoned());
        log.make_writer().write_all(b"still here\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"still here\n");
    }
}
