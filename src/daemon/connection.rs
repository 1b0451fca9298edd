//! Connections: frames in, requests to the actor, replies out. A peer that talks nonsense, dawdles or vanishes costs
//! its own connection and nothing else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use crate::engine::PollId;
use crate::host::protocol::{Hello, MAX_FRAME, PROTOCOL, Reply, Request, frame, is_shutdown};

use super::actor::{Asked, Message};

/// How long a peer may take for its next request, and to take in a reply. Parked hooks wait as long as they like.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before accepting again after the system had no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// What a connection reads at a time. Small, since hundreds may be parked; a frame that is longer grows its own room.
const CHUNK: usize = 1024;

/// Accepts connections for ever, those of this user only, and so many at once at the most as there is `room` for.
/// Those over that wait until others end.
pub(super) async fn accept(listener: UnixListener, actor: mpsc::Sender<Message>, room: usize) {
    let places = Arc::new(Semaphore::new(room));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let ours = rustix::process::geteuid().as_raw();
                if stream.peer_cred().is_ok_and(|peer| peer.uid() == ours) {
                    let attending = attend(stream, actor.clone());
                    tokio::spawn(async move {
                        attending.await;
                        drop(place);
                    });
                } else {
                    let note = "Another user came to the socket, and was turned away.".to_owned();
                    // Nobody listens any more when the daemon leaves.
                    let _ = actor.send(Message::Noted(note)).await;
                }
            }
            Err(error) => {
                let note = format!("A connection could not be accepted ({error}): hooks had to wait.");
                let _ = actor.send(Message::Noted(note)).await;
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
}

async fn attend(stream: UnixStream, actor: mpsc::Sender<Message>) {
    if actor.send(Message::Opened).await.is_err() {
        return;
    }
    // However it ends, the peer is told nothing more; there is nobody else to tell.
    let _ = converse(stream, &actor).await;
    let _ = actor.send(Message::Closed).await;
}

async fn converse(stream: UnixStream, actor: &mpsc::Sender<Message>) -> io::Result<()> {
    let (reader, writer) = stream.into_split();
    let mut lines = Lines { reader: BufReader::with_capacity(CHUNK, reader) };
    let mut replies = Replies { writer };

    let Some(first) = lines.next().await? else { return Ok(()) };
    if is_shutdown(&first) {
        let _ = actor.send(Message::Retire).await;
        // The end of the connection, which is the end of the daemon, is the answer.
        return std::future::pending().await;
    }
    let hello = serde_json::from_slice::<Hello>(&first);
    // A hook that has lost patience is gone by now. What it had to tell is told all the same: it lies behind its hello.
    let _ = replies.write(&Hello::ours(Some(std::process::id()))).await;
    match hello {
        Ok(hello) if hello.protocol == PROTOCOL => {}
        Ok(hello) => {
            let other = format!("protocol {} is not spoken here, but {PROTOCOL}", hello.protocol);
            return replies.write(&Reply::Failed(other)).await;
        }
        Err(_) => return replies.write(&Reply::Failed("a hello was expected".to_owned())).await,
    }
    loop {
        let line = match lines.next().await {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return replies.write(&Reply::Failed(error.to_string())).await;
            }
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&line) {
            Ok(request) => answer(request, &mut lines, &mut replies, actor).await?,
            Err(error) => replies.write(&Reply::Failed(format!("not understood: {error}"))).await?,
        }
    }
}

async fn answer(
    request: Request,
    lines: &mut Lines,
    replies: &mut Replies,
    actor: &mpsc::Sender<Message>,
) -> io::Result<()> {
    let poll = next_poll();
    let parks = matches!(request, Request::Park { .. });
    let silent = matches!(request, Request::WakeArrived { .. });
    let (reply, mut answer) = oneshot::channel();
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let asked = Asked { request, poll, reply };
    actor.send(Message::Asked(Box::new(asked))).await.map_err(|_| gone())?;
    let outcome = if parks {
        tokio::select! {
            answer = &mut answer => answer.ok(),
            () = lines.end() => None,
        }
    } else {
        answer.await.ok()
    };
    let written = match outcome {
        Some(_) if silent => return Ok(()),
        Some(reply) => replies.write(&reply).await,
        None => Err(gone()),
    };
    if parks && written.is_err() {
        let _ = actor.send(Message::PollGone(poll)).await;
    }
    written
}

/// A number of its own for every request, under which its connection can be parked.
fn next_poll() -> PollId {
    static LAST: AtomicU64 = AtomicU64::new(0);
    PollId::new(LAST.fetch_add(1, Ordering::Relaxed) + 1)
}

struct Lines {
    reader: BufReader<OwnedReadHalf>,
}

impl Lines {
    /// The next line without its end; `None` at the end of the connection, or when the peer takes too long.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        timeout(PATIENCE, self.read()).await.unwrap_or(Ok(None))
    }

    async fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(chunk.len());
            if line.len() + length > MAX_FRAME {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is too long"));
            }
            line.extend_from_slice(&chunk[..length]);
            self.reader.consume(end.map_or(length, |end| end + 1));
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }

    /// Waits for the end of the connection. If the peer says something instead, that waits its turn, and its end
    /// will show when it is written to.
    async fn end(&mut self) {
        match self.reader.fill_buf().await {
            Ok(chunk) if !chunk.is_empty() => std::future::pending().await,
            _ => {}
        }
    }
}

struct Replies {
    writer: OwnedWriteHalf,
}

impl Replies {
    async fn write(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        let frame = frame(value).map_err(io::Error::other)?;
        timeout(PATIENCE, self.writer.write_all(&frame)).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }
}
