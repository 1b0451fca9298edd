//! The parked Stop hook: it waits at the daemon until there is a wake or nothing more to wait for, over any number of
//! daemons.

use std::thread;
use std::time::{Duration, Instant};

use crate::engine::SessionId;
use crate::host::client::{Absence, Client, ClientError, Connection, stagger};
use crate::host::dirs::Home;
use crate::host::protocol::{Reply, Request, WakeOrder};

/// How long one attempt to reach a daemon may take, starting it included.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before the first new attempt; each further wait is twice as long.
const BACKOFF: Duration = Duration::from_millis(20);

/// The longest wait between attempts.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What is not answered by then is going to wait.
const AT_ONCE: Duration = Duration::from_millis(200);

/// After so many attempts in a row without being parked the session is let go: about three minutes.
const ATTEMPTS: u32 = 14;

/// So often a hook looks for another daemon before it starts one. Who retires a daemon starts the next, and so does any
/// other hook: that hundreds of parked ones do it too would only keep it from coming up.
const LOOKS: u32 = 3;

/// A connection that has lasted so long was a parked one: what ends it is a new trouble, not the old one.
const PARKED: Duration = Duration::from_secs(1);

/// A wake that has come.
pub(super) struct Arrival {
    pub(super) order: WakeOrder,
    connection: Connection,
}

impl Arrival {
    /// Tells the daemon that the wake is with the client now. If this is lost, the wake's own turn tells it.
    pub(super) fn confirm(mut self, session: SessionId) {
        let _ = self.connection.send(&Request::WakeArrived { session });
    }
}

/// Waits for a wake; none if there is nothing more to wait for. `request` parks this hook, as often as it must.
pub(super) fn wait(home: &Home, request: &Request) -> Option<Arrival> {
    let mut client = Client::new(home);
    let mut attempt = 0;
    loop {
        let began = Instant::now();
        let until = began + PATIENCE;
        let connection = if (1..=LOOKS).contains(&attempt) {
            Connection::to_daemon_of(home, until)
        } else {
            client.connect(Absence::Start, until)
        };
        let error = match connection.and_then(|connection| wait_at(connection, request)) {
            Ok(arrival) => return arrival,
            Err(error) => error,
        };
        if began.elapsed() >= PARKED && matches!(error, ClientError::Broken(_)) {
            attempt = 0;
        }
        match error {
            ClientError::Outdated(_) => client.retire(Instant::now() + PATIENCE),
            error if !error.is_passing() => return None,
            _ => {}
        }
        attempt += 1;
        if attempt >= ATTEMPTS {
            return None;
        }
        // Up to twice as long: when a daemon goes, hundreds may lose it at once.
        let wait = BACKOFF.saturating_mul(1 << (attempt - 1)).min(LONGEST_BACKOFF);
        thread::sleep(wait + stagger(wait));
    }
}

fn wait_at(mut connection: Connection, request: &Request) -> Result<Option<Arrival>, ClientError> {
    connection.send(request)?;
    let reply = match connection.receive(Some(Instant::now() + AT_ONCE)) {
        Err(ClientError::Slow) => {
            #[cfg(target_os = "linux")]
            super::slim::give_code_back();
            connection.receive(None)
        }
        outcome => outcome,
    };
    match reply? {
        Reply::Wake(order) if !order.forks.is_empty() => Ok(Some(Arrival { order, connection })),
        _ => Ok(None),
    }
}
