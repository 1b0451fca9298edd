//! Messages over standard input and output.
//!
//! As `lsp_server` does it, except that a message which cannot be read is answered and skipped, instead of ending the
//! conversation.

mod decode;
mod framing;

use std::io::{self, BufRead, BufReader, Write};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification};
use serde_json::{Value, json};

use decode::Unreadable;

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
    let (refuse, refusals) = unbounded();
    let log = to_client.clone();
    // Never joined: it may sit in a read for as long as the client keeps the pipe open.
    std::thread::spawn(move || {
        if let Err(error) = read_all(&mut BufReader::new(io::stdin().lock()), &to_server, &log, &refuse) {
            eprintln!("autofork-lsp: nothing more can be read: {error}");
        }
    });
    let writer = std::thread::spawn(move || write_all(&from_server, refusals));
    (Connection { sender: to_client, receiver: from_client }, Threads { writer })
}

fn read_all(
    input: &mut dyn BufRead,
    messages: &Sender<Message>,
    log: &Sender<Message>,
    refuse: &Sender<Value>,
) -> io::Result<()> {
    while let Some(bytes) = framing::read(input)? {
        let message = match decode::message(&bytes) {
            Ok(message) => message,
            Err(Unreadable::Request(id)) => {
                let words = "this is no request that can be answered; an `id` is a text or a number of 32 bits";
                let error = json!({ "code": ErrorCode::InvalidRequest as i32, "message": words });
                let _ = refuse.send(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                continue;
            }
            Err(Unreadable::Other) => {
                let params = json!({ "type": 1, "message": "a message was skipped: it is not JSON-RPC" });
                let _ = log.send(Notification::new("window/logMessage".to_owned(), params).into());
                continue;
            }
        };
        let is_exit = matches!(&message, Message::Notification(note) if note.method == "exit");
        if messages.send(message).is_err() || is_exit {
            break;
        }
    }
    Ok(())
}

/// Writes messages until nobody sends any more, and refusals as they come.
fn write_all(messages: &Receiver<Message>, mut refusals: Receiver<Value>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    loop {
        select! {
            recv(messages) -> message => match message {
                Ok(message) => message.write(&mut out)?,
                Err(_) => break,
            },
            recv(refusals) -> refusal => match refusal {
                Ok(refusal) => framing::write(&mut out, &refusal)?,
                Err(_) => refusals = never(),
            },
        }
        // Everything that is waiting goes out together.
        for message in messages.try_iter() {
            message.write(&mut out)?;
        }
        out.flush()?;
    }
    for refusal in refusals.try_iter() {
        framing::write(&mut out, &refusal)?;
    }
    out.flush()
}
