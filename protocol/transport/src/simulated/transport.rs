//! The transport of one node of the network.

use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId, ListenerId, Opened};
use goblin_protocol::time::Now;

use super::state::{EndpointId, Stage, State};
use super::{Network, NodeId};
use crate::counters::TransportCounters;
use crate::identities::ConnectionIds;
use crate::transport::{Events, Transport};

/// Largest piece in which bytes are told when the shape does not say.
const CHUNK_BYTES: usize = 64 * 1024;
/// Most connections that one poll tells about.
const CONNECTIONS_PER_POLL: usize = 64;

/// Moves bytes between a core and the simulated network.
#[derive(Debug)]
pub struct SimulatedTransport {
    network: Network,
    node: NodeId,
    incarnation: u32,
    identities: ConnectionIds,
    /// By index.
    connections: Vec<Option<(u32, EndpointId)>>,
    listeners: u16,
    upstream: String,
    counters: TransportCounters,
}

/// What one step of one connection comes to, told once the network is no longer borrowed.
enum Told {
    Accepted(ConnectionId, ListenerId, String, String),
    Dialed(ConnectionId),
    Received(ConnectionId, Vec<u8>),
    Writable(ConnectionId),
    Closed(ConnectionId, Closed),
}

impl SimulatedTransport {
    pub(super) fn new(network: Network, node: NodeId, identities: ConnectionIds) -> Self {
        let incarnation = network.state.borrow_mut().incarnate(node);
        Self {
            network,
            node,
            incarnation,
            identities,
            connections: Vec::new(),
            listeners: 0,
            upstream: String::new(),
            counters: TransportCounters::default(),
        }
    }

    /// Listens on a name; `None` if somebody does already. Listeners are numbered in the order of
    /// the calls.
    pub fn listen(&mut self, address: &str) -> Option<ListenerId> {
        let id = ListenerId(self.listeners);
        let listens = self
            .network
            .state
            .borrow_mut()
            .listen(address, self.node, id);
        self.listeners += u16::from(listens);
        listens.then_some(id)
    }

    /// Sets the name that [`Transport::dial`] connects to.
    pub fn set_upstream(&mut self, address: &str) {
        address.clone_into(&mut self.upstream);
    }

    fn endpoint(&self, id: ConnectionId) -> Option<EndpointId> {
        match self.connections.get(id.index as usize)? {
            Some((generation, endpoint)) if *generation == id.generation => Some(*endpoint),
            _ => None,
        }
    }

    fn name(&mut self, endpoint: EndpointId) -> Option<ConnectionId> {
        let id = self.identities.allocate()?;
        let index = id.index as usize;
        if self.connections.len() <= index {
            self.connections.resize(index + 1, None);
        }
        *self.connections.get_mut(index)? = Some((id.generation, endpoint));
        Some(id)
    }

    fn forget(&mut self, id: ConnectionId) {
        if let Some(place) = self.connections.get_mut(id.index as usize) {
            *place = None;
        }
        self.identities.release(id);
    }

    fn is_alive(&self) -> bool {
        let state = self.network.state.borrow();
        state.is_alive(self.node, self.incarnation)
    }

    /// Looks at one connection and adds what is to be told of it. Returns whether more is there.
    fn step(&mut self, state: &mut State, endpoint_id: EndpointId, told: &mut Vec<Told>) -> bool {
        let now = state.now;
        let Some(endpoint) = state.endpoint(endpoint_id) else {
            return false;
        };
        match endpoint.stage {
            Stage::Dialing(at) | Stage::Arriving(at, _) if at > now => return false,
            Stage::Dialing(_) | Stage::Arriving(..) => {
                return self.open(state, endpoint_id, told);
            }
            Stage::Open => {}
        }
        let Some(id) = endpoint.id else {
            return false;
        };
        let (blocked, paused) = (endpoint.blocked, endpoint.paused);
        if blocked && state.room(endpoint_id) > 0 {
            if let Some(endpoint) = state.endpoint(endpoint_id) {
                endpoint.blocked = false;
            }
            told.push(Told::Writable(id));
        }
        if paused {
            return false;
        }
        let limit = match state.shape.chunk_bytes_max {
            Some(most) => state.random.size(most),
            None => CHUNK_BYTES,
        };
        let bytes = state.take(endpoint_id, limit);
        if !bytes.is_empty() {
            told.push(Told::Received(id, bytes));
        }
        let Some(endpoint) = state.endpoint(endpoint_id) else {
            return false;
        };
        if let Some(why) = endpoint.inbox.ended(now) {
            state.remove(endpoint_id);
            told.push(Told::Closed(id, why));
            return false;
        }
        endpoint.inbox.has_arrived(now)
    }

    /// A dial is answered, or a listener hears of a connection.
    fn open(&mut self, state: &mut State, endpoint_id: EndpointId, told: &mut Vec<Told>) -> bool {
        let now = state.now;
        let Some(endpoint) = state.endpoint(endpoint_id) else {
            return false;
        };
        let refused = endpoint.inbox.ended(now);
        if endpoint.inbox.is_refused() && refused.is_none() {
            return false;
        }
        let Some(id) = self.name(endpoint_id) else {
            return false;
        };
        match (endpoint.stage, refused) {
            (_, Some(why @ Closed::Unreachable(_))) => {
                state.remove(endpoint_id);
                told.push(Told::Closed(id, why));
                return false;
            }
            (Stage::Arriving(_, listener), _) => {
                let local = endpoint.address.clone();
                told.push(Told::Accepted(id, listener, endpoint_id.peer_text(), local));
            }
            _ => told.push(Told::Dialed(id)),
        }
        endpoint.stage = Stage::Open;
        endpoint.id = Some(id);
        true
    }

    fn tell<E: Events>(&mut self, told: Told, events: &mut E) {
        match told {
            Told::Accepted(id, listener, peer, local) => {
                self.counters.accepts += 1;
                let (peer, local) = (&peer, &local);
                events.opened(
                    id,
                    Opened::Accepted {
                        listener,
                        peer,
                        local,
                    },
                );
            }
            Told::Dialed(id) => events.opened(id, Opened::Dialed),
            Told::Received(id, bytes) => {
                self.counters.reads += 1;
                self.counters.bytes_in += bytes.len() as u64;
                events.received(id, &bytes);
            }
            Told::Writable(id) => events.writable(id),
            Told::Closed(id, why) => {
                self.counters.reads_ended += 1;
                self.forget(id);
                events.closed(id, why);
            }
        }
    }
}

impl Transport for SimulatedTransport {
    fn poll<E: Events>(&mut self, now: Now, events: &mut E) -> bool {
        self.network.advance_to(now.monotonic);
        if !self.is_alive() {
            return false;
        }
        let network = self.network.clone();
        let mut told = Vec::new();
        let mut more = false;
        {
            let mut state = network.state.borrow_mut();
            let mut endpoints = state.endpoints_of(self.node);
            if !endpoints.is_empty() {
                let start = state.random.up_to(endpoints.len() as u64 - 1);
                endpoints.rotate_left(usize::try_from(start).unwrap_or(0));
            }
            for endpoint in endpoints {
                if told.len() >= CONNECTIONS_PER_POLL {
                    more = true;
                    break;
                }
                more |= self.step(&mut state, endpoint, &mut told);
            }
        }
        more |= !told.is_empty();
        for told in told {
            self.tell(told, events);
        }
        more
    }

    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        let Some(endpoint_id) = self.endpoint(id).filter(|_| self.is_alive()) else {
            return 0;
        };
        let mut state = self.network.state.borrow_mut();
        if state.endpoint(endpoint_id).is_none_or(|it| it.blocked) {
            return 0;
        }
        self.counters.writes += 1;
        let mut room = state.room(endpoint_id);
        if state.shape.short_writes && state.random.one_in(4) {
            room = state.random.size(room.clamp(1, CHUNK_BYTES)).min(room);
        }
        let mut bytes = Vec::new();
        for slice in slices {
            let left = room - bytes.len();
            bytes.extend_from_slice(slice.get(..left).unwrap_or(slice));
        }
        state.send(endpoint_id, &bytes);
        if bytes.len() < slices.iter().map(|slice| slice.len()).sum() {
            self.counters.writes_short += 1;
            if let Some(endpoint) = state.endpoint(endpoint_id) {
                endpoint.blocked = true;
            }
        }
        self.counters.bytes_out += bytes.len() as u64;
        bytes.len()
    }

    fn close(&mut self, id: ConnectionId) {
        let Some(endpoint) = self.endpoint(id) else {
            return;
        };
        if self.is_alive() {
            self.network.state.borrow_mut().close(endpoint);
        }
        self.forget(id);
    }

    fn can_pause(&self) -> bool {
        true
    }

    fn pause(&mut self, id: ConnectionId) {
        self.set_paused(id, true);
    }

    fn resume(&mut self, id: ConnectionId) {
        self.set_paused(id, false);
    }

    fn dial(&mut self) {
        if self.is_alive() {
            self.counters.dials += 1;
            let mut state = self.network.state.borrow_mut();
            state.dial(self.node, &self.upstream);
        }
    }

    fn close_listeners(&mut self) {
        if self.is_alive() {
            self.network.state.borrow_mut().close_listeners(self.node);
        }
    }

    /// Virtual time passes by [`Network::advance_to`], not here.
    fn wait(&mut self, _timeout: Option<Duration>) {}

    fn counters(&self) -> &TransportCounters {
        &self.counters
    }
}

impl SimulatedTransport {
    fn set_paused(&self, id: ConnectionId, paused: bool) {
        let Some(endpoint) = self.endpoint(id) else {
            return;
        };
        if let Some(endpoint) = self.network.state.borrow_mut().endpoint(endpoint) {
            endpoint.paused = paused;
        }
    }
}
