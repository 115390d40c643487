//! A transport with somebody in the middle, who can replace what the link's messages say.
//!
//! This is how faults are planted: outside the cores, in what a process receives over the link. Frames
//! keep their numbers, so the link itself notices nothing. Without a [`Tamper`] the tap does nothing.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::link::frame::{self, FRAME_BYTES_MAX, Frame, Kind};
use goblin_protocol::service::{Closed, ConnectionId, ListenerId, Opened};
use goblin_protocol::time::Now;
use goblin_transport::simulated::SimulatedTransport;
use goblin_transport::{Events, Transport, TransportCounters};

/// The host's listener for edges.
pub(crate) const LINK_LISTENER: ListenerId = ListenerId(1);

/// Whoever sits in the middle.
pub(crate) trait Tamper {
    /// The link has another connection.
    fn connected(&mut self) {}

    /// A message arrives in one data frame. Returns what it is replaced by.
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>>;
}

/// The transport of a node.
pub(crate) struct Tap {
    inner: SimulatedTransport,
    middle: Option<Middle>,
}

struct Middle {
    tamper: Box<dyn Tamper>,
    /// What was received over each connection of the link and is not a whole frame yet.
    partial: BTreeMap<ConnectionId, Vec<u8>>,
}

impl Tap {
    pub(crate) fn new(inner: SimulatedTransport, tamper: Option<Box<dyn Tamper>>) -> Self {
        Self {
            inner,
            middle: tamper.map(|tamper| Middle {
                tamper,
                partial: BTreeMap::new(),
            }),
        }
    }
}

impl Transport for Tap {
    fn poll<E: Events>(&mut self, now: Now, events: &mut E) -> bool {
        match &mut self.middle {
            None => self.inner.poll(now, events),
            Some(middle) => self.inner.poll(now, &mut Rewriting { middle, events }),
        }
    }

    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        self.inner.write(id, slices)
    }

    fn close(&mut self, id: ConnectionId) {
        self.inner.close(id);
    }

    fn can_pause(&self) -> bool {
        self.inner.can_pause()
    }

    fn pause(&mut self, id: ConnectionId) {
        self.inner.pause(id);
    }

    fn resume(&mut self, id: ConnectionId) {
        self.inner.resume(id);
    }

    fn dial(&mut self) {
        self.inner.dial();
    }

    fn close_listeners(&mut self) {
        self.inner.close_listeners();
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        self.inner.wait(timeout);
    }

    fn counters(&self) -> &TransportCounters {
        self.inner.counters()
    }
}

struct Rewriting<'a, E> {
    middle: &'a mut Middle,
    events: &'a mut E,
}

impl<E: Events> Events for Rewriting<'_, E> {
    fn opened(&mut self, id: ConnectionId, how: Opened<'_>) {
        let is_link = match how {
            Opened::Dialed => true,
            Opened::Accepted { listener, .. } => listener == LINK_LISTENER,
        };
        if is_link {
            self.middle.partial.insert(id, Vec::new());
            self.middle.tamper.connected();
        }
        self.events.opened(id, how);
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8]) {
        let Some(partial) = self.middle.partial.get_mut(&id) else {
            return self.events.received(id, bytes);
        };
        partial.extend_from_slice(bytes);
        let mut rewritten = Vec::new();
        let tamper = self.middle.tamper.as_mut();
        let mut read = 0;
        while let Ok(Some(length)) = frame::length(&partial[read..], FRAME_BYTES_MAX) {
            let Some(bytes) = partial.get(read..read + length) else {
                break;
            };
            rewrite(tamper, bytes, &mut rewritten);
            read += length;
        }
        partial.drain(..read);
        if !rewritten.is_empty() {
            self.events.received(id, &rewritten);
        }
    }

    fn writable(&mut self, id: ConnectionId) {
        self.events.writable(id);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed) {
        self.middle.partial.remove(&id);
        self.events.closed(id, why);
    }
}

fn rewrite(tamper: &mut dyn Tamper, bytes: &[u8], out: &mut Vec<u8>) {
    let whole = |frame: &Frame<'_>| {
        let header = frame.header;
        header.kind == Kind::Data && header.flags.is_first() && header.flags.is_last()
    };
    let replaced = Frame::decode(bytes)
        .ok()
        .filter(whole)
        .and_then(|frame| Some((frame.header, tamper.message(frame.payload)?)));
    match replaced {
        Some((header, payload)) => header.put(&payload, out),
        None => out.extend_from_slice(bytes),
    }
}
