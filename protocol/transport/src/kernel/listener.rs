//! Accepting, and what happens when the process has no descriptor left for it.
//!
//! A connection that cannot be accepted stays in the kernel's queue, so its listener stays ready
//! and would be reported for ever. Therefore one spare descriptor is kept: it is given up, the
//! connection is accepted with it and closed, and the spare is taken back. Each report thus takes
//! one connection from the queue, and its peer learns at once that it is refused. If even the spare
//! is gone (another thread took it), the listener is not asked about for [`BACK_OFF`].

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use goblin_protocol::service::ListenerId;
use goblin_protocol::time::Time;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::net::{self, SocketAddrAny, SocketFlags};

use super::SetupError;
use super::address::Address;
use super::poller::{Interest, Poller, Token};
use super::socket::{self, StreamOptions};
use crate::counters::TransportCounters;

/// How long a listener that cannot accept is left alone.
const BACK_OFF: Duration = Duration::from_millis(100);
/// Shortest time between two log lines about refused connections.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// One address to listen on.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// The address. A TCP port of 0 lets the kernel choose.
    pub address: Address,
    /// Most connections that wait to be accepted; the kernel may lower it.
    pub backlog: u32,
    /// Permission bits of a Unix socket's file; `None` leaves what the process's mask gives.
    pub permissions: Option<u32>,
}

impl ListenOptions {
    /// Listens with Redis's backlog of 511.
    #[must_use]
    pub fn new(address: Address) -> Self {
        Self {
            address,
            backlog: 511,
            permissions: None,
        }
    }
}

/// A connection from a listener's queue.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) socket: OwnedFd,
    pub(super) listener: ListenerId,
    pub(super) peer: String,
    pub(super) local: String,
}

#[derive(Debug)]
struct Listener {
    id: ListenerId,
    socket: OwnedFd,
    /// With the port that the kernel chose.
    address: Address,
    /// Set while nothing is asked.
    retry_at: Option<Time>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address {
            socket::remove_socket_file(path);
        }
    }
}

#[derive(Debug)]
pub(super) struct Listeners {
    listeners: Vec<Listener>,
    spare: Option<OwnedFd>,
    refused_unlogged: u64,
    log_at: Time,
}

impl Listeners {
    pub(super) fn open(
        options: &[ListenOptions],
        stream: StreamOptions,
        poller: &Poller,
    ) -> Result<Self, SetupError> {
        let mut listeners = Vec::with_capacity(options.len());
        for (position, options) in (0_u16..).zip(options) {
            let listener = Listener::open(ListenerId(position), options, stream, poller);
            listeners.push(listener.map_err(|cause| SetupError::Listen {
                address: options.address.clone(),
                cause,
            })?);
        }
        Ok(Self {
            listeners,
            spare: Some(spare().map_err(SetupError::Kernel)?),
            refused_unlogged: 0,
            log_at: Time::ZERO,
        })
    }

    pub(super) fn address(&self, id: ListenerId) -> Option<&Address> {
        let mut listeners = self.listeners.iter();
        Some(&listeners.find(|listener| listener.id == id)?.address)
    }

    pub(super) fn close(&mut self) {
        self.listeners.clear();
    }

    /// Takes one connection from the queue of a listener that was reported ready.
    pub(super) fn accept(
        &mut self,
        id: ListenerId,
        now: Time,
        poller: &Poller,
        counters: &mut TransportCounters,
    ) -> Option<Accepted> {
        let position = self
            .listeners
            .iter()
            .position(|listener| listener.id == id)?;
        let listener = self.listeners.get(position)?;
        match accept(&listener.socket, counters) {
            Ok((socket, peer)) => Some(listener.describe(socket, peer)),
            // The peer gave up, a filter forbade it, or the network failed: nothing to keep.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED | Errno::PERM | Errno::PROTO) => {
                None
            }
            Err(cause) => {
                let exhausted = matches!(cause, Errno::MFILE | Errno::NFILE);
                if !exhausted || !self.refuse(position, counters) {
                    self.back_off(position, now, poller, counters);
                }
                self.log(now, cause);
                None
            }
        }
    }

    /// Asks again about the listeners whose time has come, and returns the time of the next.
    pub(super) fn retry(
        &mut self,
        now: Time,
        poller: &Poller,
        counters: &mut TransportCounters,
    ) -> Option<Time> {
        let mut next: Option<Time> = None;
        if self.spare.is_none() {
            self.spare = spare().ok();
        }
        for listener in &mut self.listeners {
            let Some(at) = listener.retry_at else {
                continue;
            };
            listener.retry_at = if at > now {
                Some(at)
            } else if listener.ask(Interest::Accept, poller, counters).is_ok() {
                None
            } else {
                Some(now + BACK_OFF)
            };
            next = match (next, listener.retry_at) {
                (Some(next), Some(at)) => Some(next.min(at)),
                (next, at) => next.or(at),
            };
        }
        next
    }

    /// Whether `retry` has anything to do.
    pub(super) fn backs_off(&self) -> bool {
        self.listeners
            .iter()
            .any(|listener| listener.retry_at.is_some())
    }

    /// Accepts with the spare descriptor and closes. Returns whether there is a spare again.
    fn refuse(&mut self, position: usize, counters: &mut TransportCounters) -> bool {
        if self.spare.take().is_some()
            && let Some(listener) = self.listeners.get(position)
            && accept(&listener.socket, counters).is_ok()
        {
            counters.accepts_refused += 1;
            self.refused_unlogged += 1;
        }
        self.spare = spare().ok();
        self.spare.is_some()
    }

    fn back_off(
        &mut self,
        position: usize,
        now: Time,
        poller: &Poller,
        counters: &mut TransportCounters,
    ) {
        if let Some(listener) = self.listeners.get_mut(position) {
            listener.retry_at = Some(now + BACK_OFF);
            // If it cannot be changed it is reported again, and this is done again.
            let _ = listener.ask(Interest::Nothing, poller, counters);
        }
    }

    fn log(&mut self, now: Time, cause: Errno) {
        if now < self.log_at {
            return;
        }
        tracing::warn!(
            refused = self.refused_unlogged,
            %cause,
            "cannot accept connections; existing ones are not affected"
        );
        self.refused_unlogged = 0;
        self.log_at = now + LOG_EVERY;
    }
}

impl Listener {
    fn open(
        id: ListenerId,
        options: &ListenOptions,
        stream: StreamOptions,
        poller: &Poller,
    ) -> Result<Self, Errno> {
        let socket = socket::listen(options, stream)?;
        poller.add(&socket, Token::Listener(id.0), Interest::Accept)?;
        let address = match &options.address {
            Address::Tcp(_) => Address::Tcp(tcp_address(net::getsockname(&socket)?)?),
            Address::Unix(path) => Address::Unix(path.clone()),
        };
        Ok(Self {
            id,
            socket,
            address,
            retry_at: None,
        })
    }

    fn ask(
        &self,
        interest: Interest,
        poller: &Poller,
        counters: &mut TransportCounters,
    ) -> Result<(), Errno> {
        counters.interest_changes += 1;
        poller.change(&self.socket, Token::Listener(self.id.0), interest)
    }

    fn describe(&self, socket: OwnedFd, peer: Option<SocketAddrAny>) -> Accepted {
        let (peer, local) = match &self.address {
            Address::Unix(path) => (unix_text(path), unix_text(path)),
            Address::Tcp(listened) => {
                let local = net::getsockname(&socket).and_then(tcp_address);
                let peer = peer.ok_or(Errno::NOTCONN).and_then(tcp_address);
                (
                    peer.map_or_else(|_| "?:0".to_owned(), |peer| peer.to_string()),
                    local.unwrap_or(*listened).to_string(),
                )
            }
        };
        Accepted {
            socket,
            listener: self.id,
            peer,
            local,
        }
    }
}

fn accept(
    socket: impl AsFd,
    counters: &mut TransportCounters,
) -> Result<(OwnedFd, Option<SocketAddrAny>), Errno> {
    counters.accept_calls += 1;
    net::acceptfrom_with(socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)
}

fn tcp_address(address: SocketAddrAny) -> Result<SocketAddr, Errno> {
    SocketAddr::try_from(address)
}

fn unix_text(path: &Path) -> String {
    format!("{}:0", path.display())
}

/// A descriptor that needs nothing of the file system.
fn spare() -> Result<OwnedFd, Errno> {
    eventfd(0, EventfdFlags::CLOEXEC)
}
