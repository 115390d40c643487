//! A host and its edges in one thread, connected by copying bytes.
//!
//! A [`System`] is one host with edges whose links are up. Clients connect, send requests and see
//! what they are sent; [`System::settle`] carries bytes over the links until nobody has any. Once
//! its buffers have grown to their size, none of this allocates: what allocates is a core.
//!
//! Each core can have what happens to it written down as a [`Script`], to be played to another core
//! later, without a system around it.

mod driver;
mod script;

use goblin_edge::Edge;
use goblin_host::Host;
use goblin_protocol::link::handshake::{Authentication, Key};
use goblin_protocol::link::session;
use goblin_protocol::service::{ConnectionId, ListenerId};
use goblin_protocol::session::ClientLimits;
use goblin_protocol::table::HashSeed;
use goblin_protocol::time::Now;

pub use driver::Driver;
pub use script::{Event, Script, play};

/// Where clients connect.
const CLIENTS: ListenerId = ListenerId(0);
/// Where edges connect.
const LINKS: ListenerId = ListenerId(1);
/// The edge's end of its link: the first connection of every edge.
const UPSTREAM: ConnectionId = ConnectionId {
    index: 0,
    generation: 0,
};

/// One host and its edges.
pub struct System {
    /// The host. Its first connections are the links, in the order of the edges.
    pub host: Driver<Host>,
    /// The edges.
    pub edges: Vec<Driver<Edge>>,
    /// Bytes on their way over a link.
    carried: Vec<u8>,
}

impl System {
    /// A host with `edges` edges, their links up. What happens to the cores is written down if
    /// `scripted`.
    ///
    /// # Panics
    /// A link does not come up.
    #[must_use]
    pub fn new(edges: usize, scripted: bool) -> Self {
        let mut system = Self {
            host: Driver::new(new_host(), scripted),
            edges: (0..edges)
                .map(|edge| Driver::new(new_edge(edge), scripted))
                .collect(),
            carried: Vec::new(),
        };
        for edge in &mut system.edges {
            edge.turn();
            assert_eq!(edge.dials(), 1, "an edge dials in its first turn");
            system.host.accept(LINKS);
            edge.dialed();
        }
        system.settle();
        for edge in &system.edges {
            assert!(edge.core().is_link_up(), "the link is not up");
        }
        system
    }

    /// Lets everybody take turns until nothing more happens.
    pub fn settle(&mut self) {
        self.host.turn();
        for edge in &mut self.edges {
            edge.turn();
        }
        while self.carry() {}
    }

    /// Carries what waits on the links, once in both directions. Whether anything did.
    fn carry(&mut self) -> bool {
        let mut any = false;
        for (number, edge) in (0..).zip(&mut self.edges) {
            let place = ConnectionId {
                index: number,
                generation: 0,
            };
            if edge.take(UPSTREAM, &mut self.carried) {
                self.host.receive(place, &self.carried);
                any = true;
            }
        }
        self.host.turn();
        for (number, edge) in (0..).zip(&mut self.edges) {
            let place = ConnectionId {
                index: number,
                generation: 0,
            };
            if self.host.take(place, &mut self.carried) {
                edge.receive(UPSTREAM, &self.carried);
                any = true;
            }
            edge.turn();
        }
        any
    }

    /// A client connects to an edge.
    pub fn connect_to_edge(&mut self, edge: usize) -> ConnectionId {
        self.edges[edge].accept(CLIENTS)
    }

    /// A client connects to the host.
    pub fn connect_to_host(&mut self) -> ConnectionId {
        self.host.accept(CLIENTS)
    }
}

/// The core of a host as every system has it.
#[must_use]
pub fn new_host() -> Host {
    let config = goblin_host::Config {
        clients: ClientLimits::default(),
        password: None,
        tcp_keepalive: std::time::Duration::ZERO,
        edge_listener: Some(LINKS),
        link: link(),
        port: 0,
    };
    Host::new(Now::default(), config, SEED, Box::new(counted(0)))
}

/// The core of an edge as every system has it; `number` tells the edges apart.
#[must_use]
pub fn new_edge(number: usize) -> Edge {
    let config = goblin_edge::Config {
        name: format!("edge {number}"),
        clients: ClientLimits::default(),
        upstream: String::new(),
        allow_unauthenticated: false,
        delivery: goblin_edge::Delivery::Local,
        host_ordered: Vec::new(),
        on_upstream_loss: goblin_edge::OnUpstreamLoss::Reject,
        on_gap: goblin_edge::OnGap::Close,
        upstream_timeout: std::time::Duration::from_secs(1),
        link: link(),
    };
    let random = counted(100 * (number as u8 + 1));
    Edge::new(Now::default(), config, SEED, Box::new(random))
}

const SEED: HashSeed = HashSeed([1, 2, 3, 4]);

fn link() -> session::Config {
    let key = Key::new(&[7; Key::BYTES_MIN]);
    session::Config::new(key.map_or(Authentication::Off, Authentication::SharedKey))
}

/// Not random at all, so that every run is the same; no two edges draw the same.
fn counted(first: u8) -> impl FnMut(&mut [u8]) {
    let mut next = first;
    move |bytes| {
        for byte in bytes {
            next = next.wrapping_add(1);
            *byte = next;
        }
    }
}
