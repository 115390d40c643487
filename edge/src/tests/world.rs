//! An edge, its clients and a scripted host.
//!
//! Clients speak inline commands, one a line. What they get is shown without line ends and lengths:
//! `*3 message news hello`. What the host is told is shown as one line for each message.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::link::handshake::{Authentication, HostHandshake, Key, Nonce};
use goblin_protocol::link::message::{ClientReply, Delivery, DeliveryBy, Message};
use goblin_protocol::link::session::{Config as LinkConfig, Event, HostIdentity, Session};
use goblin_protocol::service::{
    Action, Closed, ConnectionId, ListenerId, OUTPUT_SLICES_MAX, Opened, Service,
};
use goblin_protocol::session::ClientLimits;
use goblin_protocol::table::{HashSeed, Kind};
use goblin_protocol::time::{Now, Time};

use crate::publications::pack;
use crate::{Config, Delivery as DeliveredBy, Edge, OnGap, OnUpstreamLoss};

const IDENTITY: HostIdentity = HostIdentity {
    instance: 7,
    edge_number: 1,
};
const LOOPBACK: &str = "127.0.0.1:6379";
/// Connections of the link have numbers that no client gets.
const FIRST_LINK: u32 = 1_000;
/// How long a command waits for the link.
pub(super) const TIMEOUT_MS: u64 = 1_000;

pub(super) fn config() -> Config {
    let key = Key::new(&[7; 32]).unwrap();
    Config {
        name: "card".into(),
        upstream: "host".into(),
        clients: ClientLimits::default(),
        allow_unauthenticated: false,
        delivery: DeliveredBy::Local,
        host_ordered: vec![b"ordered.*".as_slice().into()],
        on_upstream_loss: OnUpstreamLoss::Reject,
        on_gap: OnGap::Close,
        upstream_timeout: Duration::from_millis(TIMEOUT_MS),
        link: LinkConfig {
            heartbeat_timeout: Duration::ZERO,
            ..LinkConfig::new(Authentication::SharedKey(key))
        },
    }
}

pub(super) type Client = ConnectionId;

pub(super) struct World {
    pub(super) edge: Edge,
    /// What the host tells of users when a session begins.
    pub(super) users: Vec<(&'static str, &'static str)>,
    link_config: LinkConfig,
    host: Option<Session>,
    handshake: Option<HostHandshake>,
    link: Option<ConnectionId>,
    links: u32,
    clients: u32,
    dial_asked: bool,
    /// The link carries nothing from the edge for now.
    pub(super) host_is_deaf: bool,
    milliseconds: u64,
    host_saw: Vec<String>,
    received: BTreeMap<Client, Vec<u8>>,
    /// Clients that do not read.
    stuck: BTreeSet<Client>,
    closed: BTreeSet<Client>,
    paused: BTreeSet<Client>,
}

impl World {
    /// An edge whose link is up, with one user who may do everything, all interest confirmed.
    pub(super) fn new() -> Self {
        Self::with(config())
    }

    pub(super) fn with(config: Config) -> Self {
        let mut world = Self::alone(config);
        world.link_comes_up();
        world.host_sees("begin\nend #1");
        world.host_confirms(1);
        world
    }

    /// An edge that has not reached its host yet.
    pub(super) fn alone(config: Config) -> Self {
        let mut drawn = 0_u8;
        let link_config = config.link.clone();
        let random = Box::new(move |bytes: &mut [u8]| {
            drawn = drawn.wrapping_add(1);
            bytes.fill(drawn);
        });
        let edge = Edge::new(Now::default(), config, HashSeed([1, 2, 3, 4]), random);
        let mut world = Self {
            edge,
            users: vec![("default", "on nopass ~* &* +@all")],
            link_config,
            host: None,
            handshake: None,
            link: None,
            links: FIRST_LINK,
            clients: 0,
            dial_asked: false,
            host_is_deaf: false,
            milliseconds: 0,
            host_saw: Vec::new(),
            received: BTreeMap::new(),
            stuck: BTreeSet::new(),
            closed: BTreeSet::new(),
            paused: BTreeSet::new(),
        };
        world.settle();
        world
    }

    pub(super) fn now(&self) -> Now {
        Now {
            monotonic: Time::from_nanos(self.milliseconds * 1_000_000),
            unix_us: 0,
        }
    }

    /// Lets time pass in small steps, as deadlines would.
    pub(super) fn wait(&mut self, milliseconds: u64) {
        let until = self.milliseconds + milliseconds;
        while self.milliseconds < until {
            self.milliseconds = (self.milliseconds + 50).min(until);
            self.settle();
        }
    }

    // Clients.

    pub(super) fn client(&mut self) -> Client {
        self.client_at(LOOPBACK)
    }

    /// A client that speaks RESP3.
    pub(super) fn resp3_client(&mut self) -> Client {
        let client = self.client();
        self.sends(client, "HELLO 3");
        self.received.remove(&client);
        client
    }

    pub(super) fn client_at(&mut self, local: &str) -> Client {
        self.clients += 1;
        let client = ConnectionId {
            index: self.clients,
            generation: 1,
        };
        let how = Opened::Accepted {
            listener: ListenerId(0),
            peer: "127.0.0.1:9",
            local,
        };
        self.edge.handle_opened(self.now(), client, how);
        self.settle();
        client
    }

    /// A client with a subscription that the host has confirmed with this token.
    pub(super) fn subscriber(&mut self, channel: &str, token: u64) -> Client {
        let client = self.client();
        self.sends(client, &format!("SUBSCRIBE {channel}"));
        self.host_confirms(token);
        self.sees(client, &format!("*3 subscribe {channel} :1"));
        self.host_saw.clear();
        client
    }

    pub(super) fn sends(&mut self, client: Client, lines: &str) {
        let bytes: String = lines.lines().map(|line| format!("{line}\r\n")).collect();
        self.sends_bytes(client, bytes.as_bytes());
    }

    pub(super) fn sends_bytes(&mut self, client: Client, bytes: &[u8]) {
        self.edge.handle_received(self.now(), client, bytes);
        self.settle();
    }

    pub(super) fn stops_reading(&mut self, client: Client) {
        self.stuck.insert(client);
    }

    pub(super) fn leaves(&mut self, client: Client) {
        self.edge.handle_closed(self.now(), client, Closed::ByPeer);
        self.settle();
    }

    /// The client has got this since it was last looked at, and nothing else.
    #[track_caller]
    pub(super) fn sees(&mut self, client: Client, expected: &str) {
        let text = self.takes(client);
        assert_eq!(text, expected);
    }

    #[track_caller]
    pub(super) fn sees_nothing(&mut self, client: Client) {
        self.sees(client, "");
    }

    /// What the client has got since it was last looked at.
    pub(super) fn takes(&mut self, client: Client) -> String {
        let bytes = self.received.remove(&client).unwrap_or_default();
        let is_length = |line: &&str| {
            line.strip_prefix('$')
                .is_some_and(|number| number.parse::<usize>().is_ok())
        };
        String::from_utf8_lossy(&bytes)
            .lines()
            .filter(|line| !is_length(line))
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(super) fn is_closed(&self, client: Client) -> bool {
        self.closed.contains(&client)
    }

    pub(super) fn is_paused(&self, client: Client) -> bool {
        self.paused.contains(&client)
    }

    // The host.

    /// The host was told this since it was last looked at, and nothing else.
    #[track_caller]
    pub(super) fn host_sees(&mut self, expected: &str) {
        let saw = std::mem::take(&mut self.host_saw).join("\n");
        assert_eq!(saw, expected);
    }

    /// The last that the host was told since it was last looked at.
    #[track_caller]
    pub(super) fn host_sees_at_the_end(&mut self, expected: &str) {
        let saw = std::mem::take(&mut self.host_saw).join("\n");
        assert!(saw.ends_with(expected), "{}", saw.len());
    }

    pub(super) fn host_says(&mut self, message: &Message<'_>) {
        let now = self.now();
        self.host.as_mut().unwrap().send(now, message).unwrap();
        self.settle();
    }

    pub(super) fn host_confirms(&mut self, token: u64) {
        self.host_says(&Message::InterestConfirmed { token });
    }

    pub(super) fn host_answers(&mut self, id: u64, deliveries: u64) {
        self.host_says(&Message::PublicationResult {
            id,
            deliveries,
            refused: "",
        });
    }

    pub(super) fn host_replies(&mut self, client: Client, reply: &str) {
        self.host_says(&Message::ClientReply(ClientReply {
            client: pack(client),
            last: true,
            close: false,
            bytes: reply.as_bytes(),
        }));
    }

    pub(super) fn host_delivers(&mut self, channel: &str, payload: &str) {
        self.host_says(&Message::Delivery(Delivery {
            kind: Kind::Channel,
            origin: 2,
            sequence: 1,
            channel: channel.as_bytes(),
            payload: payload.as_bytes(),
        }));
    }

    pub(super) fn host_changes_user(&mut self, user: &str, rules: &str) {
        self.host_says(&Message::Rights {
            user: user.as_bytes(),
            rules: rules.as_bytes(),
        });
    }

    // The link.

    /// The connection breaks; the session can be resumed.
    pub(super) fn link_breaks(&mut self) {
        let now = self.now();
        if let Some(id) = self.link.take() {
            self.edge.handle_closed(now, id, Closed::Failed(104));
        }
        if let Some(host) = &mut self.host {
            host.handle_disconnected(now);
        }
        self.settle();
    }

    /// The connection breaks and the host knows nothing of its session any more.
    pub(super) fn host_restarts(&mut self) {
        self.link_breaks();
        self.host = None;
    }

    /// The edge reaches the host, at its first or a later attempt.
    pub(super) fn link_comes_up(&mut self) {
        for _ in 0..200 {
            if self.edge.is_link_up() {
                return;
            }
            if std::mem::take(&mut self.dial_asked) {
                self.connect_link();
            } else {
                self.wait(50);
            }
        }
        panic!("the link does not come up");
    }

    fn connect_link(&mut self) {
        self.links += 1;
        let id = ConnectionId {
            index: self.links,
            generation: 1,
        };
        let nonce = Nonce([self.links.to_le_bytes()[0]; 32]);
        let now = self.now();
        self.handshake = Some(HostHandshake::new(&self.link_config, now, nonce));
        self.link = Some(id);
        self.edge.handle_opened(now, id, Opened::Dialed);
        self.settle();
    }

    /// Moves everything until nothing moves any more.
    pub(super) fn settle(&mut self) {
        loop {
            self.edge.handle_turn(self.now());
            let mut moved = false;
            while let Some(action) = self.edge.poll_action() {
                moved |= self.act(action);
            }
            moved |= self.host_writes();
            if !moved && self.edge.next_deadline() != Some(Time::ZERO) {
                return;
            }
        }
    }

    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Dial => self.dial_asked = true,
            Action::Flush(id) if self.link == Some(id) => return self.flush_link(id),
            Action::Flush(id) if self.stuck.contains(&id) => return false,
            Action::Flush(id) => {
                let bytes = output_of(&self.edge, id);
                self.received.entry(id).or_default().extend(&bytes);
                self.edge.handle_written(self.now(), id, bytes.len());
                return !bytes.is_empty();
            }
            Action::Close(id) if self.link == Some(id) => {
                self.link = None;
                self.handshake = None;
                let now = self.now();
                if let Some(host) = &mut self.host {
                    host.handle_disconnected(now);
                }
            }
            Action::Close(id) => {
                self.closed.insert(id);
            }
            Action::Pause(id) => {
                self.paused.insert(id);
            }
            Action::Resume(id) => {
                self.paused.remove(&id);
            }
        }
        true
    }

    fn flush_link(&mut self, id: ConnectionId) -> bool {
        if self.host_is_deaf {
            return false;
        }
        let bytes = output_of(&self.edge, id);
        let now = self.now();
        self.edge.handle_written(now, id, bytes.len());
        if self.handshake.is_some() {
            self.host_shakes_hands(now, &bytes);
        } else if let Some(host) = &mut self.host {
            let mut input = host.open(&bytes);
            while let Ok(Some(event)) = input.next(host, now) {
                if let Event::Message(message) = event {
                    self.host_saw.extend(describe(&message));
                }
            }
        }
        !bytes.is_empty()
    }

    fn host_shakes_hands(&mut self, now: Now, bytes: &[u8]) {
        let Some(handshake) = &mut self.handshake else {
            return;
        };
        let Some(edge) = handshake.handle_received(bytes).unwrap() else {
            return;
        };
        match &mut self.host {
            Some(host) if host.id() == edge.session => {
                host.accept_resumed(now, &edge, IDENTITY).unwrap();
            }
            _ if edge.fresh => {
                let config = self.link_config.clone();
                let mut host = Session::accept_fresh(config, now, &edge, IDENTITY);
                if !self.users.is_empty() {
                    host.send(now, &Message::RightsBegin).unwrap();
                    for (user, rules) in &self.users {
                        let (user, rules) = (user.as_bytes(), rules.as_bytes());
                        host.send(now, &Message::Rights { user, rules }).unwrap();
                    }
                    host.send(now, &Message::RightsEnd).unwrap();
                }
                self.host = Some(host);
            }
            _ => return handshake.refuse_lost(&edge, IDENTITY),
        }
        self.handshake = None;
    }

    fn host_writes(&mut self) -> bool {
        let Some(id) = self.link else {
            return false;
        };
        let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
        let filled = match (&self.handshake, &self.host) {
            (Some(handshake), _) => handshake.fill_slices(&mut slices),
            (None, Some(host)) => host.fill_slices(&mut slices),
            (None, None) => 0,
        };
        let bytes: Vec<u8> = slices[..filled].concat_bytes();
        let now = self.now();
        match (&mut self.handshake, &mut self.host) {
            (Some(handshake), _) => handshake.handle_written(bytes.len()),
            (None, Some(host)) => host.handle_written(now, bytes.len()),
            (None, None) => {}
        }
        if !bytes.is_empty() {
            self.edge.handle_received(now, id, &bytes);
        }
        !bytes.is_empty()
    }
}

trait ConcatBytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl ConcatBytes for [IoSlice<'_>] {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|slice| slice.to_vec()).collect()
    }
}

fn output_of(edge: &Edge, id: ConnectionId) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
    let filled = edge.output(id, &mut slices);
    slices[..filled].concat_bytes()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One line for a message that the host gets; figures are nobody's concern here.
fn describe(message: &Message<'_>) -> Option<String> {
    Some(match message {
        Message::Interest(interest) => {
            let kind = match interest.kind {
                Kind::Channel => "",
                Kind::Pattern => "pattern ",
                Kind::Shard => "shard ",
            };
            let token = match interest.token {
                0 => String::new(),
                token => format!(" #{token}"),
            };
            format!("{kind}{}={}{token}", text(interest.name), interest.count)
        }
        Message::InterestBegin { .. } => "begin".into(),
        Message::InterestEnd { token, .. } => format!("end #{token}"),
        Message::Publication(publication) => {
            let delivered = match publication.delivery {
                DeliveryBy::Edge => format!("delivered {}", publication.delivered_here),
                DeliveryBy::Host => "to be delivered".into(),
            };
            let (channel, payload) = (text(publication.channel), text(publication.payload));
            format!(
                "publish #{} {channel} {payload} {delivered}",
                publication.id
            )
        }
        Message::ClientOpen(open) => format!("open {} {}", number(open.client), text(open.user)),
        Message::ClientCommand(command) => {
            let words: Vec<String> = command.arguments.iter().map(text).collect();
            format!("{}: {}", number(command.client), words.join(" "))
        }
        Message::ClientClose { client } => format!("close {}", number(*client)),
        Message::Statistics(_) => return None,
        message => panic!("an edge said {message:?}"),
    })
}

fn number(client: u64) -> u32 {
    crate::publications::unpack(client).index
}
