//! Messages over standard input and output.
//!
//! As `lsp_server` does it, except that a message which is no JSON is answered and skipped, instead of ending the
//! conversation.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use lsp_server::{Connection, Message, Notification};

/// A message may have so many bytes; nobody's memory is endless.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The threads that read and write.
#[derive(Debug)]
pub struct Threads {
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until everything is written. What is still to be read is nobody's concern any more.
    pub fn join(self) -> io::Result<()> {
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer failed")))
    }
}

/// A connection over this process's standard input and output.
pub fn stdio() -> (Connection, Threads) {
    let (to_server, from_client) = bounded(64);
    let (to_client, from_server) = unbounded();
    let answer = to_client.clone();
    // Never joined: it may sit in a read for as long as the client keeps the pipe open.
    std::thread::spawn(move || read_all(&mut BufReader::new(io::stdin().lock()), &to_server, &answer));
    let writer = std::thread::spawn(move || write_all(&from_server));
    (Connection { sender: to_client, receiver: from_client }, Threads { writer })
}

fn read_all(input: &mut dyn BufRead, messages: &Sender<Message>, answer: &Sender<Message>) {
    while let Ok(Some(bytes)) = read_one(input) {
        let Ok(message) = serde_json::from_slice::<Message>(&bytes) else {
            let params = serde_json::json!({ "type": 1, "message": "a message was skipped: it is not JSON-RPC" });
            let _ = answer.send(Message::Notification(Notification::new("window/logMessage".to_owned(), params)));
            continue;
        };
        let is_exit = matches!(&message, Message::Notification(note) if note.method == "exit");
        if messages.send(message).is_err() || is_exit {
            return;
        }
    }
}

/// The next message's bytes; none at the end.
fn read_one(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                Some(length) => {
                    let mut bytes = Vec::new();
                    let read = input.take(length).read_to_end(&mut bytes)?;
                    return Ok((read as u64 == length).then_some(bytes));
                }
                None => continue,
            }
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim().parse::<u64>().map_err(io::Error::other)?;
            if value > MAX_BYTES as u64 {
                return Err(io::Error::other("a message is too large"));
            }
            length = Some(value);
        }
    }
}

fn write_all(messages: &Receiver<Message>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for message in messages {
        message.write(&mut out)?;
        // Everything that is waiting goes out together.
        for message in messages.try_iter() {
            message.write(&mut out)?;
        }
        out.flush()?;
    }
    Ok(())
}
