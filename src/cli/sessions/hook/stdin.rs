//! The hook's payload: all of standard input, but neither more than a bound nor waiting longer than one.

use std::io::Read;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The longest payload that is believed. The client's largest carry a tool's whole input or a prompt.
const LIMIT: usize = 64 * 1024 * 1024;

/// How long to wait for the end of the input. Mostly the client has written all of it before the hook has even begun; on
/// a busy machine it may not have, and a prompt that is not told of looks like quiet.
const PATIENCE: Duration = Duration::from_millis(2500);

/// How long to go on reading a payload that is too long to be believed, so that its writer is not cut off.
const DRAIN: Duration = Duration::from_millis(50);

/// The whole payload; none if it is too long.
pub(super) fn read() -> Option<Vec<u8>> {
    read_from(std::io::stdin().lock(), PATIENCE)
}

fn read_from(mut input: impl Read + AsFd, patience: Duration) -> Option<Vec<u8>> {
    let mut until = Instant::now() + patience;
    let mut payload = Vec::new();
    let mut too_long = false;
    let mut chunk = vec![0; 64 * 1024];
    // What has come in time may be whole even if its end is not told.
    while is_ready(&input, until) {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(_) if too_long => {}
            Ok(length) => {
                payload.extend_from_slice(&chunk[..length]);
                if payload.len() > LIMIT {
                    payload = Vec::new();
                    too_long = true;
                    until = until.min(Instant::now() + DRAIN);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    (!too_long).then_some(payload)
}

/// Whether there is something to read, or an end, before `until`.
fn is_ready(input: &impl AsFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let Ok(timeout) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn all_of_the_input_is_read() {
        let (mut writer, reader) = UnixStream::pair().unwrap();
        let payload = vec![b'x'; 1024 * 1024];
        let expected = payload.clone();
        let writing = thread::spawn(move || writer.write_all(&payload));
        assert_eq!(read_from(reader, Duration::from_secs(10)), Some(expected));
        writing.join().unwrap().unwrap();
    }

    #[test]
    fn an_input_that_never_ends_is_taken_as_far_as_it_came() {
        let (mut writer, reader) = UnixStream::pair().unwrap();
        writer.write_all(b"{}").unwrap();
        assert_eq!(read_from(reader, Duration::from_millis(30)), Some(b"{}".to_vec()));
    }

    #[test]
    fn an_input_over_the_limit_is_no_payload() {
        let (mut writer, reader) = UnixStream::pair().unwrap();
        let writing = thread::spawn(move || writer.write_all(&vec![b'x'; LIMIT + 1]));
        assert_eq!(read_from(reader, Duration::from_secs(10)), None);
        writing.join().unwrap().unwrap();
    }
}
