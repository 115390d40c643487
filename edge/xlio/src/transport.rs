//! The transport.
//!
//! # Output
//!
//! A write of up to `INLINE_MAX` bytes is one inline send. Anything else is copied once into
//! registered memory and sent from there without another copy. An inline send has no completion;
//! but completions come in order, so inline bytes are counted to the next zero-copy send, which is
//! made at the latest when `INLINE_RUN_MAX` of them are outstanding. Thus what a socket has
//! outstanding is known, and bounded by [`XlioOptions::outstanding_bytes_max`]; at the bound, without
//! memory, and after `ENOMEM`, a write falls short. Without libibverbs there is no registered memory:
//! then everything is inline, and only the library's own memory bounds it.
//!
//! # Ends
//!
//! `CLOSED` is acted upon when everything that the same poll told has been told. Sockets are
//! destroyed between polls only. A closing socket counts as a socket until `TERMINATED`, for which
//! `CLOSING_MAX` is waited; its name is then forgotten, and a late event is of nobody.
//!
//! # Limits
//!
//! The library aborts the process when descriptors run out, and accepts by itself. So
//! [`XlioOptions::sockets_max`] is below the limit by what may be accepted in one poll; a connection
//! beyond it is reset at once.

mod output;
mod sockets;
mod telling;

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use goblin_protocol::service::{Closed, ConnectionId, ListenerId};
use goblin_protocol::time::{Now, Time};
use goblin_transport::{Events, Transport, TransportCounters};
use rustix::process::{Resource, getrlimit};

use crate::callbacks::{Tag, allocate_tag, release_tag};
use crate::group::{Group, SocketOption};
use crate::library::Xlio;
use crate::memory::Memory;
use crate::registration::Keys;

use sockets::{Place, Sockets, State};

/// Descriptors kept free: the library accepts up to 16 connections per ring and poll, needs a
/// second descriptor while it makes a socket, and the process has others.
const DESCRIPTORS_SPARE: usize = 128;
/// Twice what may be outstanding without a completion to come is needed for a connection that is
/// blocked to go on.
const OUTSTANDING_MIN: usize = 64 * 1024;
const _: () = assert!(OUTSTANDING_MIN >= 2 * output::INLINE_RUN_MAX);
/// Longest sleep: peers are acknowledged from polls only.
const SLEEP_MAX: Duration = Duration::from_micros(100);
/// How long a closing socket counts. The library itself gives up after 20 s, 120 s at worst.
const CLOSING_MAX: Duration = Duration::from_secs(120);
/// How long a transport that is dropped waits, for acknowledgements and then for its sockets.
const DROP_MAX: Duration = Duration::from_millis(200);

/// Where names of connections come from: one source per process.
pub trait Identities {
    /// A name that no living connection has; `None` when there is none left.
    fn allocate(&mut self) -> Option<ConnectionId>;

    /// Takes a name back.
    fn release(&mut self, id: ConnectionId);
}

/// What a transport is made from.
#[derive(Clone, Debug)]
pub struct XlioOptions {
    /// Where to listen: addresses of a card, no wildcards. The position is the [`ListenerId`].
    pub listeners: Vec<SocketAddr>,
    /// Where [`Transport::dial`] connects to; several are taken in turn. Empty: every dial fails.
    pub upstream: Vec<SocketAddr>,
    /// Seconds of silence before TCP asks whether the peer is there; 0 never does.
    pub keepalive_seconds: u32,
    /// How long a dial may take before it fails with `ETIMEDOUT`.
    pub dial_timeout: Duration,
    /// Bytes that one connection may have unacknowledged; at least `OUTSTANDING_MIN`, 64 KiB.
    pub outstanding_bytes_max: usize,
    /// Bytes of registered memory for all of them together, in chunks of 64 KiB.
    pub send_memory_bytes: usize,
    /// Most sockets, closing ones included; `None`: what `RLIMIT_NOFILE` allows, less a reserve.
    pub sockets_max: Option<usize>,
}

impl Default for XlioOptions {
    fn default() -> Self {
        Self {
            listeners: Vec::new(),
            upstream: Vec::new(),
            keepalive_seconds: 300,
            dial_timeout: Duration::from_secs(5),
            outstanding_bytes_max: 1024 * 1024,
            send_memory_bytes: 64 * 1024 * 1024,
            sockets_max: None,
        }
    }
}

/// Why a transport could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The library gives no group.
    Group(i32),
    /// Nothing is offloaded on a wildcard address.
    Wildcard(SocketAddr),
    /// An address cannot be listened on; `ENODEV` says that no card has it.
    Listen(SocketAddr, i32),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |error: &i32| std::io::Error::from_raw_os_error(*error);
        match self {
            Self::Group(error) => write!(f, "libxlio gives no polling group: {}", text(error)),
            Self::Wildcard(address) => {
                write!(
                    f,
                    "{address} is a wildcard: XLIO listens on a card's address only"
                )
            }
            Self::Listen(address, libc::ENODEV) => {
                write!(f, "{address} is not an address of an offload-capable card")
            }
            Self::Listen(address, error) => {
                write!(f, "XLIO cannot listen on {address}: {}", text(error))
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// TCP through the card.
#[derive(Debug)]
pub struct XlioTransport<I: Identities> {
    // Before the memory: completions may be lost when a group is destroyed.
    group: Group,
    memory: Memory,
    keys: Keys,
    identities: I,
    sockets: Sockets,
    /// Connections that ended outside of `poll`, to be told by the next.
    ended: Vec<(ConnectionId, Closed)>,
    /// Connections whose write fell short and that may go on.
    writable: Vec<ConnectionId>,
    /// Connections to end when what a poll told has been told.
    peer_closed: Vec<ConnectionId>,
    /// Connections whose write fell short for want of memory, the library's or ours.
    starved: Vec<ConnectionId>,
    /// Destroyed sockets, and until when their `TERMINATED` is waited for.
    closing: VecDeque<(Tag, Time)>,
    dials: Vec<(ConnectionId, Time)>,
    dialed: usize,
    accepting: bool,
    sockets_max: usize,
    options: XlioOptions,
    now: Time,
    counters: TransportCounters,
}

impl<I: Identities> XlioTransport<I> {
    /// Opens the listeners.
    ///
    /// # Errors
    ///
    /// The first address that cannot be listened on, with the library's reason.
    pub fn new(
        xlio: Arc<Xlio>,
        mut options: XlioOptions,
        identities: I,
    ) -> Result<Self, SetupError> {
        options.outstanding_bytes_max = options.outstanding_bytes_max.max(OUTSTANDING_MIN);
        let wildcard = options.listeners.iter().find(|it| it.ip().is_unspecified());
        if let Some(address) = wildcard {
            return Err(SetupError::Wildcard(*address));
        }
        let chunks = (options.send_memory_bytes / crate::memory::CHUNK_BYTES).max(1);
        let mut transport = Self {
            group: Group::new(xlio).map_err(SetupError::Group)?,
            memory: Memory::new(chunks),
            keys: Keys::default(),
            identities,
            sockets: Sockets::default(),
            ended: Vec::new(),
            writable: Vec::new(),
            peer_closed: Vec::new(),
            starved: Vec::new(),
            closing: VecDeque::new(),
            dials: Vec::new(),
            dialed: 0,
            accepting: true,
            sockets_max: options.sockets_max.unwrap_or_else(descriptors),
            options,
            now: Time::ZERO,
            counters: TransportCounters::default(),
        };
        for (number, address) in transport.options.listeners.clone().into_iter().enumerate() {
            let listener = ListenerId(u16::try_from(number).unwrap_or(u16::MAX));
            let opened = transport.listen(listener, address);
            opened.map_err(|error| SetupError::Listen(address, error))?;
        }
        Ok(transport)
    }

    /// Where a listener really listens: with the port that was chosen.
    pub fn local_address(&mut self, listener: ListenerId) -> Option<SocketAddr> {
        let socket = self.sockets.listener(listener)?;
        self.group.local_address(socket)
    }

    /// Bytes of all connections that were sent and are not known to be acknowledged.
    #[must_use]
    pub fn outstanding_bytes(&self) -> usize {
        self.sockets.outstanding_bytes()
    }

    fn listen(&mut self, listener: ListenerId, address: SocketAddr) -> Result<(), i32> {
        let tag = allocate_tag();
        let socket = self.group.create(address, tag)?;
        let reuse = SocketOption(libc::SOL_SOCKET, libc::SO_REUSEADDR, 1);
        self.group.set(socket, reuse)?;
        self.set_stream_options(socket);
        self.group.bind(socket, address)?;
        self.group.listen(socket)?;
        self.sockets
            .insert(tag, Place::new(socket, State::Listening(listener)));
        Ok(())
    }

    /// Accepted sockets inherit them. An option that is refused is no reason to refuse a client.
    fn set_stream_options(&mut self, socket: usize) {
        let nodelay = SocketOption(libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
        let _ = self.group.set(socket, nodelay);
        let seconds = i32::try_from(self.options.keepalive_seconds).unwrap_or(i32::MAX);
        if seconds == 0 {
            return;
        }
        let third = (seconds / 3).max(1);
        for option in [
            SocketOption(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
            SocketOption(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds),
            SocketOption(libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, third),
            SocketOption(libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 3),
        ] {
            let _ = self.group.set(socket, option);
        }
    }

    fn start_dial(&mut self, id: ConnectionId) -> Result<(), i32> {
        let count = self.options.upstream.len();
        let next = self.dialed.checked_rem(count);
        let target = next.and_then(|next| self.options.upstream.get(next).copied());
        let target = target.ok_or(libc::EDESTADDRREQ)?;
        self.dialed += 1;
        if self.sockets.len() >= self.sockets_max {
            return Err(libc::EMFILE);
        }
        let tag = allocate_tag();
        let socket = self
            .group
            .create(target, tag)
            .inspect_err(|_| release_tag(tag))?;
        self.set_stream_options(socket);
        let place = Place::new(socket, State::Dialing(id));
        self.sockets.insert(tag, place);
        self.sockets.name(id, tag);
        if let Err(error) = self.group.connect(socket, target) {
            self.sockets.forget_name(id);
            self.destroy(tag, true);
            return Err(error);
        }
        self.dials.push((id, self.now + self.options.dial_timeout));
        Ok(())
    }

    /// Everything that `poll` still has to tell.
    fn holds_more(&self) -> bool {
        self.group.has_told() || !self.ended.is_empty() || !self.writable.is_empty()
    }
}

/// How many sockets the process may have.
fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit)
        .unwrap_or(usize::MAX)
        .saturating_sub(DESCRIPTORS_SPARE)
}

impl<I: Identities> Transport for XlioTransport<I> {
    fn poll<E: Events>(&mut self, now: Now, events: &mut E) -> bool {
        self.now = now.monotonic;
        let mut told = self.tell_ended(events);
        told |= self.end_late_dials(events);
        self.group.poll();
        told |= self.tell(events);
        self.forget_late_closing();
        self.feed_starved();
        told |= self.tell_writable(events);
        told || self.holds_more()
    }

    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        self.write_slices(id, slices)
    }

    fn close(&mut self, id: ConnectionId) {
        if let Some(tag) = self.sockets.forget_name(id) {
            self.forget_id(id);
            self.destroy(tag, false);
        }
        if let Some(position) = self.ended.iter().position(|ended| ended.0 == id) {
            self.ended.remove(position);
            self.identities.release(id);
        }
    }

    fn can_pause(&self) -> bool {
        false
    }

    fn pause(&mut self, _id: ConnectionId) {}

    fn resume(&mut self, _id: ConnectionId) {}

    fn dial(&mut self) {
        let Some(id) = self.identities.allocate() else {
            return;
        };
        self.counters.dials += 1;
        if let Err(error) = self.start_dial(id) {
            self.ended.push((id, Closed::Unreachable(error)));
        }
    }

    fn close_listeners(&mut self) {
        self.accepting = false;
        for tag in self.sockets.listeners() {
            self.destroy(tag, false);
        }
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        if self.holds_more() {
            return;
        }
        self.counters.sleeps += 1;
        std::thread::sleep(timeout.map_or(SLEEP_MAX, |it| it.min(SLEEP_MAX)));
    }

    fn counters(&self) -> &TransportCounters {
        &self.counters
    }
}

impl<I: Identities> Drop for XlioTransport<I> {
    fn drop(&mut self) {
        // No zero-copy send may be in flight when the group is destroyed: who has not acknowledged
        // by then is reset, which completes them.
        self.poll_while(Sockets::owe);
        for tag in self.sockets.alive() {
            let owes = self
                .sockets
                .get_mut(tag)
                .is_some_and(|it| it.outstanding.bytes() > 0);
            self.destroy(tag, owes);
        }
        self.poll_while(|sockets| !sockets.is_empty());
    }
}

impl<I: Identities> XlioTransport<I> {
    fn poll_while(&mut self, waits: impl Fn(&Sockets) -> bool) {
        let started = Instant::now();
        while waits(&self.sockets) && started.elapsed() < DROP_MAX {
            self.group.poll();
            self.take_terminated();
        }
    }
}
