//! One test body for all transports.
//!
//! A transport's author implements [`World`] and writes
//! `conformance_tests!(name, worlds)`, where `worlds` is an expression that gives an iterator of
//! fresh worlds; each check becomes a test that runs in every one of them.
//!
//! A check drives a pair of turns, one that listens and one that dials, each over a [`Probe`]. The
//! probe itself asserts what must hold at every event: no event for a connection that is not open,
//! no name used twice.

mod checks;
mod probe;

use std::time::{Duration, Instant};

use goblin_protocol::service::{ConnectionId, Opened};
use goblin_protocol::time::Now;

use crate::transport::Transport;
use crate::turn::Turn;

pub use checks::*;
pub use probe::{Heard, Probe};

/// How long a check waits for what must happen, in real time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where transports of one kind can reach each other.
pub trait World {
    /// The kind.
    type Transport: Transport;

    /// A transport with one listener. Asked for once per world.
    fn listening(&mut self) -> Self::Transport;

    /// A transport that dials that listener.
    fn dialing(&mut self) -> Self::Transport;

    /// A transport that dials where nobody listens.
    fn dialing_nobody(&mut self) -> Self::Transport;

    /// The time of the next turn. `idle` says that the last round of turns had nothing to do, so
    /// virtual time may jump.
    fn now(&mut self, idle: bool) -> Now;
}

/// Two probes over two transports of a world.
#[derive(Debug)]
pub struct Pair<W: World> {
    world: W,
    /// The side that listens.
    pub server: Turn<Probe, W::Transport>,
    /// The side that dials.
    pub client: Turn<Probe, W::Transport>,
    idle: bool,
}

impl<W: World> Pair<W> {
    /// No connection yet.
    pub fn new(mut world: W) -> Self {
        let server = Turn::new(Probe::default(), world.listening());
        let client = Turn::new(Probe::default(), world.dialing());
        Self {
            world,
            server,
            client,
            idle: false,
        }
    }

    /// One turn of each side.
    pub fn turn(&mut self) {
        let now = self.world.now(self.idle);
        let server = self.server.turn(now);
        let client = self.client.turn(now);
        self.idle = !server && !client;
    }

    /// Turns until `done`.
    ///
    /// # Panics
    ///
    /// When it does not happen.
    pub fn turn_until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        let started = Instant::now();
        while !done(self) {
            assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
            self.turn();
        }
    }

    /// Opens `count` connections one after the other and returns both sides' names of each.
    pub fn connect(&mut self, count: usize) -> Vec<(ConnectionId, ConnectionId)> {
        (0..count).map(|_| self.connect_one()).collect()
    }

    fn connect_one(&mut self) -> (ConnectionId, ConnectionId) {
        let (accepted, dialed) = (
            self.server.service().opened.len(),
            self.client.service().opened.len(),
        );
        self.client.service_mut().dial();
        self.turn_until("a dial is answered on both sides", |pair| {
            pair.server.service().opened.len() > accepted
                && pair.client.service().opened.len() > dialed
        });
        (
            self.server.service().opened[accepted],
            self.client.service().opened[dialed],
        )
    }

    /// Turns until the server has received `bytes` in all from the connection.
    pub fn server_receives(&mut self, id: ConnectionId, bytes: usize) {
        self.turn_until("the server receives everything", |pair| {
            pair.server.service().heard(id).received.len() >= bytes
        });
    }

    /// Turns until the client has received `bytes` in all from the connection.
    pub fn client_receives(&mut self, id: ConnectionId, bytes: usize) {
        self.turn_until("the client receives everything", |pair| {
            pair.client.service().heard(id).received.len() >= bytes
        });
    }
}

/// Bytes that are different at every place and for every `salt`, so that loss, repetition, disorder
/// and mixing up of connections all show.
#[must_use]
pub fn pattern(salt: usize, length: usize) -> Vec<u8> {
    let mut state = (salt as u64)
        .wrapping_add(1)
        .wrapping_mul(0x2545_F491_4F6C_DD1D);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// How a connection was opened, kept beyond the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HowOpened {
    /// With the addresses of peer and listener, and the listener's number.
    Accepted(String, String, u16),
    /// From here.
    Dialed,
}

impl From<Opened<'_>> for HowOpened {
    fn from(how: Opened<'_>) -> Self {
        match how {
            Opened::Accepted {
                listener,
                peer,
                local,
            } => Self::Accepted(peer.to_owned(), local.to_owned(), listener.0),
            Opened::Dialed => Self::Dialed,
        }
    }
}

/// Makes a module of tests, one per check, each of which runs in every world that `$worlds` gives.
#[macro_export]
macro_rules! conformance_tests {
    ($name:ident, $worlds:expr) => {
        $crate::conformance_tests!(@each $name, $worlds,
            a_dial_opens_both_sides,
            everything_sent_comes_back,
            both_sides_send_at_once_without_a_deadlock,
            a_paused_connection_holds_its_peer_back_and_loses_nothing,
            a_closing_dialer_is_heard_after_its_last_byte,
            a_closing_listener_is_heard_after_its_last_byte,
            a_dial_to_nobody_fails,
            many_connections_keep_their_bytes_apart,
            a_burst_is_one_write_per_connection,
            an_old_name_never_reaches_a_new_connection,
            closed_listeners_keep_their_connections,
        );
    };
    (@each $name:ident, $worlds:expr, $($check:ident),* $(,)?) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $check() {
                    for world in $worlds {
                        $crate::conformance::$check(world);
                    }
                }
            )*
        }
    };
}
