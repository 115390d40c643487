//! A host, its clients and scripted edges.
//!
//! Clients speak inline commands, one a line; what they get is shown without line ends and lengths.
//! What an edge is told is shown as one line for each message.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::link::handshake::{Authentication, Key, Nonce};
use goblin_protocol::link::message::{
    ClientOpen, CommandOf, DeliveryBy, Encode, Interest, Message, Publication,
};
use goblin_protocol::link::session::{Config as LinkConfig, Event, Session};
use goblin_protocol::resp::Version;
use goblin_protocol::service::{
    Action, Closed, ConnectionId, ListenerId, OUTPUT_SLICES_MAX, Opened, Service,
};
use goblin_protocol::session::ClientLimits;
use goblin_protocol::table::{HashSeed, Kind};
use goblin_protocol::time::{Now, Time};

use crate::{Config, Host};

const FOR_EDGES: ListenerId = ListenerId(1);

pub(super) fn config() -> Config {
    let key = Key::new(&[7; 32]).unwrap();
    Config {
        clients: ClientLimits::default(),
        password: None,
        tcp_keepalive: Duration::ZERO,
        edge_listener: Some(FOR_EDGES),
        link: LinkConfig {
            heartbeat_timeout: Duration::ZERO,
            ..LinkConfig::new(Authentication::SharedKey(key))
        },
        port: 6379,
    }
}

pub(super) type Client = ConnectionId;

/// The scripted end of a link.
struct Edge {
    session: Session,
    connection: Option<ConnectionId>,
    saw: Vec<String>,
    /// Reads nothing from its connection.
    deaf: bool,
}

pub(super) struct World {
    pub(super) host: Host,
    link_config: LinkConfig,
    edges: Vec<Edge>,
    connections: u32,
    milliseconds: u64,
    received: BTreeMap<Client, Vec<u8>>,
    closed: BTreeSet<Client>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(config())
    }

    pub(super) fn with(config: Config) -> Self {
        let mut drawn = 0_u8;
        let random = Box::new(move |bytes: &mut [u8]| {
            drawn = drawn.wrapping_add(1);
            bytes.fill(drawn);
        });
        Self {
            link_config: config.link.clone(),
            host: Host::new(Now::default(), config, HashSeed([1, 2, 3, 4]), random),
            edges: Vec::new(),
            connections: 0,
            milliseconds: 0,
            received: BTreeMap::new(),
            closed: BTreeSet::new(),
        }
    }

    pub(super) fn now(&self) -> Now {
        Now {
            monotonic: Time::from_nanos(self.milliseconds * 1_000_000),
            unix_us: 0,
        }
    }

    pub(super) fn wait(&mut self, milliseconds: u64) {
        self.milliseconds += milliseconds;
        self.settle();
    }

    fn connect(&mut self, listener: ListenerId) -> ConnectionId {
        self.connections += 1;
        let id = ConnectionId {
            index: self.connections,
            generation: 1,
        };
        self.accept(id, listener);
        id
    }

    fn accept(&mut self, id: ConnectionId, listener: ListenerId) {
        let how = Opened::Accepted {
            listener,
            peer: "127.0.0.1:9",
            local: "127.0.0.1:6379",
        };
        self.host.handle_opened(self.now(), id, how);
    }

    // Clients.

    pub(super) fn client(&mut self) -> Client {
        let client = self.connect(ListenerId(0));
        self.settle();
        client
    }

    /// A client that speaks RESP3 and is subscribed to a channel.
    pub(super) fn subscriber(&mut self, channel: &str) -> Client {
        let client = self.client();
        self.sends(client, &format!("HELLO 3\nSUBSCRIBE {channel}"));
        self.received.remove(&client);
        client
    }

    pub(super) fn sends(&mut self, client: Client, lines: &str) {
        let bytes: String = lines.lines().map(|line| format!("{line}\r\n")).collect();
        self.host
            .handle_received(self.now(), client, bytes.as_bytes());
        self.settle();
    }

    /// The client has got this since it was last looked at, and nothing else.
    #[track_caller]
    pub(super) fn sees(&mut self, client: Client, expected: &str) {
        let text = self.takes(client);
        assert_eq!(text, expected);
    }

    pub(super) fn takes(&mut self, client: Client) -> String {
        let bytes = self.received.remove(&client).unwrap_or_default();
        without_lengths(&bytes)
    }

    pub(super) fn is_closed(&self, client: Client) -> bool {
        self.closed.contains(&client)
    }

    // Edges.

    /// An edge whose link is up; it has been told the users.
    pub(super) fn edge(&mut self) -> usize {
        let edge = self.edges.len();
        let session = Session::new(self.link_config.clone(), edge as u64 + 100, "card");
        self.edges.push(Edge {
            session,
            connection: None,
            saw: Vec::new(),
            deaf: false,
        });
        self.edge_connects(edge);
        self.edges[edge].saw.clear();
        edge
    }

    pub(super) fn edge_connects(&mut self, edge: usize) {
        let id = self.connect(FOR_EDGES);
        self.edge_has_connection(edge, id);
    }

    /// The edge comes back on a connection whose index its last one had.
    pub(super) fn edge_connects_in_the_same_place(&mut self, edge: usize, before: ConnectionId) {
        let id = ConnectionId {
            generation: before.generation + 1,
            ..before
        };
        self.accept(id, FOR_EDGES);
        self.edge_has_connection(edge, id);
    }

    fn edge_has_connection(&mut self, edge: usize, id: ConnectionId) {
        let now = self.now();
        let state = &mut self.edges[edge];
        state.session.handle_disconnected(now);
        let nonce = Nonce([id.index.to_le_bytes()[0] ^ 0x80; 32]);
        state.session.handle_connected(now, nonce);
        state.connection = Some(id);
        self.settle();
    }

    pub(super) fn connection_of(&self, edge: usize) -> ConnectionId {
        self.edges[edge].connection.unwrap()
    }

    pub(super) fn edge_is_up(&self, edge: usize) -> bool {
        self.edges[edge].connection.is_some() && self.edges[edge].session.is_connected()
    }

    /// The connection breaks and both ends notice.
    pub(super) fn edge_breaks(&mut self, edge: usize) {
        let now = self.now();
        let state = &mut self.edges[edge];
        if let Some(id) = state.connection.take() {
            state.session.handle_disconnected(now);
            self.host.handle_closed(now, id, Closed::ByPeer);
        }
        self.settle();
    }

    pub(super) fn edge_goes_deaf(&mut self, edge: usize) {
        self.edges[edge].deaf = true;
    }

    /// Bytes on the edge's connection that are no frames.
    /// The edge reads again what waits for it.
    pub(super) fn edge_listens_again(&mut self, edge: usize) {
        self.edges[edge].deaf = false;
        if let Some(id) = self.edges[edge].connection {
            while self.flush(id) {
                self.settle();
            }
        }
    }

    pub(super) fn edge_talks_nonsense(&mut self, edge: usize) {
        let id = self.connection_of(edge);
        self.host.handle_received(self.now(), id, &[0xFF; 64]);
    }

    pub(super) fn edge_says(&mut self, edge: usize, message: &impl Encode) {
        let now = self.now();
        self.edges[edge].session.send(now, message).unwrap();
        self.settle();
    }

    pub(super) fn edge_states(&mut self, edge: usize, kind: Kind, name: &str, count: u32) {
        let name = name.as_bytes();
        self.edge_says(
            edge,
            &Message::Interest(Interest {
                token: 0,
                kind,
                count,
                name,
            }),
        );
    }

    pub(super) fn edge_publishes(&mut self, edge: usize, channel: &str, delivery: DeliveryBy) {
        self.edge_says(
            edge,
            &Message::Publication(Publication {
                id: 0,
                kind: Kind::Channel,
                delivery,
                delivered_here: u32::from(delivery == DeliveryBy::Edge) * 2,
                client: 1,
                channel: channel.as_bytes(),
                payload: b"x",
            }),
        );
    }

    pub(super) fn edge_opens(&mut self, edge: usize, client: u64, user: &str) {
        self.edge_says(
            edge,
            &Message::ClientOpen(ClientOpen {
                client,
                user: user.as_bytes(),
                address: "192.0.2.1:9",
                local_address: "192.0.2.2:6379",
                name: b"",
            }),
        );
    }

    pub(super) fn edge_passes(&mut self, edge: usize, client: u64, commands: &str) {
        for command in commands.lines() {
            let arguments = command.split(' ').map(str::as_bytes);
            self.edge_says(
                edge,
                &CommandOf {
                    client,
                    version: Version::Resp2,
                    arguments: arguments.collect::<Vec<_>>().into_iter(),
                },
            );
        }
    }

    /// The edge was told this since it was last looked at, and nothing else.
    #[track_caller]
    pub(super) fn edge_sees(&mut self, edge: usize, expected: &str) {
        let saw = std::mem::take(&mut self.edges[edge].saw).join("\n");
        assert_eq!(saw, expected);
    }

    // What moves.

    pub(super) fn settle(&mut self) {
        loop {
            self.host.handle_turn(self.now());
            let mut moved = self.act();
            for edge in 0..self.edges.len() {
                moved |= self.edge_writes(edge);
            }
            if !moved && self.host.next_deadline() != Some(Time::ZERO) {
                return;
            }
        }
    }

    /// Performs the host's actions.
    pub(super) fn act(&mut self) -> bool {
        let mut moved = false;
        while let Some(action) = self.host.poll_action() {
            match action {
                Action::Flush(id) => moved |= self.flush(id),
                Action::Close(id) => {
                    self.closed.insert(id);
                    let now = self.now();
                    for edge in &mut self.edges {
                        if edge.connection == Some(id) {
                            edge.connection = None;
                            edge.session.handle_disconnected(now);
                        }
                    }
                    moved = true;
                }
                Action::Dial | Action::Pause(_) | Action::Resume(_) => {}
            }
        }
        moved
    }

    fn flush(&mut self, id: ConnectionId) -> bool {
        let now = self.now();
        let edge = self
            .edges
            .iter_mut()
            .find(|edge| edge.connection == Some(id));
        if edge.as_ref().is_some_and(|edge| edge.deaf) {
            return false;
        }
        let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
        let filled = self.host.output(id, &mut slices);
        let bytes = bytes_of(&slices[..filled]);
        self.host.handle_written(now, id, bytes.len());
        match edge {
            Some(edge) => edge.hears(now, &bytes),
            None => self.received.entry(id).or_default().extend(&bytes),
        }
        !bytes.is_empty()
    }

    fn edge_writes(&mut self, edge: usize) -> bool {
        let now = self.now();
        let state = &mut self.edges[edge];
        let Some(id) = state.connection else {
            return false;
        };
        let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
        let filled = state.session.fill_slices(&mut slices);
        let bytes = bytes_of(&slices[..filled]);
        state.session.handle_written(now, bytes.len());
        if !bytes.is_empty() {
            self.host.handle_received(now, id, &bytes);
        }
        !bytes.is_empty()
    }
}

impl Edge {
    fn hears(&mut self, now: Now, bytes: &[u8]) {
        let mut input = self.session.open(bytes);
        while let Ok(Some(event)) = input.next(&mut self.session, now) {
            match event {
                Event::Message(message) => self.saw.push(describe(&message)),
                Event::Connected(connected) => self.saw.push(
                    if connected.resumed {
                        "resumed"
                    } else {
                        "begun"
                    }
                    .into(),
                ),
                Event::Goodbye => self.saw.push("goodbye".into()),
            }
        }
    }
}

fn bytes_of(slices: &[IoSlice<'_>]) -> Vec<u8> {
    slices.iter().flat_map(|slice| slice.to_vec()).collect()
}

fn without_lengths(bytes: &[u8]) -> String {
    let is_length = |line: &&str| {
        line.strip_prefix('$')
            .is_some_and(|number| number.parse::<usize>().is_ok())
    };
    String::from_utf8_lossy(bytes)
        .lines()
        .filter(|line| !is_length(line))
        .collect::<Vec<_>>()
        .join(" ")
}

fn describe(message: &Message<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match message {
        Message::InterestConfirmed { token } => format!("confirmed #{token}"),
        Message::PublicationResult { id, deliveries, .. } => format!("result #{id} {deliveries}"),
        Message::Delivery(delivery) => {
            format!("{} {}", text(delivery.channel), text(delivery.payload))
        }
        Message::ClientReply(reply) => {
            format!("{}: {}", reply.client, without_lengths(reply.bytes))
        }
        Message::Rights { user, rules } => format!("rights {} {}", text(user), text(rules)),
        Message::RightsBegin => "rights begin".into(),
        Message::RightsEnd => "rights end".into(),
        Message::RightsGone { user } => format!("gone {}", text(user)),
        message => format!("{message:?}"),
    }
}
