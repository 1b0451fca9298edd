//! What `check` costs, next to reading the same files. Run with `cargo bench --bench check`.
//!
//! Ratios of things measured in turns, so that a busy machine slows both sides alike. `AUTOFORK_BIN` names another
//! binary to measure.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let (few, _) = measure(2_000)?;
    let (many, memory) = measure(20_000)?;
    println!("time per file, 20 000 against 2 000 files: {:.2} (at most 1.5)", many / few);
    println!("peak memory with 20 000 files: {memory} MB (at most 60)");
    one_file()
}

/// Measures `check` on so many files; gives seconds per file and the peak of its memory in megabytes.
fn measure(files: usize) -> Outcome<(f64, u64)> {
    let folder = tempfile::tempdir()?;
    write_forks(folder.path(), files)?;
    let cat = "find .autofork -name '*.md' -print0 | xargs -0 cat";
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        times.0.push(timed(Command::new("sh").args(["-c", cat]).current_dir(folder.path()))?);
        times.1.push(timed(&mut check(folder.path()))?);
    }
    let (cat, check) = (median(times.0), median(times.1));
    println!(
        "check of {files} files: {check:?}, cat of the same: {cat:?}, ratio {:.2} (at most 1)",
        ratio(check, cat)
    );
    Ok((check.as_secs_f64() / f64::from(u32::try_from(files)?), peak(folder.path())?))
}

fn one_file() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    write_forks(folder.path(), 1)?;
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS * 10 {
        times.0.push(timed(&mut Command::new("/bin/true"))?);
        times.1.push(timed(&mut check(folder.path()))?);
    }
    let (nothing, check) = (median(times.0), median(times.1));
    println!("check of one file: {check:?}, /bin/true: {nothing:?}, ratio {:.2} (at most 4)", ratio(check, nothing));
    Ok(())
}

fn check(folder: &Path) -> Command {
    let program = std::env::var_os("AUTOFORK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_autofork").into());
    let mut command = Command::new(program);
    command.args(["check", "--format", "concise"]).current_dir(folder).env("HOME", folder.join("home"));
    command
}

/// Forks as people write them, each with all keys and a body of some paragraphs.
fn write_forks(folder: &Path, files: usize) -> Outcome<()> {
    fs::write(folder.join("LOG.md"), "")?;
    for number in 0..files {
        let group = folder.join(format!(".autofork/forks/group-{}", number / 100));
        fs::create_dir_all(&group)?;
        let mut text = format!(
            "---\nfork: true\ndescription: Keep part {number} of the notes current\nrun_on:\n  - idle: {}m\n  - \
             context_used: 80%\nthrottle: 30m\ntags: [ci, notes]\n---\n",
            number % 50 + 1
        );
        for _ in 0..number % 8 + 2 {
            text.push_str("Look at what happened in this session, and say why it matters to those who come later.\n");
        }
        writeln!(text, "Write the result to notes/{number}.md.")?;
        fs::write(group.join(format!("fork-{number}.md")), text)?;
    }
    Ok(())
}

fn timed(command: &mut Command) -> Outcome<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    command.status()?;
    Ok(began.elapsed())
}

/// The peak of a check's memory in megabytes, as the shell's `time` or the kernel tells it.
fn peak(folder: &Path) -> Outcome<u64> {
    let mut child = check(folder).stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(peak / 1024)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64()
}
