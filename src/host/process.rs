//! Whether a process is still the one that was meant.
//!
//! Process ids are used again, so a process is known by its id together with its start time.

use crate::engine::ClientProcess;

/// The process with that id, if it is alive.
pub fn identify(pid: u32) -> Option<ClientProcess> {
    start_time(pid).map(|start| ClientProcess { pid, start })
}

/// Whether that very process is alive. One that has ended and was not collected yet is not.
pub fn is_alive(process: ClientProcess) -> bool {
    identify(process.pid) == Some(process)
}

/// The start time in clock ticks since boot.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&stat)
}

/// Field 22 of `/proc/<pid>/stat`, unless the process has ended. The second field is the command's name in
/// parentheses, and it may hold blanks and parentheses itself: so the fields are counted from the last one.
#[cfg(target_os = "linux")]
fn parse_stat(stat: &[u8]) -> Option<u64> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = stat.get(after_name..)?.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let state = fields.next()?;
    if matches!(state, b"Z" | b"X" | b"x") {
        return None;
    }
    // The state is field 3; eighteen lie between it and the start time.
    std::str::from_utf8(fields.nth(18)?).ok()?.trim_end().parse().ok()
}

/// Elsewhere there is no start time to be had by reading a file: the id alone must do, and a process that has taken
/// over the id of a client keeps its session until that times out.
#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Option<u64> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(0),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_alive_until_it_ends_even_if_nobody_collects_it() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = identify(child.id()).expect("just started");
        assert!(is_alive(process));
        assert!(!is_alive(ClientProcess { start: process.start + 1, ..process }) || cfg!(not(target_os = "linux")));
        child.stdin = None;
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while cfg!(target_os = "linux") && is_alive(process) && std::time::Instant::now() < patience {
            std::thread::yield_now();
        }
        assert!(!is_alive(process) || cfg!(not(target_os = "linux")), "a zombie is not alive");
        child.wait().unwrap();
        assert!(!is_alive(process));
        assert_eq!(identify(u32::MAX), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_commands_name_may_hold_anything() {
        let tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n";
        assert_eq!(parse_stat(format!("7 (a) R 9) b){tail}").as_bytes()), Some(4242));
        assert_eq!(parse_stat(format!("7 (a){}", tail.replace(" S ", " Z ")).as_bytes()), None);
        assert_eq!(parse_stat(b"7 (a) S 1 2"), None);
        assert_eq!(parse_stat(b""), None);
    }
}
