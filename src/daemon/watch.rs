//! Watching clients: the end of a client's process ends its sessions, even one that said nothing of it.
//!
//! Linux tells of the end of a process through a file descriptor, so that nobody has to look again and again. Where
//! that is not to be had, the engine's own questions must do.

use std::collections::HashMap;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::engine::ClientProcess;

#[derive(Debug)]
pub(super) struct Watch {
    watched: HashMap<ClientProcess, AbortHandle>,
    exits: mpsc::UnboundedSender<ClientProcess>,
}

impl Watch {
    /// A watch, and where it tells of the processes that have ended.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<ClientProcess>) {
        let (exits, told) = mpsc::unbounded_channel();
        (Self { watched: HashMap::new(), exits }, told)
    }

    /// Watches a process, if that was not done already.
    pub(super) fn add(&mut self, client: Option<ClientProcess>) {
        if let Some(client) = client
            && cfg!(target_os = "linux")
            && !self.watched.contains_key(&client)
        {
            let exits = self.exits.clone();
            let watching = tokio::spawn(async move {
                if ended(client).await {
                    // Nobody listens any more when the daemon leaves.
                    let _ = exits.send(client);
                }
            });
            self.watched.insert(client, watching.abort_handle());
        }
    }

    /// Watches it no longer.
    pub(super) fn remove(&mut self, client: ClientProcess) {
        if let Some(watching) = self.watched.remove(&client) {
            watching.abort();
        }
    }
}

/// Waits for the end of a process; false if that cannot be watched.
#[cfg(target_os = "linux")]
async fn ended(client: ClientProcess) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let Some(pid) = i32::try_from(client.pid).ok().and_then(Pid::from_raw) else { return false };
    let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(Errno::SRCH) => return true,
        Err(_) => return false,
    };
    // Looked at once it is held: from here on the id cannot come to mean another process.
    if !crate::host::process::is_alive(client) {
        return true;
    }
    // SAFETY: an `OwnedFd` keeps its descriptor open for as long as it lives and always names the same one.
    match unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) } {
        Ok(descriptor) => descriptor.readable().await.is_ok(),
        Err(_) => false,
    }
}

#[cfg(not(target_os = "linux"))]
async fn ended(_: ClientProcess) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::host::process::identify;

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn the_end_of_a_process_is_told_once_and_another_one_of_its_id_is_not_taken_for_it() {
        let (mut watch, mut told) = Watch::new();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let client = identify(child.id()).unwrap();
        let impostor = ClientProcess { start: client.start + 1, ..client };
        watch.add(Some(client));
        watch.add(Some(client));
        watch.add(Some(impostor));
        watch.add(None);
        assert_eq!(told.recv().await, Some(impostor), "that one is long gone");
        child.stdin = None;
        let patience = Duration::from_secs(5);
        assert_eq!(tokio::time::timeout(patience, told.recv()).await, Ok(Some(client)));
        child.wait().unwrap();
        watch.remove(client);
        watch.add(Some(client));
        assert_eq!(tokio::time::timeout(patience, told.recv()).await, Ok(Some(client)), "nobody has that id now");
    }
}
