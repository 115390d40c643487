//! The edges: their connections, their sessions, their interest, and the clients behind them.
//!
//! A connection on the edges' listener is a handshake until the edge has proved itself; then it
//! carries a session, which outlives it. An edge is named by its place in the table; its number on the
//! link is that plus one, because 0 is the host.
//!
//! Here is the table and what moves it; `admission` lets an edge in, `messages` does what it says.
//!
//! Invariant: a place is `Edge(i)` exactly for the connection of edge `i`.

mod admission;
mod messages;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write;
use std::io::IoSlice;
use std::sync::Arc;

use goblin_protocol::link::SendError;
use goblin_protocol::link::handshake::{HostHandshake, Nonce};
use goblin_protocol::link::message::{Encode, Message};
use goblin_protocol::link::session::{self, Event, Session};
use goblin_protocol::resp::OwnedRequest;
use goblin_protocol::service::{Action, ConnectionId, OUTPUT_SLICES_MAX};
use goblin_protocol::session::Info;
use goblin_protocol::table::{Kind, SubscriberId};
use goblin_protocol::time::{Now, Time};
use tracing::{info, warn};

use crate::client::RemoteClient;
use crate::config::Config;
use crate::host::{Host, Randomness};
use crate::users::User;

/// Most connections that may be in the middle of a handshake; more are closed at once.
const HANDSHAKES_MAX: usize = 256;
/// Most bytes that one edge may send while it does not take what it is sent; more end its session.
const DEFERRED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most edges; more are turned away.
const EDGES_MAX: usize = 1_024;

/// What a connection on the edges' listener is.
enum Place {
    Handshake(Box<Handshake>),
    Edge(usize),
}

struct Handshake {
    state: HostHandshake,
    address: Box<str>,
    /// The connection is to be closed once the driver has flushed it.
    parting: bool,
}

pub(crate) struct Edge {
    session: Session,
    connection: Option<ConnectionId>,
    address: Box<str>,
    clients: HashMap<u64, RemoteClient>,
    /// While the edge states its whole interest anew: the names stated so far. The others go when the
    /// statement is complete, so that nothing is missed meanwhile.
    stated: Option<HashSet<(Kind, Box<[u8]>)>>,
    /// What the edge said last about itself.
    figures: Vec<(String, u64)>,
    /// What the edge sent while its link was full, encoded: it is executed when there is room for what
    /// comes of it.
    deferred: VecDeque<Vec<u8>>,
    deferred_bytes: usize,
    parting: bool,
    flush_pending: bool,
}

impl Edge {
    /// Whether what the edge sends has to wait.
    fn must_defer(&self) -> bool {
        self.session.is_full() || !self.deferred.is_empty()
    }
}

pub(crate) struct Edges {
    config: session::Config,
    random: Randomness,
    instance: u64,
    /// By the connection's index.
    places: Vec<Option<(ConnectionId, Place)>>,
    handshakes: usize,
    edges: Vec<Option<Edge>>,
    by_session: HashMap<u64, usize>,
    actions: VecDeque<Action>,
    unflushed: VecDeque<usize>,
    /// Connections that the driver has been asked to flush and to close.
    parting: Vec<ConnectionId>,
    /// Those of them for which it has had its turn.
    parted: Vec<ConnectionId>,
    /// The command of an edge's client, put together from the link's words.
    request: OwnedRequest,
    sessions_begun: u64,
    sessions_lost: u64,
}

impl Edges {
    pub(crate) fn new(config: &Config, mut random: Randomness) -> Self {
        let mut instance = [0; 8];
        random(&mut instance);
        Self {
            config: config.link.clone(),
            random,
            instance: u64::from_le_bytes(instance),
            places: Vec::new(),
            handshakes: 0,
            edges: Vec::new(),
            by_session: HashMap::new(),
            actions: VecDeque::new(),
            unflushed: VecDeque::new(),
            parting: Vec::new(),
            parted: Vec::new(),
            request: OwnedRequest::default(),
            sessions_begun: 0,
            sessions_lost: 0,
        }
    }

    /// The number of an edge on the link.
    pub(crate) fn number(&self, edge: usize) -> u32 {
        u32::try_from(edge + 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn connected(&self) -> usize {
        self.iter()
            .filter(|edge| edge.session.is_connected())
            .count()
    }

    /// The lines of `CLIENT LIST` for the clients behind edges that have sent a command through.
    pub(crate) fn list_clients(&self, out: &mut String) {
        for edge in self.iter() {
            for (number, client) in &edge.clients {
                // Writing to a String cannot fail.
                let _ = writeln!(
                    out,
                    "id={number} addr={} laddr= fd=-1 name={} age=0 idle=0 flags=N db=0 sub=0 psub=0 \
                     ssub=0 multi={} qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 \
                     oll=0 omem=0 tot-mem=0 events=r cmd=NULL user={} redir=-1 resp=2 lib-name= \
                     lib-ver= edge={}",
                    client.address,
                    String::from_utf8_lossy(&client.name),
                    client
                        .conversation
                        .transaction
                        .as_ref()
                        .map_or(-1, |open| i64::try_from(open.queued.len())
                            .unwrap_or(i64::MAX)),
                    String::from_utf8_lossy(&client.conversation.user.name),
                    edge.session.name(),
                );
            }
        }
    }

    pub(crate) fn client_count(&self) -> usize {
        self.iter().map(|edge| edge.clients.len()).sum()
    }

    fn iter(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter().flatten()
    }

    fn edge_mut(&mut self, edge: usize) -> Option<&mut Edge> {
        self.edges.get_mut(edge)?.as_mut()
    }

    pub(crate) fn client(&self, edge: usize, client: u64) -> Option<&RemoteClient> {
        self.edges.get(edge)?.as_ref()?.clients.get(&client)
    }

    pub(crate) fn client_mut(&mut self, edge: usize, client: u64) -> Option<&mut RemoteClient> {
        self.edge_mut(edge)?.clients.get_mut(&client)
    }

    fn place(&self, id: ConnectionId) -> Option<&Place> {
        match self.places.get(id.index as usize)? {
            Some((owner, place)) if *owner == id => Some(place),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn has_connection(&self, id: ConnectionId) -> bool {
        self.place(id).is_some()
    }

    fn edge_of(&self, id: ConnectionId) -> Option<usize> {
        match self.place(id)? {
            Place::Edge(edge) => Some(*edge),
            Place::Handshake(_) => None,
        }
    }

    fn handshake_mut(&mut self, id: ConnectionId) -> Option<&mut Handshake> {
        match self.places.get_mut(id.index as usize)? {
            Some((owner, Place::Handshake(handshake))) if *owner == id => Some(handshake),
            _ => None,
        }
    }

    fn set_place(&mut self, id: ConnectionId, place: Option<Place>) {
        let index = id.index as usize;
        if self.places.len() <= index {
            self.places.resize_with(index + 1, || None);
        }
        let is_handshake = |place: &Place| matches!(place, Place::Handshake(_));
        if let Some((_, before)) = &self.places[index] {
            self.handshakes -= usize::from(is_handshake(before));
        }
        self.handshakes += usize::from(place.as_ref().is_some_and(is_handshake));
        self.places[index] = place.map(|place| (id, place));
    }

    /// The connection that had the index of a new one and whose end has not been dealt with.
    pub(crate) fn predecessor(&self, id: ConnectionId) -> Option<ConnectionId> {
        let (before, _) = self.places.get(id.index as usize)?.as_ref()?;
        Some(*before)
    }

    /// Somebody connected to the edges' listener.
    pub(crate) fn accept(&mut self, now: Now, id: ConnectionId, address: &str) {
        if self.handshakes >= HANDSHAKES_MAX {
            self.actions.push_back(Action::Close(id));
            return;
        }
        let mut nonce = [0; 32];
        (self.random)(&mut nonce);
        let handshake = Handshake {
            state: HostHandshake::new(&self.config, now, Nonce(nonce)),
            address: address.into(),
            parting: false,
        };
        self.set_place(id, Some(Place::Handshake(Box::new(handshake))));
    }

    /// Sends a message to an edge, now or when it is back.
    pub(crate) fn send(&mut self, now: Now, edge: usize, message: &impl Encode) {
        if !self.send_unless_too_long(now, edge, message)
            && let Some(state) = self.edge_mut(edge)
        {
            // Without it the edge would not know what it missed: better it knows that it did.
            warn!(
                edge = state.session.name(),
                "a message is too long for the link"
            );
            state.session.abandon();
            self.part(edge);
        }
    }

    /// As [`send`](Self::send); false when the message is longer than the link takes.
    fn send_unless_too_long(&mut self, now: Now, edge: usize, message: &impl Encode) -> bool {
        let Some(state) = self.edge_mut(edge) else {
            return true;
        };
        if state.session.is_full() && !state.session.is_connected() {
            // What a link that is down may cost is the window.
            state.session.abandon();
        }
        match state.session.send(now, message) {
            Ok(()) | Err(SendError::Closing) => self.mark_unflushed(edge),
            Err(SendError::TooLong { .. }) => return false,
            Err(error) => {
                if state.connection.is_some() && !state.parting {
                    warn!(edge = state.session.name(), %error, "an edge does not keep up");
                }
                self.part(edge);
            }
        }
        true
    }

    /// Keeps a message of an edge whose link is full. The edge's own window bounds what it sends without
    /// an answer, but not what it sends altogether.
    fn defer(&mut self, edge: usize, message: &Message<'_>) {
        let Some(state) = self.edge_mut(edge) else {
            return;
        };
        let mut bytes = Vec::with_capacity(message.encoded_len());
        message.encode(&mut bytes);
        state.deferred_bytes += bytes.len();
        state.deferred.push_back(bytes);
        if state.deferred_bytes > DEFERRED_BYTES_MAX {
            warn!(
                edge = state.session.name(),
                "an edge does not keep up and sends on"
            );
            state.session.abandon();
            self.part(edge);
        }
    }

    fn mark_unflushed(&mut self, edge: usize) {
        if let Some(state) = self.edge_mut(edge)
            && !state.flush_pending
            && state.session.has_output()
        {
            state.flush_pending = true;
            self.unflushed.push_back(edge);
        }
    }

    /// Closes an edge's connection once the edge has been told why, as far as the transport takes it.
    fn part(&mut self, edge: usize) {
        let Some(state) = self.edge_mut(edge) else {
            return;
        };
        if let Some(id) = state.connection
            && !state.parting
        {
            state.parting = true;
            self.flush_and_close(id);
        }
    }

    fn flush_and_close(&mut self, id: ConnectionId) {
        self.actions.push_back(Action::Flush(id));
        self.actions.push_back(Action::Close(id));
        self.parting.push(id);
    }

    pub(crate) fn handle_written(&mut self, now: Now, id: ConnectionId, bytes: usize) {
        match self.edge_of(id) {
            Some(edge) => {
                if let Some(state) = self.edge_mut(edge) {
                    state.session.handle_written(now, bytes);
                }
            }
            None => {
                if let Some(handshake) = self.handshake_mut(id) {
                    handshake.state.handle_written(bytes);
                }
            }
        }
    }

    pub(crate) fn output<'a>(
        &'a self,
        id: ConnectionId,
        slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX],
    ) -> usize {
        match self.place(id) {
            Some(Place::Handshake(handshake)) => handshake.state.fill_slices(slices),
            Some(Place::Edge(edge)) => match self.edges.get(*edge) {
                Some(Some(state)) => state.session.fill_slices(slices),
                _ => 0,
            },
            None => 0,
        }
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        while let Some(edge) = self.unflushed.pop_front() {
            if let Some(state) = self.edge_mut(edge) {
                state.flush_pending = false;
                if let Some(id) = state.connection
                    && !state.parting
                {
                    return Some(Action::Flush(id));
                }
            }
        }
        None
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        if !(self.parting.is_empty() && self.parted.is_empty()) {
            return Some(Time::ZERO);
        }
        let sessions = self.iter().filter_map(|edge| edge.session.next_deadline());
        let places: &[_] = if self.handshakes > 0 {
            &self.places
        } else {
            &[]
        };
        let handshakes = places.iter().filter_map(|place| match place {
            Some((_, Place::Handshake(handshake))) => handshake.state.next_deadline(),
            _ => None,
        });
        sessions.chain(handshakes).min()
    }

    pub(crate) fn say_goodbye(&mut self, now: Now) {
        for edge in 0..self.edges.len() {
            if let Some(state) = self.edge_mut(edge)
                && state.session.is_connected()
            {
                state.session.say_goodbye(now);
                self.mark_unflushed(edge);
            }
        }
    }

    /// Whether every goodbye has arrived, or there is nobody to say it to.
    pub(crate) fn are_finished(&self) -> bool {
        self.iter()
            .all(|edge| !edge.session.is_connected() || edge.session.is_drained())
    }

    /// Tells all edges what a user may do from now on.
    pub(crate) fn tell_user(&mut self, now: Now, user: &User) {
        let mut rules = Vec::new();
        user.account.write(&mut rules);
        let message = Message::Rights {
            user: &user.name,
            rules: &rules,
        };
        self.send_to_all(now, &message);
    }

    /// Tells all edges that a user is gone.
    pub(crate) fn tell_user_gone(&mut self, now: Now, user: &[u8]) {
        self.send_to_all(now, &Message::RightsGone { user });
        for edge in self.edges.iter_mut().flatten() {
            edge.clients
                .retain(|_, client| *client.conversation.user.name != *user);
        }
    }

    fn send_to_all(&mut self, now: Now, message: &Message<'_>) {
        for edge in 0..self.edges.len() {
            self.send(now, edge, message);
        }
    }

    /// The clients of a changed user have its new rights.
    pub(crate) fn replace_user(&mut self, user: &Arc<User>) {
        for edge in self.edges.iter_mut().flatten() {
            for client in edge.clients.values_mut() {
                if client.conversation.user.name == user.name {
                    client.conversation.user = Arc::clone(user);
                }
            }
        }
    }

    pub(crate) fn write_info(&self, info: &mut Info) {
        info.section("Link")
            .field("link_instance", format_args!("{:016x}", self.instance))
            .field("edges", self.iter().count())
            .field("edges_connected", self.connected())
            .field("link_handshakes", self.handshakes)
            .field("link_sessions_begun", self.sessions_begun)
            .field("link_sessions_lost", self.sessions_lost);
        for (number, edge) in self.edges.iter().enumerate() {
            let Some(edge) = edge else {
                continue;
            };
            let counters = edge.session.counters();
            let figures: String = edge
                .figures
                .iter()
                .map(|(name, value)| format!(",{name}={value}"))
                .collect();
            info.field(
                &format!("edge{}", number + 1),
                format_args!(
                    "name={},addr={},up={},remote_clients={},in_order={},kept_aside={},\
                     duplicate={},overflow={},gap={},pending_frames={},pending_bytes={},\
                     reconnects={},resumes={}{figures}",
                    edge.session.name(),
                    edge.address,
                    u8::from(edge.session.is_connected()),
                    edge.clients.len(),
                    counters.in_order,
                    counters.kept_aside,
                    counters.duplicate,
                    counters.overflow,
                    counters.gap,
                    counters.pending_frames,
                    counters.pending_bytes,
                    counters.reconnects,
                    counters.resumes,
                ),
            );
        }
    }
}

/// An edge as a subscriber of what its clients are interested in.
fn subscriber(edge: usize) -> SubscriberId {
    SubscriberId(u32::try_from(edge).unwrap_or(u32::MAX))
}

impl Host {
    pub(crate) fn receive_from_edge(&mut self, now: Now, id: ConnectionId, bytes: &[u8]) {
        let Some(edge) = self.edges.edge_of(id) else {
            return self.receive_handshake(now, id, bytes);
        };
        let Some(state) = self.edges.edge_mut(edge) else {
            return;
        };
        let mut input = state.session.open(bytes);
        while let Some(state) = self.edges.edge_mut(edge) {
            match input.next(&mut state.session, now) {
                Ok(Some(Event::Message(message))) if state.must_defer() => {
                    self.edges.defer(edge, &message);
                }
                Ok(Some(Event::Message(message))) => self.handle_message(now, edge, message),
                Ok(Some(Event::Goodbye)) => {
                    info!(edge = state.session.name(), "the edge said goodbye");
                    self.edges.part(edge);
                    break;
                }
                Ok(Some(Event::Connected(_))) => {}
                Ok(None) => break,
                Err(error) => {
                    warn!(edge = state.session.name(), %error, "link broken");
                    self.edges.part(edge);
                    break;
                }
            }
        }
        self.execute_deferred(now, edge);
        self.edges.mark_unflushed(edge);
        self.apply_user_changes(now, None);
    }

    /// The session is over: the edge's interest and the clients behind it are gone.
    fn lose_edge(&mut self, edge: usize, why: &str) {
        let Some(state) = self.edges.edges.get_mut(edge).and_then(Option::take) else {
            return;
        };
        info!(edge = state.session.name(), why, "session over");
        self.edges.by_session.remove(&state.session.id());
        self.edges.sessions_lost += 1;
        if let Some(id) = state.connection {
            self.edges.set_place(id, None);
            self.edges.actions.push_back(Action::Close(id));
        }
        self.interest.remove(subscriber(edge), |_, _, _| {});
    }

    pub(crate) fn edge_disconnected(&mut self, now: Now, id: ConnectionId) {
        if !self.edges.has_connection(id) {
            // Its index may belong to another connection by now.
            return;
        }
        let edge = self.edges.edge_of(id);
        self.edges.set_place(id, None);
        let Some(edge) = edge else {
            return;
        };
        let Some(state) = self.edges.edge_mut(edge) else {
            return;
        };
        state.connection = None;
        state.parting = false;
        state.session.handle_disconnected(now);
        let name = state.session.name();
        let over = match (state.session.loss(), state.session.is_closed()) {
            (Some(loss), _) => Some(loss.to_string()),
            (None, true) => Some("goodbye".to_owned()),
            (None, false) => {
                warn!(edge = name, "link down");
                None
            }
        };
        if let Some(why) = over {
            self.lose_edge(edge, &why);
        }
    }

    /// What time and the turn before have left to do.
    pub(crate) fn drive_edges(&mut self, now: Now) {
        let parting = std::mem::take(&mut self.edges.parting);
        for id in std::mem::replace(&mut self.edges.parted, parting) {
            self.edge_disconnected(now, id);
        }
        for edge in 0..self.edges.edges.len() {
            self.drive_edge(now, edge);
        }
        if self.edges.handshakes > 0 {
            self.time_out_handshakes(now);
        }
    }

    fn drive_edge(&mut self, now: Now, edge: usize) {
        let Some(state) = self.edges.edge_mut(edge) else {
            return;
        };
        if let Err(error) = state.session.handle_time(now) {
            warn!(edge = state.session.name(), %error, "link broken");
            if state.connection.is_some() {
                self.edges.part(edge);
            } else {
                self.lose_edge(edge, &error.to_string());
            }
        } else if state.connection.is_none()
            && let Some(loss) = state.session.loss()
        {
            // It was given up while the link was down; nobody else will say so.
            let loss = loss.to_string();
            self.lose_edge(edge, &loss);
        }
        self.edges.mark_unflushed(edge);
    }
}
