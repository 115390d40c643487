//! The two ends and what is between them.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::link::handshake::{Authentication, HostHandshake, Key, Nonce};
use crate::link::message::{ClientReply, Delivery, DeliveryBy, Message, Publication};
use crate::link::session::{Config, Event, HostIdentity, Session};
use crate::link::{LinkError, Role, SendError};
use crate::table::Kind;
use crate::time::{Now, Time};

pub(super) const IDENTITY: HostIdentity = HostIdentity {
    instance: 7,
    edge_number: 1,
};

pub(super) fn config() -> Config {
    let key = Key::new(b"0123456789abcdef0123456789abcdef").unwrap();
    Config::new(Authentication::SharedKey(key))
}

/// Bytes on their way, and what of them the sender has not been told yet.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    pub(super) bytes: VecDeque<u8>,
    unreported: usize,
}

/// What one end has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The payloads of the messages.
    pub(super) payloads: Vec<Vec<u8>>,
    pub(super) goodbyes: usize,
    pub(super) accepted: usize,
    pub(super) errors: Vec<LinkError>,
}

#[derive(Debug)]
pub(super) struct Pair {
    pub(super) edge: Session,
    /// The host's end, once there is one.
    pub(super) host: Option<Session>,
    pub(super) handshake: Option<HostHandshake>,
    pub(super) to_edge: Pipe,
    pub(super) to_host: Pipe,
    pub(super) edge_saw: Seen,
    pub(super) host_saw: Seen,
    pub(super) host_config: Config,
    milliseconds: u64,
    connections: u8,
}

impl Pair {
    pub(super) fn new(edge: Config, host: Config) -> Self {
        Self {
            edge: Session::new(edge, 99, "card"),
            host: None,
            handshake: None,
            to_edge: Pipe::default(),
            to_host: Pipe::default(),
            edge_saw: Seen::default(),
            host_saw: Seen::default(),
            host_config: host,
            milliseconds: 0,
            connections: 0,
        }
    }

    /// Two ends that are connected.
    pub(super) fn connected(edge: Config, host: Config) -> Self {
        let mut pair = Self::new(edge, host);
        pair.connect();
        pair.settle();
        assert!(pair.is_connected());
        pair
    }

    pub(super) fn is_connected(&self) -> bool {
        self.edge.is_connected() && self.host.as_ref().is_some_and(Session::is_connected)
    }

    pub(super) fn now(&self) -> Now {
        Now {
            monotonic: Time::from_nanos(self.milliseconds * 1_000_000),
            unix_us: 0,
        }
    }

    /// The host's end.
    pub(super) fn host(&mut self) -> &mut Session {
        self.host.as_mut().unwrap()
    }

    pub(super) fn end(&mut self, role: Role) -> &mut Session {
        match role {
            Role::Edge => &mut self.edge,
            Role::Host => self.host(),
        }
    }

    pub(super) fn connect(&mut self) {
        self.cut();
        self.reconnect_edge();
    }

    /// The edge dials again; the host learns of it by the hello.
    pub(super) fn reconnect_edge(&mut self) {
        self.cut_edge();
        self.connections = self.connections.wrapping_add(1);
        let now = self.now();
        self.edge
            .handle_connected(now, Nonce([self.connections; 32]));
        self.handshake = Some(HostHandshake::new(
            &self.host_config,
            now,
            Nonce([!self.connections; 32]),
        ));
    }

    /// The connection breaks; what is on its way is gone.
    pub(super) fn cut(&mut self) {
        self.cut_edge();
        let now = self.now();
        self.handshake = None;
        if let Some(host) = &mut self.host {
            host.handle_disconnected(now);
        }
    }

    /// The connection breaks and only the edge notices.
    pub(super) fn cut_edge(&mut self) {
        let now = self.now();
        self.to_edge = Pipe::default();
        self.to_host = Pipe::default();
        self.edge.handle_disconnected(now);
    }

    /// Sends the way each end does; the payload is what arrives.
    pub(super) fn send(&mut self, from: Role, payload: &[u8]) -> Result<(), SendError> {
        let now = self.now();
        match from {
            Role::Edge => self.edge.send(now, &publication(payload)),
            Role::Host => self.host().send(now, &delivery(payload)),
        }
    }

    /// Moves at most `bytes` bytes of `from`'s output into the pipe, without telling it.
    pub(super) fn write(&mut self, from: Role, bytes: usize) {
        let (pipe, output) = match from {
            Role::Edge => (&mut self.to_host, output_of(&self.edge)),
            Role::Host => (
                &mut self.to_edge,
                match (&self.handshake, &self.host) {
                    (Some(handshake), _) => output_of_handshake(handshake),
                    (None, Some(host)) => output_of(host),
                    (None, None) => Vec::new(),
                },
            ),
        };
        let waiting = &output[pipe.unreported..];
        let written = waiting.len().min(bytes);
        pipe.bytes.extend(&waiting[..written]);
        pipe.unreported += written;
    }

    /// Tells `from` what was moved.
    pub(super) fn report(&mut self, from: Role) {
        let now = self.now();
        match from {
            Role::Edge => {
                let written = std::mem::take(&mut self.to_host.unreported);
                self.edge.handle_written(now, written);
            }
            Role::Host => {
                let written = std::mem::take(&mut self.to_edge.unreported);
                match (&mut self.handshake, &mut self.host) {
                    (Some(handshake), _) => handshake.handle_written(written),
                    (None, Some(host)) => host.handle_written(now, written),
                    (None, None) => {}
                }
            }
        }
    }

    /// Delivers at most `bytes` bytes to `to`.
    pub(super) fn deliver(&mut self, to: Role, bytes: usize) {
        let pipe = match to {
            Role::Edge => &mut self.to_edge,
            Role::Host => &mut self.to_host,
        };
        let count = pipe.bytes.len().min(bytes);
        let bytes: Vec<u8> = pipe.bytes.drain(..count).collect();
        let now = self.now();
        match to {
            Role::Edge => receive(&mut self.edge, now, &bytes, &mut self.edge_saw),
            Role::Host if self.handshake.is_some() => self.receive_handshake(&bytes),
            Role::Host => {
                if let Some(host) = &mut self.host {
                    receive(host, now, &bytes, &mut self.host_saw);
                }
            }
        }
    }

    fn receive_handshake(&mut self, bytes: &[u8]) {
        // The challenge has arrived before the edge could answer it.
        self.report(Role::Host);
        let Some(handshake) = &mut self.handshake else {
            return;
        };
        let edge = match handshake.handle_received(bytes) {
            Ok(None) => return,
            Ok(Some(edge)) => edge,
            Err(error) => return self.host_saw.errors.push(error),
        };
        let now = Now {
            monotonic: Time::from_nanos(self.milliseconds * 1_000_000),
            unix_us: 0,
        };
        if edge.previous.is_some() && self.host.as_ref().map(Session::id) == edge.previous {
            self.host = None;
        }
        match &mut self.host {
            Some(host) if host.id() == edge.session => {
                if let Err(loss) = host.accept_resumed(now, &edge, IDENTITY) {
                    handshake.refuse_lost(&edge, IDENTITY);
                    return self.host_saw.errors.push(LinkError::Lost(loss));
                }
            }
            _ if edge.fresh => {
                let config = self.host_config.clone();
                self.host = Some(Session::accept_fresh(config, now, &edge, IDENTITY));
            }
            _ => return handshake.refuse_lost(&edge, IDENTITY),
        }
        self.handshake = None;
    }

    /// Moves everything, in both directions, until nothing moves any more.
    pub(super) fn settle(&mut self) {
        loop {
            let before = self.moved();
            for (from, to) in [(Role::Edge, Role::Host), (Role::Host, Role::Edge)] {
                self.write(from, usize::MAX);
                self.report(from);
                self.deliver(to, usize::MAX);
            }
            if self.moved() == before {
                return;
            }
        }
    }

    /// Moves as much as the handshake needs and nothing of the window.
    pub(super) fn settle_handshake(&mut self) {
        for _ in 0..3 {
            self.write(Role::Edge, usize::MAX);
            self.report(Role::Edge);
            self.deliver(Role::Host, usize::MAX);
            let bytes = output_of_handshake_or_ack(self);
            self.write(Role::Host, bytes);
            self.report(Role::Host);
            self.deliver(Role::Edge, usize::MAX);
        }
        assert!(self.edge.is_connected(), "{:?}", self.edge_saw.errors);
    }

    fn moved(&self) -> (u64, u64, bool) {
        let sent = |session: &Session| session.counters().bytes_sent;
        let handshaking = self.handshake.is_some();
        (
            sent(&self.edge),
            self.host.as_ref().map_or(0, sent),
            handshaking,
        )
    }

    /// Lets time pass, and both ends notice.
    pub(super) fn wait(&mut self, milliseconds: u64) {
        self.milliseconds += milliseconds;
        let now = self.now();
        if let Err(error) = self.edge.handle_time(now) {
            self.edge_saw.errors.push(error);
        }
        if let Some(host) = &mut self.host
            && let Err(error) = host.handle_time(now)
        {
            self.host_saw.errors.push(error);
        }
    }
}

/// Reads everything that bytes hold; answers a message that asks for it while it is borrowed.
pub(super) fn receive(session: &mut Session, now: Now, bytes: &[u8], seen: &mut Seen) {
    let mut input = session.open(bytes);
    loop {
        match input.next(session, now) {
            Ok(None) => return,
            Ok(Some(Event::Connected(_))) => seen.accepted += 1,
            Ok(Some(Event::Goodbye)) => seen.goodbyes += 1,
            Ok(Some(Event::Message(message))) => {
                let is_publication = matches!(message, Message::Publication(_));
                let payload = payload(message);
                if is_publication && payload == b"answer me" {
                    let answer = reply(payload);
                    session.send(now, &answer).unwrap();
                }
                seen.payloads.push(payload.to_vec());
            }
            Err(error) => return seen.errors.push(error),
        }
    }
}

pub(super) fn publication(payload: &[u8]) -> Message<'_> {
    Message::Publication(Publication {
        id: 1,
        kind: Kind::Channel,
        delivery: DeliveryBy::Edge,
        delivered_here: 1,
        client: 1,
        channel: b"channel",
        payload,
    })
}

pub(super) fn delivery(payload: &[u8]) -> Message<'_> {
    Message::Delivery(Delivery {
        kind: Kind::Channel,
        origin: 0,
        sequence: 1,
        channel: b"channel",
        payload,
    })
}

fn reply(payload: &[u8]) -> Message<'_> {
    Message::ClientReply(ClientReply {
        client: 1,
        last: true,
        close: false,
        bytes: payload,
    })
}

fn payload(message: Message<'_>) -> &[u8] {
    match message {
        Message::Publication(publication) => publication.payload,
        Message::Delivery(delivery) => delivery.payload,
        Message::ClientReply(reply) => reply.bytes,
        message => panic!("{message:?}"),
    }
}

pub(super) fn output_of(session: &Session) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 16];
    let filled = session.fill_slices(&mut slices);
    slices[..filled]
        .iter()
        .flat_map(|slice| slice.to_vec())
        .collect()
}

/// How long the host's part of the handshake is that waits.
fn output_of_handshake_or_ack(pair: &Pair) -> usize {
    let mut first = [IoSlice::new(&[])];
    let filled = match (&pair.handshake, &pair.host) {
        (Some(handshake), _) => handshake.fill_slices(&mut first),
        (None, Some(host)) => host.fill_slices(&mut first),
        (None, None) => 0,
    };
    first[..filled].iter().map(|slice| slice.len()).sum()
}

fn output_of_handshake(handshake: &HostHandshake) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 16];
    let filled = handshake.fill_slices(&mut slices);
    slices[..filled]
        .iter()
        .flat_map(|slice| slice.to_vec())
        .collect()
}
