//! A network of nodes inside one process, on virtual time, from a seed.
//!
//! Nodes listen on names and dial names; each connection is two pipes, one per direction. Bytes
//! arrive in order, after random latencies, in chunks of random size; a pipe holds a bounded number
//! of bytes, so writes fall short and peers hold each other back. Connections can be stalled and
//! cut, dials refused, nodes killed. Scripted [`Client`]s take part without a core.
//!
//! **Time** is the network's: [`Network::now`] goes into every turn, and nothing moves until
//! [`Network::advance_to`]. A driver turns all nodes until a whole round of turns has nothing to do,
//! then advances to the earliest of [`Network::next_event`] and the cores' deadlines.
//!
//! **Determinism**: the same seed and the same calls give the same run. Nothing here depends on
//! addresses in memory, on the order of a hash table or on a clock.
//!
//! With [`Shape::in_memory`] nothing takes time and everything written arrives whole.

mod client;
mod pipe;
mod random;
mod state;
mod transport;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use goblin_protocol::time::{Now, Time};

use crate::identities::ConnectionIds;
use state::State;

pub use client::Client;
pub use transport::SimulatedTransport;

/// Microseconds since 1970 when virtual time starts; any value far from zero will do.
const UNIX_START_US: u64 = 1_700_000_000_000_000;

/// How the network behaves.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Shortest time that bytes, the end of a connection or a step of its opening are on the way.
    pub latency_min: Duration,
    /// Longest such time. Order within one direction of a connection is kept all the same.
    pub latency_max: Duration,
    /// Largest piece in which bytes arrive; each piece is of a random size up to it, small ones as
    /// likely as large ones. `None`: everything that has arrived, up to 64 KiB.
    pub chunk_bytes_max: Option<usize>,
    /// Most bytes on the way or unread in one direction of a connection.
    pub buffer_bytes: usize,
    /// Whether a write sometimes takes less than there is room for.
    pub short_writes: bool,
    /// Longest time until an end of a connection notices that it was cut. Each end draws its own.
    pub cut_noticed_max: Duration,
}

impl Shape {
    /// No latency, no pieces: everything written can be read at once.
    #[must_use]
    pub const fn in_memory() -> Self {
        Self {
            latency_min: Duration::ZERO,
            latency_max: Duration::ZERO,
            chunk_bytes_max: None,
            buffer_bytes: 256 * 1024,
            short_writes: false,
            cut_noticed_max: Duration::ZERO,
        }
    }

    /// A network that makes trouble often enough to be worth simulating.
    #[must_use]
    pub const fn rough() -> Self {
        Self {
            latency_min: Duration::from_micros(10),
            latency_max: Duration::from_micros(500),
            chunk_bytes_max: Some(4096),
            buffer_bytes: 16 * 1024,
            short_writes: true,
            cut_noticed_max: Duration::from_millis(50),
        }
    }
}

/// Names a node: a process that runs a core, or one scripted client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// Names a connection between two nodes, for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(u64);

/// The network. A clone is another handle to the same one.
#[derive(Clone, Debug)]
pub struct Network {
    state: Rc<RefCell<State>>,
}

impl Network {
    /// A network without nodes, at time zero.
    #[must_use]
    pub fn new(seed: u64, shape: Shape) -> Self {
        Self {
            state: Rc::new(RefCell::new(State::new(seed, shape))),
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Now {
        let monotonic = self.state.borrow().now;
        Now {
            monotonic,
            unix_us: UNIX_START_US + monotonic.as_nanos() / 1_000,
        }
    }

    /// Moves time forward; a time in the past changes nothing.
    pub fn advance_to(&self, time: Time) {
        let mut state = self.state.borrow_mut();
        state.now = state.now.max(time);
    }

    /// The earliest time after now at which something arrives somewhere. What has arrived already is
    /// told by the next turns, which say that something happened.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.state.borrow().next_event()
    }

    /// A new node.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.state.borrow_mut().add_node()
    }

    /// The transport of a node that starts. The node's earlier transport, if it had one, is dead
    /// from now on; [`Network::kill`] first, unless it had no connections.
    #[must_use]
    pub fn transport(&self, node: NodeId, identities: ConnectionIds) -> SimulatedTransport {
        SimulatedTransport::new(self.clone(), node, identities)
    }

    /// A scripted client that connects to `address`. It may send at once; what it sends follows the
    /// connection.
    #[must_use]
    pub fn connect(&self, address: &str) -> Client {
        Client::new(self.clone(), address)
    }

    /// All connections of a node, oldest first.
    #[must_use]
    pub fn wires_of(&self, node: NodeId) -> Vec<WireId> {
        self.state.borrow().wires(|a, b| a == node || b == node)
    }

    /// All connections between two nodes, oldest first.
    #[must_use]
    pub fn wires_between(&self, one: NodeId, other: NodeId) -> Vec<WireId> {
        let either = [(one, other), (other, one)];
        self.state.borrow().wires(|a, b| either.contains(&(a, b)))
    }

    /// Lets nothing arrive at `toward` over the connection until a time. Both directions are two
    /// calls.
    pub fn stall(&self, wire: WireId, toward: NodeId, until: Time) {
        self.state.borrow_mut().stall(wire, toward, until);
    }

    /// Breaks a connection. Of the bytes that are on the way or unread a random part is lost, in
    /// both directions; each end notices in its own time.
    pub fn cut(&self, wire: WireId) {
        self.state.borrow_mut().cut(wire);
    }

    /// Whether dials from one node to another are refused.
    pub fn refuse_dials(&self, from: NodeId, to: NodeId, refuse: bool) {
        self.state.borrow_mut().refuse_dials(from, to, refuse);
    }

    /// Ends a node as a crash does: its connections are cut, it no longer listens, and its transport
    /// does nothing any more.
    pub fn kill(&self, node: NodeId) {
        self.state.borrow_mut().kill(node);
    }
}
