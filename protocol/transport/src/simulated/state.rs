//! All nodes and connections, and what happens to them.
//!
//! A connection is two endpoints that know each other. The endpoint holds the pipe whose bytes
//! arrive at it. An endpoint is removed when its owner closes it or has been told of its end; the
//! other one stays until its owner knows, too. Writing to an endpoint that is gone succeeds and
//! comes to nothing, as it does in TCP until the reset arrives.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId, ListenerId};
use goblin_protocol::time::Time;

use super::pipe::Pipe;
use super::random::Random;
use super::{NodeId, Shape, WireId};

/// The operating system's numbers for what happens here, as Linux has them.
const CONNECTION_RESET: i32 = 104;
const CONNECTION_REFUSED: i32 = 111;

/// Names one end of a connection. The dialing end is even, the accepting one the odd number after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EndpointId(u64);

impl EndpointId {
    pub(super) fn wire(self) -> WireId {
        WireId(self.0 / 2)
    }

    /// The address from which the connection of this end was dialed: unique, and of the usual form.
    pub(super) fn peer_text(self) -> String {
        let number = self.0 / 2;
        format!(
            "10.0.{}.{}:{}",
            number >> 8 & 255,
            number & 255,
            1024 + (number >> 16)
        )
    }

    pub(super) fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// How far an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The dial is answered at this time.
    Dialing(Time),
    /// The listener hears of it at this time.
    Arriving(Time, ListenerId),
    /// The owner knows it.
    Open,
}

#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) node: NodeId,
    pub(super) stage: Stage,
    /// What a transport calls it, once told.
    pub(super) id: Option<ConnectionId>,
    pub(super) inbox: Pipe,
    pub(super) paused: bool,
    /// The last write fell short.
    pub(super) blocked: bool,
    /// What a scripted client has sent that found no room yet.
    pub(super) unsent: VecDeque<u8>,
    /// The address that was dialed.
    pub(super) address: String,
}

#[derive(Debug, Default)]
struct Node {
    /// Counts the transports of the node; all but the last are dead.
    incarnation: u32,
    endpoints: Vec<EndpointId>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) now: Time,
    pub(super) random: Random,
    pub(super) shape: Shape,
    nodes: Vec<Node>,
    endpoints: BTreeMap<EndpointId, Endpoint>,
    next_endpoint: u64,
    listeners: BTreeMap<String, (NodeId, ListenerId)>,
    refused: BTreeSet<(NodeId, NodeId)>,
}

impl State {
    pub(super) fn new(seed: u64, shape: Shape) -> Self {
        Self {
            now: Time::ZERO,
            random: Random::new(seed),
            shape,
            nodes: Vec::new(),
            endpoints: BTreeMap::new(),
            next_endpoint: 0,
            listeners: BTreeMap::new(),
            refused: BTreeSet::new(),
        }
    }

    pub(super) fn add_node(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        NodeId(u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX))
    }

    /// A transport starts on the node; returns its number.
    pub(super) fn incarnate(&mut self, node: NodeId) -> u32 {
        let Some(node) = self.nodes.get_mut(node.0 as usize) else {
            return 0;
        };
        node.incarnation += 1;
        node.incarnation
    }

    pub(super) fn is_alive(&self, node: NodeId, incarnation: u32) -> bool {
        let node = self.nodes.get(node.0 as usize);
        node.is_some_and(|node| node.incarnation == incarnation)
    }

    pub(super) fn listen(&mut self, address: &str, node: NodeId, listener: ListenerId) -> bool {
        if self.listeners.contains_key(address) {
            return false;
        }
        self.listeners.insert(address.to_owned(), (node, listener));
        true
    }

    pub(super) fn close_listeners(&mut self, node: NodeId) {
        self.listeners.retain(|_, listener| listener.0 != node);
        for id in self.endpoints_of(node) {
            let stage = self.endpoints.get(&id).map(|endpoint| endpoint.stage);
            if matches!(stage, Some(Stage::Arriving(..))) {
                self.cut(id.wire());
                self.remove(id);
            }
        }
    }

    /// Starts a connection and returns its dialing end.
    pub(super) fn dial(&mut self, from: NodeId, address: &str) -> EndpointId {
        let id = EndpointId(self.next_endpoint);
        self.next_endpoint += 2;
        let arrives = self.arrival();
        let answered = arrives + self.latency();
        let target = self.listeners.get(address).copied();
        let target = target.filter(|target| !self.refused.contains(&(from, target.0)));
        let mut dialing = Endpoint::new(from, Stage::Dialing(answered), answered, address);
        match target {
            Some((node, listener)) => {
                let stage = Stage::Arriving(arrives, listener);
                self.insert(id.peer(), Endpoint::new(node, stage, arrives, address));
            }
            None => {
                let refused = Closed::Unreachable(CONNECTION_REFUSED);
                dialing.inbox.finish(answered, refused);
            }
        }
        self.insert(id, dialing);
        id
    }

    fn insert(&mut self, id: EndpointId, endpoint: Endpoint) {
        if let Some(node) = self.nodes.get_mut(endpoint.node.0 as usize) {
            node.endpoints.push(id);
        }
        self.endpoints.insert(id, endpoint);
    }

    pub(super) fn endpoint(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.get_mut(&id)
    }

    pub(super) fn endpoints_of(&self, node: NodeId) -> Vec<EndpointId> {
        let node = self.nodes.get(node.0 as usize);
        node.map_or_else(Vec::new, |node| node.endpoints.clone())
    }

    /// Forgets an endpoint without telling the peer.
    pub(super) fn remove(&mut self, id: EndpointId) {
        if let Some(endpoint) = self.endpoints.remove(&id)
            && let Some(node) = self.nodes.get_mut(endpoint.node.0 as usize)
        {
            node.endpoints.retain(|other| *other != id);
        }
    }

    /// The owner closes its end: what it wrote still arrives, what was to arrive here is lost.
    pub(super) fn close(&mut self, id: EndpointId) {
        self.remove(id);
        let arrival = self.arrival();
        if let Some(peer) = self.endpoints.get_mut(&id.peer()) {
            peer.inbox.finish(arrival, Closed::ByPeer);
        }
    }

    /// Room for output at this end; everything when the other end is gone.
    pub(super) fn room(&self, id: EndpointId) -> usize {
        let broken = self
            .endpoints
            .get(&id)
            .is_none_or(|it| it.inbox.is_ending());
        match self.endpoints.get(&id.peer()) {
            Some(peer) if !broken => self.shape.buffer_bytes.saturating_sub(peer.inbox.bytes()),
            _ => usize::MAX,
        }
    }

    /// Puts bytes on the way, as many as the caller found room for.
    pub(super) fn send(&mut self, id: EndpointId, bytes: &[u8]) {
        let arrival = self.arrival();
        let broken = self
            .endpoints
            .get(&id)
            .is_none_or(|it| it.inbox.is_ending());
        if let Some(peer) = self.endpoints.get_mut(&id.peer())
            && !broken
            && !bytes.is_empty()
        {
            peer.inbox.push(arrival, bytes);
        }
    }

    /// Takes bytes that have arrived, at most `limit`, and lets a scripted peer send more.
    pub(super) fn take(&mut self, id: EndpointId, limit: usize) -> Vec<u8> {
        let now = self.now;
        let bytes = match self.endpoints.get_mut(&id) {
            Some(endpoint) => endpoint.inbox.take(now, limit),
            None => Vec::new(),
        };
        if !bytes.is_empty() {
            self.send_unsent(id.peer());
        }
        bytes
    }

    /// Moves what a scripted client has sent into the pipe, as far as there is room.
    pub(super) fn send_unsent(&mut self, id: EndpointId) {
        let room = self.room(id);
        let Some(endpoint) = self.endpoints.get_mut(&id) else {
            return;
        };
        let count = endpoint.unsent.len().min(room);
        let bytes: Vec<u8> = endpoint.unsent.drain(..count).collect();
        self.send(id, &bytes);
    }

    pub(super) fn wires(&self, chosen: impl Fn(NodeId, NodeId) -> bool) -> Vec<WireId> {
        let dialing = self.endpoints.iter().filter(|(id, _)| id.0 % 2 == 0);
        let both =
            dialing.filter_map(|(id, one)| Some((*id, one, self.endpoints.get(&id.peer())?)));
        both.filter(|(_, one, other)| chosen(one.node, other.node))
            .map(|(id, ..)| id.wire())
            .collect()
    }

    pub(super) fn stall(&mut self, wire: WireId, toward: NodeId, until: Time) {
        for id in ends(wire) {
            if let Some(endpoint) = self.endpoints.get_mut(&id)
                && endpoint.node == toward
            {
                endpoint.inbox.stall(until);
            }
        }
    }

    pub(super) fn cut(&mut self, wire: WireId) {
        for id in ends(wire) {
            let noticed = self.now
                + self
                    .random
                    .duration(Duration::ZERO, self.shape.cut_noticed_max);
            let Some(endpoint) = self.endpoints.get_mut(&id) else {
                continue;
            };
            let (kept, why) = match endpoint.stage {
                Stage::Dialing(_) => (0, Closed::Unreachable(CONNECTION_RESET)),
                _ => {
                    let unread = endpoint.inbox.bytes() as u64;
                    (self.random.up_to(unread), Closed::Failed(CONNECTION_RESET))
                }
            };
            endpoint.unsent.clear();
            endpoint
                .inbox
                .cut(usize::try_from(kept).unwrap_or(0), noticed, why);
        }
    }

    pub(super) fn refuse_dials(&mut self, from: NodeId, to: NodeId, refuse: bool) {
        if refuse {
            self.refused.insert((from, to));
        } else {
            self.refused.remove(&(from, to));
        }
    }

    pub(super) fn kill(&mut self, node: NodeId) {
        self.incarnate(node);
        self.listeners.retain(|_, listener| listener.0 != node);
        for id in self.endpoints_of(node) {
            self.cut(id.wire());
            self.remove(id);
        }
    }

    pub(super) fn next_event(&self) -> Option<Time> {
        let endpoints = self.endpoints.values();
        endpoints
            .filter_map(|endpoint| endpoint.next_event(self.now))
            .min()
    }

    fn latency(&mut self) -> Duration {
        let Shape {
            latency_min,
            latency_max,
            ..
        } = self.shape;
        self.random.duration(latency_min, latency_max)
    }

    fn arrival(&mut self) -> Time {
        self.now + self.latency()
    }
}

impl Endpoint {
    fn new(node: NodeId, stage: Stage, opens: Time, address: &str) -> Self {
        Self {
            node,
            stage,
            id: None,
            inbox: Pipe::opening_at(opens),
            paused: false,
            blocked: false,
            unsent: VecDeque::new(),
            address: address.to_owned(),
        }
    }

    fn next_event(&self, now: Time) -> Option<Time> {
        match self.stage {
            Stage::Dialing(at) | Stage::Arriving(at, _) if at > now => Some(at),
            _ => self.inbox.next_event(now),
        }
    }
}

fn ends(wire: WireId) -> [EndpointId; 2] {
    [EndpointId(wire.0 * 2), EndpointId(wire.0 * 2 + 1)]
}
