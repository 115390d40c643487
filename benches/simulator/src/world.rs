//! One host, its edges and their clients, on virtual time.
//!
//! The world knows how to pass time and how to do what a fault or an operation says; when that happens
//! is decided by [`crate::run`].
//!
//! Time moves in steps of [`STEP`]: whatever is due within one step happens together. That changes no
//! order within a connection and makes a run several times shorter.

use std::cell::Cell;
use std::time::Duration;

use goblin_edge::Edge;
use goblin_host::Host;
use goblin_protocol::service::Service;
use goblin_protocol::table::HashSeed;
use goblin_protocol::time::{Now, Time};
use goblin_transport::simulated::{Network, NodeId};
use goblin_transport::{ConnectionIds, Turn};

use crate::client::Client;
use crate::history::{Connection, EdgeHistory, History, Oddity, Place, Trouble};
use crate::plan::Plan;
use crate::plant::Plant;
use crate::random::Random;
use crate::tap::{LINK_LISTENER, Tap};

/// The granularity of time.
const STEP: Duration = Duration::from_micros(50);
/// More rounds of turns without a rest than this are a core that spins.
const ROUNDS_MAX: usize = 2_000;
/// The end of time, for what lasts.
const NEVER: Time = Time::from_nanos(u64::MAX);

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(Time::ZERO) };
}

/// The time in the world that this thread runs, for its logs.
#[must_use]
pub fn virtual_time() -> Time {
    NOW.get()
}

const HOST: &str = "host";
const HOST_LINK: &str = "host-link";

/// A process: the node it runs on and, while it runs, the core.
struct Process<S> {
    node: NodeId,
    life: u32,
    turn: Option<Turn<S, Tap>>,
}

impl<S: Service> Process<S> {
    fn new(network: &Network) -> Self {
        Self {
            node: network.node(),
            life: 0,
            turn: None,
        }
    }

    fn turn(&mut self, now: Now) -> bool {
        self.turn.as_mut().is_some_and(|turn| turn.turn(now))
    }

    fn deadline(&self) -> Option<Time> {
        self.turn.as_ref()?.service().next_deadline()
    }

    fn kill(&mut self, network: &Network) {
        if self.turn.take().is_some() {
            network.kill(self.node);
            self.life += 1;
        }
    }
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) network: Network,
    pub(crate) history: History,
    pub(crate) clients: Vec<Client>,
    plant: Option<Plant>,
    random: Random,
    host: Process<Host>,
    edges: Vec<Process<Edge>>,
    /// By edge: since when something is wrong with it, and the earliest end of that.
    wrong: Vec<Option<Wrong>>,
    gaps: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Wrong {
    since: Time,
    at_least_until: Time,
    is_fatal: bool,
}

impl World {
    pub(crate) fn new(plan: Plan, plant: Option<Plant>) -> Self {
        let mut random = Random::new(plan.seed ^ 0x5EED);
        let network = Network::new(random.number(), plan.shape);
        let host = Process::new(&network);
        let edges: Vec<_> = plan.edges.iter().map(|_| Process::new(&network)).collect();
        let mut world = Self {
            history: History {
                edges: edges.iter().map(|_| EdgeHistory::default()).collect(),
                ..History::default()
            },
            wrong: vec![None; edges.len()],
            gaps: vec![0; edges.len()],
            plan,
            network,
            clients: Vec::new(),
            plant,
            random,
            host,
            edges,
        };
        world.start_host();
        for edge in 0..world.edges.len() {
            world.start_edge(edge);
            world.trouble(edge, Duration::ZERO, false);
        }
        world
    }

    pub(crate) fn now(&self) -> Time {
        self.network.now().monotonic
    }

    pub(crate) fn start_host(&mut self) {
        let mut transport = self.network.transport(self.host.node, ConnectionIds::new());
        transport.listen(HOST);
        transport.listen(HOST_LINK);
        let config = goblin_host::Config {
            clients: self.plan.client_limits(),
            password: None,
            tcp_keepalive: Duration::ZERO,
            edge_listener: Some(LINK_LISTENER),
            link: self.plan.link(),
            port: 0,
        };
        let (seed, randomness) = self.chance();
        let host = Host::new(self.network.now(), config, seed, randomness);
        let tamper = self.plant.and_then(Plant::at_host);
        self.host.turn = Some(Turn::new(host, Tap::new(transport, tamper)));
    }

    pub(crate) fn start_edge(&mut self, edge: usize) {
        let mut transport = self
            .network
            .transport(self.edges[edge].node, ConnectionIds::new());
        transport.listen(&edge_address(edge));
        transport.set_upstream(HOST_LINK);
        let settings = self.plan.edges[edge];
        let mut config = goblin_edge::Config {
            name: edge_address(edge),
            clients: self.plan.client_limits(),
            upstream: String::new(),
            allow_unauthenticated: true,
            delivery: settings.delivery,
            host_ordered: settings.host_ordered_patterns(),
            on_upstream_loss: settings.on_upstream_loss,
            on_gap: settings.on_gap,
            upstream_timeout: self.plan.upstream_timeout,
            link: self.plan.link(),
        };
        if let Some(plant) = self.plant {
            plant.configure(&mut config);
        }
        let (seed, randomness) = self.chance();
        let core = Edge::new(self.network.now(), config, seed, randomness);
        let tamper = self.plant.and_then(Plant::at_edge);
        self.edges[edge].turn = Some(Turn::new(core, Tap::new(transport, tamper)));
        self.gaps[edge] = 0;
    }

    fn chance(&mut self) -> (HashSeed, goblin_edge::Randomness) {
        let seed = HashSeed([(); 4].map(|()| self.random.number()));
        let mut stream = self.random.fork();
        (seed, Box::new(move |bytes: &mut [u8]| stream.fill(bytes)))
    }

    /// A client connects; the index of it in `clients`.
    pub(crate) fn connect(&mut self, place: Place, resp3: bool) -> usize {
        let (address, life) = match place {
            Place::Host => (HOST.to_owned(), self.host.life),
            Place::Edge(edge) => (edge_address(edge), self.edges[edge].life),
        };
        let seen = Connection {
            place,
            life,
            resp3,
            opened: self.now(),
            left: None,
            closed: None,
            cut: None,
            slow: None,
            commands: Vec::new(),
            subscriptions: Vec::new(),
            deliveries: Vec::new(),
        };
        let client = Client::new(self.network.connect(&address), &mut self.history, seen);
        self.clients.push(client);
        self.clients.len() - 1
    }

    /// Something goes wrong with an edge's link for at least `lasts`; `fatal` if its session cannot
    /// survive it.
    pub(crate) fn trouble(&mut self, edge: usize, lasts: Duration, fatal: bool) {
        let now = self.now();
        // An end may notice as late as this.
        let noticed = self
            .plan
            .heartbeat_timeout
            .max(self.plan.shape.cut_noticed_max);
        let until = now + lasts + noticed + Duration::from_millis(10);
        let wrong = self.wrong[edge].get_or_insert(Wrong {
            since: now,
            at_least_until: until,
            is_fatal: fatal,
        });
        wrong.at_least_until = wrong.at_least_until.max(until);
        wrong.is_fatal |= fatal;
    }

    /// Whether everything that is meant to run does, and every link is as it should be.
    pub(crate) fn is_well(&self) -> bool {
        self.host.turn.is_some() && self.wrong.iter().all(Option::is_none)
    }

    pub(crate) fn host_node(&self) -> NodeId {
        self.host.node
    }

    pub(crate) fn edge_node(&self, edge: usize) -> NodeId {
        self.edges[edge].node
    }

    pub(crate) fn kill_host(&mut self) {
        self.host.kill(&self.network);
        let now = self.now();
        self.history.host_restarts.push(now);
    }

    pub(crate) fn kill_edge(&mut self, edge: usize) {
        self.edges[edge].kill(&self.network);
        let now = self.now();
        let seen = &mut self.history.edges[edge];
        seen.restarts.push(now);
        seen.life = self.edges[edge].life;
    }

    /// Lets time pass until `until`.
    pub(crate) fn run_until(&mut self, until: Time) {
        loop {
            self.come_to_rest();
            let now = self.now();
            if now >= until {
                return;
            }
            let deadlines = self.edges.iter().filter_map(Process::deadline);
            let next = deadlines
                .chain(self.host.deadline())
                .chain(self.network.next_event())
                .min()
                .unwrap_or(until);
            let next = (next.max(now) + STEP).as_nanos() / STEP.as_nanos() as u64;
            let next = Time::from_nanos(next * STEP.as_nanos() as u64);
            self.network.advance_to(next.max(now + STEP).min(until));
        }
    }

    /// Takes turns until nobody has anything to do at this time.
    fn come_to_rest(&mut self) {
        let now = self.network.now();
        NOW.set(now.monotonic);
        for _ in 0..ROUNDS_MAX {
            let mut busy = self.host.turn(now);
            for edge in &mut self.edges {
                busy |= edge.turn(now);
            }
            for client in &mut self.clients {
                busy |= client.poll(&mut self.history, now.monotonic) > 0;
            }
            self.watch(now.monotonic);
            if !busy {
                return;
            }
        }
        self.history.oddities.push(Oddity {
            at: now.monotonic,
            promise: "P6",
            text: "the cores do not come to rest".to_owned(),
        });
    }

    /// Notes what only counters tell.
    fn watch(&mut self, now: Time) {
        for edge in 0..self.edges.len() {
            let core = self.edges[edge].turn.as_ref().map(Turn::service);
            let up = core.is_some_and(Edge::is_link_up);
            let gaps = core.map_or(0, |core| core.statistics().gaps);
            let seen = &mut self.history.edges[edge];
            if seen.link.last().is_some_and(|last| last.1) != up {
                seen.link.push((now, up));
                let text = if up { "up" } else { "down" };
                self.history
                    .story
                    .push((now, format!("the link of edge {edge} is {text}")));
            }
            if gaps > self.gaps[edge] {
                self.gaps[edge] = gaps;
                seen.gaps.push(now);
                self.history
                    .story
                    .push((now, format!("edge {edge} counts a lost session")));
            }
            if let Some(wrong) = self.wrong[edge]
                && up
                && self.host.turn.is_some()
                && wrong.at_least_until <= now
            {
                self.wrong[edge] = None;
                seen.troubles.push(Trouble {
                    from: wrong.since,
                    until: now,
                    is_fatal: wrong.is_fatal,
                });
            }
        }
    }

    /// The run is over: what is still wrong stays so.
    pub(crate) fn finish(mut self) -> (Plan, History) {
        self.history.end = self.now();
        for (edge, wrong) in self.wrong.iter().enumerate() {
            if let Some(wrong) = wrong {
                self.history.edges[edge].troubles.push(Trouble {
                    from: wrong.since,
                    until: NEVER,
                    is_fatal: wrong.is_fatal,
                });
                self.history.oddities.push(Oddity {
                    at: self.history.end,
                    promise: "P6",
                    text: format!("the link of edge {edge} did not come back"),
                });
            }
        }
        (self.plan, self.history)
    }
}

fn edge_address(edge: usize) -> String {
    format!("edge-{edge}")
}
