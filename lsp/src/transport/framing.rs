//! Where one message ends and the next begins: header lines, a blank line, and as many bytes as a header said.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// A message may have so many bytes; nobody's memory is endless.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A line of a header may have so many.
const MAX_LINE: u64 = 8 * 1024;

/// The next message's bytes; none where the client hung up between two.
///
/// # Errors
///
/// What cannot be read, and headers that leave no doubt that the rest would be misread.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(MAX_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && length.is_none() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            let is_long = line.len() as u64 == MAX_LINE;
            return Err(io::Error::other(if is_long { "a header is too long" } else { "the client hung up" }));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        match (line.split_once(':'), length) {
            (_, Some(length)) if line.is_empty() => return contents(input, length).map(Some),
            // Blank lines between messages do no harm.
            (_, None) if line.is_empty() => {}
            (Some((name, value)), _) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse::<u64>().map_err(|_| io::Error::other("a length is no number"))?);
            }
            (Some((name, _)), _) if name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {}
            _ => return Err(io::Error::other("a line is no header")),
        }
    }
}

fn contents(input: &mut dyn BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BYTES {
        return Err(io::Error::other("a message is too large"));
    }
    let mut bytes = Vec::new();
    let read = input.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(io::Error::other("the client hung up")) }
}

/// Writes a message.
pub(super) fn write(out: &mut dyn Write, message: &Value) -> io::Result<()> {
    let message = message.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{message}", message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        while let Some(bytes) = read(&mut input).map_err(|error| error.to_string())? {
            found.push(String::from_utf8(bytes).unwrap());
        }
        Ok(found)
    }

    #[test]
    fn messages_are_parted_by_their_length() {
        let mut written = Vec::new();
        write(&mut written, &Value::from("\u{e9}")).unwrap();
        let input = [b"\r\ncontent-length : 2\nContent-Type: x\r\n\r\n{}", &*written].concat();
        assert_eq!(all(&input).unwrap(), ["{}", "\"\u{e9}\""]);
    }

    #[test]
    fn what_would_be_misread_ends_it() {
        let long = "x".repeat(9_000);
        for (input, why) in [
            ("Content-Length: 2\r\n\r\n{", "hung up"),
            ("Content-Length: 2\r\n", "hung up"),
            ("Content-Length: two\r\n\r\n{}", "no number"),
            ("Content-Length: 99999999999\r\n\r\n{}", "too large"),
            ("{}\r\n", "no header"),
            ("{\"id\": 3}\n", "no header"),
            (&long, "too long"),
        ] {
            let found = all(input.as_bytes()).unwrap_err();
            assert!(found.contains(why), "{input}: {found}");
        }
    }
}
