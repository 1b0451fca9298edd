//! `autofork logs`: the last lines of the daemon's log, and those to come.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;

use super::words::plain;
use crate::cli::{CliError, written};
use crate::host::dirs::Home;

/// How often to look for more.
const PAUSE: Duration = Duration::from_millis(200);

/// Print the daemon's log
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Wait for more, and print it as it comes
    #[arg(short, long)]
    follow: bool,
    /// How many of the latest lines to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CliError> {
    let home = Home::from_env()?;
    let path = home.log();
    let failed = |error: &io::Error| {
        CliError::new(format!("the log cannot be read: {error}")).help("`autofork doctor` looks at the base folder")
    };
    let mut out = io::stdout().lock();
    let mut log = Follower::new(&path);
    let lines = latest(&path, &mut log, arguments.lines).map_err(|error| failed(&error))?;
    if lines.is_empty() && log.file.is_none() {
        anstream::eprintln!("There is no log yet: no daemon has run.");
    }
    let mut outcome = print(&lines, &mut out);
    while arguments.follow && outcome.is_ok() {
        thread::sleep(PAUSE);
        let lines = log.more().map_err(|error| failed(&error))?;
        outcome = print(&lines, &mut out);
    }
    written(outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Names of forks and folders stand in the log, so no line goes to the terminal as it is.
fn print(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{}", plain(line))?;
    }
    out.flush()
}

/// The latest lines, of the log that was before this one too.
fn latest(path: &Path, log: &mut Follower, count: usize) -> io::Result<Vec<String>> {
    let mut lines = log.more()?;
    if lines.len() < count {
        let mut older = path.as_os_str().to_owned();
        older.push(".1");
        if let Ok(text) = fs::read(PathBuf::from(older)) {
            let text = String::from_utf8_lossy(&text).into_owned();
            let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
            all.append(&mut lines);
            lines = all;
        }
    }
    let surplus = lines.len().saturating_sub(count);
    Ok(lines.split_off(surplus))
}

/// Reads a log that grows, and is moved away for a new one now and then.
#[derive(Debug)]
struct Follower {
    path: PathBuf,
    file: Option<File>,
    /// The beginning of a line whose end was not written yet.
    begun: Vec<u8>,
}

impl Follower {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, begun: Vec::new() }
    }

    /// The whole lines that were written since it was last asked.
    fn more(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            if self.file.is_none() {
                self.file = match File::open(&self.path) {
                    Ok(file) => Some(file),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(lines),
                    Err(error) => return Err(error),
                };
            }
            // Whether it was moved is asked before it is read: nobody writes to one that was.
            let moved = self.was_moved();
            if let Some(file) = &mut self.file {
                file.read_to_end(&mut self.begun)?;
            }
            if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
                let rest = self.begun.split_off(end + 1);
                let whole = std::mem::replace(&mut self.begun, rest);
                lines.extend(String::from_utf8_lossy(&whole).lines().map(str::to_owned));
            }
            if !moved {
                return Ok(lines);
            }
            self.file = None;
        }
    }

    /// Whether another file, or none, has the log's name by now.
    fn was_moved(&self) -> bool {
        let number = |found: fs::Metadata| (found.dev(), found.ino());
        let open = self.file.as_ref().and_then(|file| file.metadata().ok()).map(number);
        open != fs::metadata(&self.path).ok().map(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_follower_reads_whole_lines_across_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let mut log = Follower::new(&path);
        assert!(log.more().unwrap().is_empty(), "no log yet");
        append(&path, "one\ntw");
        assert_eq!(log.more().unwrap(), ["one"]);
        append(&path, "o\nthree\n");
        fs::rename(&path, folder.path().join("daemon.log.1")).unwrap();
        append(&path, "four\n");
        assert_eq!(log.more().unwrap(), ["two", "three", "four"]);
        assert!(log.more().unwrap().is_empty());
        append(&path, "five\n");
        assert_eq!(log.more().unwrap(), ["five"]);
    }

    #[test]
    fn the_latest_lines_reach_back_into_the_log_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        append(&folder.path().join("daemon.log.1"), "1\n2\n3\n");
        append(&path, "4\n5\n");
        let latest = |count| latest(&path, &mut Follower::new(&path), count).unwrap();
        assert_eq!(latest(0), [""; 0]);
        assert_eq!(latest(1), ["5"]);
        assert_eq!(latest(3), ["3", "4", "5"]);
        assert_eq!(latest(9), ["1", "2", "3", "4", "5"]);
    }
}
