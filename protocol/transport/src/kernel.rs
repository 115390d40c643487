//! TCP and Unix sockets of the kernel.
//!
//! # What is asked, and when
//!
//! A question is a system call that may find nothing. The answers of earlier calls are kept, and
//! nothing is asked that they already tell:
//!
//! * Connections are registered once, **edge-triggered**, for reading. Level-triggered readiness
//!   would be told again by every check until it is read, would have to be switched off and on
//!   again to pause, and would report each connection whose bytes a spinning read has already
//!   taken. An edge is told once and kept here: as `readable`, until a read comes back short.
//!   A short read has emptied the socket, so it is not followed by one that finds nothing; what
//!   arrives later is another edge.
//! * Interest in writability is added when a write falls short for the first time, and then stays.
//! * Listeners are registered **level-triggered** and `accept` is called once per report. A queue
//!   of connections is thus taken one check at a time, interleaved with traffic, and no accept ever
//!   finds an empty queue (unless the peer gave up in between).
//! * While few connections are active (`hot`), a pass only reads from those, and readiness of
//!   all others is checked at a bounded rate, `CHECK_EVERY`, or `CHECK_EVERY_IDLE` while none
//!   is. While more are, one check per pass is the cheaper question.
//!
//! # Descriptors exhausted
//!
//! See `listener`: one spare descriptor is kept to accept and close with.
//!
//! # Limits of one poll
//!
//! `EVENTS_MAX` reports of readiness, `READS_MAX` reads of `RECEIVE_BYTES` each, one accept
//! per listener.

mod address;
mod connection;
mod ending;
mod hot;
mod listener;
mod opening;
mod poller;
mod reading;
mod socket;
mod waker;

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId, ListenerId};
use goblin_protocol::time::{Now, Time};
use rustix::io::Errno;

use crate::counters::TransportCounters;
use crate::identities::ConnectionIds;
use crate::transport::{Events, Transport};

pub use address::Address;
pub use listener::ListenOptions;
pub use waker::Waker;

use connection::{Connections, State};
use hot::Hot;
use listener::Listeners;
use poller::{Interest, Poller, Token};
use socket::StreamOptions;

/// Bytes of the one receive buffer, which is the most that one read takes from one connection
/// before the others have their turn.
const RECEIVE_BYTES: usize = 64 * 1024;
/// Most reports of readiness that one check takes.
const EVENTS_MAX: usize = 256;
/// Most reads of one poll, not counting the empty ones of the hot set: 4 MiB at the most, about a
/// millisecond of copying.
const READS_MAX: usize = 64;
/// How often readiness is checked while a pass has hot connections to read from. A check takes
/// 0.1 to 0.4 µs, which a hot message may have to wait for: at this rate a spinning echo over
/// loopback takes about 1 % longer than without checks, at 5 µs it takes 2 to 3 %. The price is that
/// the first message of a connection that was silent waits 10 µs on average.
const CHECK_EVERY: Duration = Duration::from_micros(20);
/// How often while there is nothing else to do: a check that finds nothing takes 0.1 µs, 2 % of a
/// spinning core, and the first message after a silence waits 2.5 µs on average.
const CHECK_EVERY_IDLE: Duration = Duration::from_micros(5);

/// What a kernel transport is made from.
#[derive(Clone, Debug)]
pub struct KernelOptions {
    /// Where to listen. The position is the [`ListenerId`].
    pub listeners: Vec<ListenOptions>,
    /// Where [`Transport::dial`] connects to; several are taken in turn. Empty: every dial fails.
    pub upstream: Vec<Address>,
    /// Seconds of silence before TCP asks whether the peer is there; 0 never does. As in Redis,
    /// three questions a third of it apart follow before the connection is given up.
    pub keepalive_seconds: u32,
    /// How long a dial may take before it fails with `ETIMEDOUT`.
    pub dial_timeout: Duration,
    /// Bytes that the kernel keeps for output per connection; `None` lets it decide.
    pub send_buffer_bytes: Option<usize>,
}

impl Default for KernelOptions {
    fn default() -> Self {
        Self {
            listeners: Vec::new(),
            upstream: Vec::new(),
            keepalive_seconds: 300,
            dial_timeout: Duration::from_secs(5),
            send_buffer_bytes: None,
        }
    }
}

/// Why a kernel transport could not be made.
#[derive(Debug)]
pub enum SetupError {
    /// The process has no readiness queue or no descriptors for it.
    Kernel(Errno),
    /// An address cannot be listened on.
    Listen {
        /// The address, as it was given.
        address: Address,
        /// What the kernel answered.
        cause: Errno,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(cause) => write!(f, "cannot watch sockets: {cause}"),
            Self::Listen { address, cause } => write!(f, "cannot listen on {address}: {cause}"),
        }
    }
}

impl std::error::Error for SetupError {}

/// TCP and Unix sockets.
#[derive(Debug)]
pub struct KernelTransport {
    listeners: Listeners,
    poller: Poller,
    identities: ConnectionIds,
    connections: Connections,
    hot: Hot,
    /// Connections to read from, each once: see [`Connection::queued`].
    ready: VecDeque<ConnectionId>,
    /// Connections that ended outside of `poll`, to be told by the next.
    ended: Vec<(ConnectionId, Closed)>,
    dials: Vec<(ConnectionId, Time)>,
    options: KernelOptions,
    /// Number of dials so far, which chooses the upstream.
    dialed: usize,
    waker: Waker,
    buffer: Box<[u8]>,
    now: Time,
    /// When readiness was asked about last; `None`: ask again at once.
    checked_at: Option<Time>,
    /// Reports were collected and not yet acted on.
    collected: bool,
    /// When a listener that backs off is asked about again.
    retry_at: Option<Time>,
    counters: TransportCounters,
}

impl KernelTransport {
    /// Opens the listeners. Everything else happens in the turn.
    ///
    /// # Errors
    ///
    /// The first address that cannot be listened on, with the kernel's reason.
    pub fn new(options: KernelOptions, identities: ConnectionIds) -> Result<Self, SetupError> {
        let poller = Poller::new().map_err(SetupError::Kernel)?;
        let waker = Waker::new().map_err(SetupError::Kernel)?;
        poller
            .add(&waker, Token::Waker, Interest::Level)
            .map_err(SetupError::Kernel)?;
        let stream = stream_options(&options);
        Ok(Self {
            listeners: Listeners::open(&options.listeners, stream, &poller)?,
            poller,
            identities,
            connections: Connections::default(),
            hot: Hot::default(),
            ready: VecDeque::new(),
            ended: Vec::new(),
            dials: Vec::new(),
            options,
            dialed: 0,
            waker,
            buffer: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            now: Time::ZERO,
            checked_at: None,
            collected: false,
            retry_at: None,
            counters: TransportCounters::default(),
        })
    }

    /// Where a listener really listens: with the port that the kernel chose.
    #[must_use]
    pub fn local_address(&self, listener: ListenerId) -> Option<&Address> {
        self.listeners.address(listener)
    }

    /// What ends this transport's sleep from outside.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// How long until something is due that no socket reports.
    fn next_due(&self) -> Option<Duration> {
        let dial = self.dials.iter().map(|dial| dial.1).min();
        let due = match (dial, self.retry_at) {
            (Some(dial), Some(retry)) => Some(dial.min(retry)),
            (dial, retry) => dial.or(retry),
        };
        due.map(|due| due.since(self.now))
    }
}

impl Transport for KernelTransport {
    fn poll<E: Events>(&mut self, now: Now, events: &mut E) -> bool {
        self.now = now.monotonic;
        let mut told = self.tell_ended(events);
        self.end_late_dials(events);
        if self.listeners.backs_off() {
            self.retry_at = self
                .listeners
                .retry(self.now, &self.poller, &mut self.counters);
        }
        self.hot.expire(self.now);
        self.check();
        told |= self.take_reports(events);
        told |= self.read_ready(events);
        told |= self.read_hot(events);
        told || !self.ready.is_empty() || !self.ended.is_empty()
    }

    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        let Some(connection) = self.connections.get_mut(id) else {
            return 0;
        };
        if connection.blocked || connection.state == State::Dialing {
            return 0;
        }
        self.counters.writes += 1;
        match socket::send(&connection.socket, slices) {
            Ok(taken) => {
                self.counters.bytes_out += taken as u64;
                if taken < slices.iter().map(|slice| slice.len()).sum() {
                    self.block(id);
                }
                taken
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => {
                self.block(id);
                0
            }
            Err(cause) => {
                self.fail(id, cause);
                0
            }
        }
    }

    fn close(&mut self, id: ConnectionId) {
        self.forget(id);
        if let Some(position) = self.ended.iter().position(|ended| ended.0 == id) {
            self.ended.remove(position);
            self.identities.release(id);
        }
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn pause(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.paused = true;
            self.hot.remove(id);
        }
    }

    fn resume(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.paused = false;
            self.queue(id);
        }
    }

    fn dial(&mut self) {
        let Some(id) = self.identities.allocate() else {
            return;
        };
        self.counters.dials += 1;
        if let Err(cause) = self.start_dial(id) {
            self.ended
                .push((id, Closed::Unreachable(cause.raw_os_error())));
        }
    }

    fn close_listeners(&mut self) {
        self.listeners.close();
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        if self.collected || !self.ready.is_empty() || !self.ended.is_empty() {
            return;
        }
        let timeout = match (timeout, self.next_due()) {
            (Some(timeout), Some(due)) => Some(timeout.min(due)),
            (timeout, due) => timeout.or(due),
        };
        self.counters.sleeps += 1;
        self.poller.collect(timeout);
        self.collected = true;
    }

    fn counters(&self) -> &TransportCounters {
        &self.counters
    }
}

fn stream_options(options: &KernelOptions) -> StreamOptions {
    StreamOptions {
        keepalive_seconds: options.keepalive_seconds,
        send_buffer_bytes: options.send_buffer_bytes,
    }
}

#[cfg(test)]
mod tests;
