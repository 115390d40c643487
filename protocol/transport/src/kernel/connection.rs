//! The connections of a kernel transport, found by identity.

use std::os::fd::OwnedFd;

use goblin_protocol::service::ConnectionId;
use rustix::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Connecting; the core does not know it yet.
    Dialing,
    Open,
}

/// One socket and what the kernel has told about it that has not been used up.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    pub(super) state: State,
    /// The core wants no bytes.
    pub(super) paused: bool,
    /// A read will find something.
    pub(super) readable: bool,
    /// The peer will send no more: a short read is followed by another, which finds the end.
    pub(super) ending: bool,
    /// Stands in the queue of connections to read from.
    pub(super) queued: bool,
    /// A write fell short, and room has not been reported since.
    pub(super) blocked: bool,
    /// Room for output is reported.
    pub(super) watches_room: bool,
    /// A write failed. What the peer had sent before is still read, then the connection ends.
    pub(super) failed: Option<Errno>,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd, state: State) -> Self {
        Self {
            socket,
            state,
            paused: false,
            readable: false,
            ending: false,
            queued: false,
            blocked: false,
            watches_room: false,
            failed: None,
        }
    }
}

/// A table by index. Indices of other transports of the process are empty places in it.
#[derive(Debug, Default)]
pub(super) struct Connections {
    places: Vec<Option<(u32, Connection)>>,
}

impl Connections {
    pub(super) fn insert(&mut self, id: ConnectionId, connection: Connection) {
        let index = id.index as usize;
        if self.places.len() <= index {
            self.places.resize_with(index + 1, || None);
        }
        if let Some(place) = self.places.get_mut(index) {
            *place = Some((id.generation, connection));
        }
    }

    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        match self.places.get_mut(id.index as usize)? {
            Some((generation, connection)) if *generation == id.generation => Some(connection),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        self.get_mut(id)?;
        let (_, connection) = self.places.get_mut(id.index as usize)?.take()?;
        Some(connection)
    }
}
