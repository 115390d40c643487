//! What a seed decides before its run begins: the world's size and settings, and its faults.

use std::time::Duration;

use goblin_edge::{Delivery, OnGap, OnUpstreamLoss};
use goblin_protocol::link;
use goblin_protocol::link::handshake::{Authentication, Key};
use goblin_protocol::session::{ClientLimits, OutputLimit};
use goblin_transport::simulated::Shape;

use crate::names::ORDERED;
use crate::random::Random;

/// The key that the edges and the host share.
const KEY: &[u8] = b"a key for simulated links alone, long enough";
/// Subscribers may leave this much unread, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Windows of at least this many bytes never fill up here.
pub const WIDE_WINDOW_BYTES: usize = 16 * 1024 * 1024;
/// Messages that wait behind a full window, in bytes: more than a run ever sends.
const BACKLOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The parameters of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where all of it comes from.
    pub seed: u64,
    /// The network.
    pub shape: Shape,
    /// The edges.
    pub edges: Vec<EdgePlan>,
    /// How many clients are connected at the beginning.
    pub clients: usize,
    /// Silence after which a link's connection is broken.
    pub heartbeat_timeout: Duration,
    /// How long a session survives without a connection.
    pub resume_timeout: Duration,
    /// How long a handshake may take.
    pub handshake_timeout: Duration,
    /// How long a frame may wait to be acknowledged.
    pub acknowledge_delay: Duration,
    /// How long a command waits for the link.
    pub upstream_timeout: Duration,
    /// The windows of the links, in bytes.
    pub window_bytes: usize,
    /// Times of trouble, each followed by a calm.
    pub storms: Vec<Storm>,
}

/// How one edge is configured.
#[derive(Clone, Copy, Debug)]
pub struct EdgePlan {
    /// Who delivers to its clients.
    pub delivery: Delivery,
    /// Whether the channels that match [`ORDERED`] are left to the host.
    pub host_ordered: bool,
    /// What happens to publications without a link.
    pub on_upstream_loss: OnUpstreamLoss,
    /// What happens to subscribers when a session is lost.
    pub on_gap: OnGap,
}

/// A time of trouble.
#[derive(Clone, Debug)]
pub struct Storm {
    /// How long it lasts.
    pub length: Duration,
    /// Its faults, each at a time after its beginning.
    pub faults: Vec<(Duration, Fault)>,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing arrives over the link of an edge for a while.
    Stall {
        /// The edge.
        edge: usize,
        /// Nothing that the edge sends.
        toward_host: bool,
        /// Nothing that the host sends.
        toward_edge: bool,
        /// How long.
        lasts: Duration,
    },
    /// The connection of a link breaks.
    Cut {
        /// The edge.
        edge: usize,
    },
    /// It breaks and cannot be dialed for a while.
    Partition {
        /// The edge.
        edge: usize,
        /// How long.
        lasts: Duration,
    },
    /// An edge crashes and comes back.
    RestartEdge {
        /// The edge.
        edge: usize,
        /// After how long.
        down: Duration,
    },
    /// The host crashes and comes back without data.
    RestartHost {
        /// After how long.
        down: Duration,
    },
    /// The connection of some client breaks.
    CutClient,
    /// Some subscriber of the flood stops reading until the storm is over.
    SlowClient,
}

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let heartbeat_timeout = random.milliseconds(80, 250);
        let resume_timeout = random.milliseconds(300, 1200);
        let mut plan = Self {
            seed,
            shape: Shape {
                latency_max: Duration::from_micros(random.between(50, 500)),
                ..Shape::rough()
            },
            edges: (0..random.between(2, 4))
                .map(|_| EdgePlan::new(&mut random))
                .collect(),
            clients: random.between(14, 28) as usize,
            heartbeat_timeout,
            resume_timeout,
            handshake_timeout: random.milliseconds(100, 300),
            acknowledge_delay: random.milliseconds(1, 20),
            upstream_timeout: random.milliseconds(50, 300),
            window_bytes: if random.chance(30) {
                random.between(4 * 1024, 64 * 1024) as usize
            } else {
                WIDE_WINDOW_BYTES
            },
            storms: Vec::new(),
        };
        plan.storms = (0..2).map(|_| plan.storm(&mut random)).collect();
        plan
    }

    fn storm(&self, random: &mut Random) -> Storm {
        let length = random.milliseconds(150, 450);
        let most = if random.chance(20) { 14 } else { 5 };
        let faults = (0..random.between(0, most))
            .map(|_| {
                let at = random.between(0, length.as_micros() as u64);
                (Duration::from_micros(at), self.fault(random))
            })
            .collect();
        Storm { length, faults }
    }

    fn fault(&self, random: &mut Random) -> Fault {
        let edge = random.below(self.edges.len());
        let resume_ms = self.resume_timeout.as_millis() as u64;
        match random.between(0, 99) {
            0..25 => {
                let toward_host = random.chance(70);
                Fault::Stall {
                    edge,
                    toward_host,
                    toward_edge: !toward_host || random.chance(50),
                    lasts: random.milliseconds(5, 400),
                }
            }
            25..50 => Fault::Cut { edge },
            50..62 => Fault::Partition {
                edge,
                lasts: random.milliseconds(10, resume_ms / 2),
            },
            62..70 => Fault::Partition {
                edge,
                lasts: random.milliseconds(resume_ms, resume_ms + 400),
            },
            70..77 => Fault::RestartEdge {
                edge,
                down: random.milliseconds(1, 150),
            },
            77..83 => Fault::RestartHost {
                down: random.milliseconds(1, 400),
            },
            83..92 => Fault::CutClient,
            _ => Fault::SlowClient,
        }
    }

    /// The longest that a command may be without an answer, counted from when it was sent or when the
    /// one before it was answered: a link's silence is noticed, its session given up, a new one
    /// negotiated, and the command has waited for it as long as it may; each with room.
    #[must_use]
    pub fn answer_time_max(&self) -> Duration {
        (self.heartbeat_timeout
            + self.resume_timeout
            + self.handshake_timeout
            + self.upstream_timeout)
            * 2
            + Duration::from_millis(500)
    }

    /// How long after the last trouble nothing of it can linger: the host has forgotten the sessions
    /// of edges that are gone.
    #[must_use]
    pub fn settle_time(&self) -> Duration {
        self.heartbeat_timeout * 2 + self.resume_timeout + Duration::from_millis(200)
    }

    /// What clients may take, everywhere.
    #[must_use]
    pub fn client_limits(&self) -> ClientLimits {
        ClientLimits {
            output_subscribers: OutputLimit {
                hard_bytes: OUTPUT_BYTES_MAX,
                ..OutputLimit::default()
            },
            ..ClientLimits::default()
        }
    }

    /// The settings of the links, at both ends.
    #[must_use]
    pub fn link(&self) -> link::session::Config {
        let authentication = Key::new(KEY).map_or(Authentication::Off, Authentication::SharedKey);
        link::session::Config {
            window_bytes: self.window_bytes,
            backlog_bytes_max: BACKLOG_BYTES_MAX,
            heartbeat_timeout: self.heartbeat_timeout,
            acknowledge_delay: self.acknowledge_delay,
            handshake_timeout: self.handshake_timeout,
            resume_timeout: self.resume_timeout,
            ..link::session::Config::new(authentication)
        }
    }
}

impl EdgePlan {
    fn new(random: &mut Random) -> Self {
        Self {
            delivery: if random.chance(15) {
                Delivery::Host
            } else {
                Delivery::Local
            },
            host_ordered: random.chance(60),
            on_upstream_loss: if random.chance(35) {
                OnUpstreamLoss::Local
            } else {
                OnUpstreamLoss::Reject
            },
            on_gap: if random.chance(35) {
                OnGap::Keep
            } else {
                OnGap::Close
            },
        }
    }

    /// `--host-ordered`.
    #[must_use]
    pub fn host_ordered_patterns(&self) -> Vec<Box<[u8]>> {
        let pattern = self.host_ordered.then(|| ORDERED.as_bytes().into());
        pattern.into_iter().collect()
    }
}
