//! The host as a whole: its parts, and the events and turns that drive them.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

use goblin_protocol::resp::Spans;
use goblin_protocol::service::{
    Action, Closed, ConnectionId, Core, ListenerId, OUTPUT_SLICES_MAX, Opened, Service,
};
use goblin_protocol::session::{
    ClientDescription, Clients, Environment, Session, Surroundings, run_requests,
};
use goblin_protocol::table::{HashSeed, Kind, SubscriberId, SubscriptionTable};
use goblin_protocol::time::{Now, Occasionally, Time};
use tracing::{debug, warn};

use crate::client::{Client, Conversation};
use crate::config::Config;
use crate::edges::Edges;
use crate::publications::Publications;
use crate::store::Store;
use crate::users::{Change, User, Users};

/// Fills a buffer with random bytes fit for nonces.
pub type Randomness = Box<dyn FnMut(&mut [u8])>;

/// How often idle clients and soft limits are looked at.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(1);
/// How often expired keys are looked for while there are any.
const EXPIRY_INTERVAL: Duration = Duration::from_millis(100);
/// Most keys that one turn removes because they expired: bounds the turn.
const EXPIRED_PER_TURN_MAX: usize = 256;

/// What the host counts. All since its start, or since `CONFIG RESETSTAT`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Connections of clients accepted.
    pub connections: u64,
    /// Connections refused because there were too many.
    pub connections_refused: u64,
    /// Requests executed.
    pub commands: u64,
    /// Error replies to requests that may not run.
    pub errors: u64,
    /// Passwords that were wrong.
    pub logins_refused: u64,
    /// Connections closed for breaking the protocol.
    pub protocol_errors: u64,
    /// Publications.
    pub publications: u64,
    /// Deliveries, here and by edges, as counted in the replies.
    pub deliveries: u64,
    /// Clients closed for not reading.
    pub slow_clients_closed: u64,
    /// Clients closed for being idle.
    pub idle_clients_closed: u64,
}

/// The core of the host.
pub struct Host {
    pub(crate) config: Config,
    pub(crate) clients: Clients<Client>,
    pub(crate) users: Users,
    pub(crate) store: Store,
    /// The subscriptions of the clients that are connected here.
    pub(crate) table: SubscriptionTable,
    /// The interest of the edges: a subscriber is an edge, its weight the number of subscriptions.
    pub(crate) interest: SubscriptionTable<u32>,
    pub(crate) publications: Publications,
    pub(crate) edges: Edges,
    pub(crate) statistics: Statistics,
    pub(crate) started: Now,
    pub(crate) surroundings: Surroundings,
    /// A command that would wait must not: it is a part of a transaction.
    pub(crate) executes_transaction: bool,
    /// Where replies are written before they go to their client.
    pub(crate) reply: Vec<u8>,
    spans: Spans,
    next_client: u64,
    next_housekeeping: Time,
    next_expiry: Time,
    slow_clients: Occasionally,
    pub(crate) edges_refused: Occasionally,
    draining: bool,
}

impl Host {
    /// A host without data. `seed` keys the hash tables; `random` yields nonces and the number by
    /// which edges tell this life of the host from another.
    #[must_use]
    pub fn new(now: Now, config: Config, seed: HashSeed, random: Randomness) -> Self {
        let mut users = Users::new();
        if let Some(password) = &config.password {
            users.require_password(password.as_bytes());
            drop(users.take_changes());
        }
        Self {
            clients: Clients::new(config.clients),
            users,
            store: Store::new(seed),
            table: SubscriptionTable::new(seed),
            interest: SubscriptionTable::new(seed),
            publications: Publications::default(),
            edges: Edges::new(&config, random),
            statistics: Statistics::default(),
            started: now,
            surroundings: Surroundings::default(),
            executes_transaction: false,
            reply: Vec::new(),
            spans: Spans::default(),
            next_client: 0,
            next_housekeeping: now.monotonic + HOUSEKEEPING_INTERVAL,
            next_expiry: now.monotonic + EXPIRY_INTERVAL,
            slow_clients: Occasionally::default(),
            edges_refused: Occasionally::default(),
            draining: false,
            config,
        }
    }

    /// What the host has counted.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How many clients are connected here.
    #[must_use]
    pub fn client_count(&self) -> usize {
        self.clients.len()
    }

    /// How many edges are connected.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.edges.connected()
    }

    /// Whether whoever connects may use the default user without a password.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.users.default_user().account.is_open()
    }

    fn accept(&mut self, now: Now, id: ConnectionId, peer: &str, local: &str) {
        self.statistics.connections += 1;
        self.next_client += 1;
        let full = self.clients.is_full();
        self.clients.insert(Client {
            session: Session::new(self.next_client, id, peer, local, now.monotonic),
            conversation: Conversation::new(self.users.default_user()),
        });
        if full {
            self.statistics.connections_refused += 1;
            if let Some(client) = self.clients.get_mut(id) {
                client
                    .session
                    .reply(|reply| reply.error("ERR max number of clients reached"));
                client.session.closing = true;
            }
            self.settle(now, id);
        }
    }

    fn receive(&mut self, now: Now, id: ConnectionId, bytes: &[u8]) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        if client.session.closing {
            return;
        }
        let mut inbox = std::mem::take(&mut client.session.inbox);
        let mut spans = std::mem::take(&mut self.spans);
        run_requests(self, now, id, &mut inbox, &mut spans, bytes);
        self.spans = spans;
        if let Some(client) = self.clients.get_mut(id) {
            client.session.inbox = inbox;
        }
        self.apply_user_changes(now, Some(id));
        self.settle(now, id);
    }

    /// Writes a client's output, or closes it when it is finished.
    pub(crate) fn settle(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get(id) else {
            return;
        };
        if client.session.is_finished() {
            self.close(id, "finished");
        } else {
            let subscriber = client.session.subscriptions > 0;
            self.clients.flush(now, id, subscriber);
        }
    }

    /// Closes a client and forgets it.
    pub(crate) fn close(&mut self, id: ConnectionId, why: &str) {
        if self.clients.get(id).is_some() {
            debug!(client = %id, why, "closing");
            self.clients.push_action(Action::Close(id));
            self.forget(id);
        }
    }

    fn forget(&mut self, id: ConnectionId) {
        if self.clients.remove(id).is_some() {
            self.drop_subscriptions(id);
        }
    }

    /// Drops all subscriptions of a client without telling it.
    pub(crate) fn drop_subscriptions(&mut self, id: ConnectionId) {
        self.table.remove(SubscriberId(id.index), |_, _, _| {});
        if let Some(client) = self.clients.get_mut(id) {
            client.session.subscriptions = 0;
        }
    }

    fn close_slow_clients(&mut self, now: Now) {
        while let Some(id) = self.clients.pop_slow() {
            let Some(client) = self.clients.get(id) else {
                continue;
            };
            self.statistics.slow_clients_closed += 1;
            if let Some(held_back) = self.slow_clients.pass(now) {
                warn!(
                    address = %client.session.peer,
                    waiting_bytes = client.session.waiting_output(),
                    held_back,
                    "closing a client that does not read: client-output-buffer-limit exceeded"
                );
            }
            self.close(id, "client-output-buffer-limit");
        }
    }

    fn keep_house(&mut self, now: Now) {
        if now.monotonic >= self.next_expiry {
            self.next_expiry = now.monotonic + EXPIRY_INTERVAL;
            if self.store.expire_some(now, EXPIRED_PER_TURN_MAX) == EXPIRED_PER_TURN_MAX {
                self.next_expiry = now.monotonic;
            }
        }
        if now.monotonic < self.next_housekeeping {
            return;
        }
        self.next_housekeeping = now.monotonic + HOUSEKEEPING_INTERVAL;
        self.clients
            .check_soft_limits(now, |client| client.session.subscriptions > 0);
        self.close_idle_clients(now);
    }

    fn close_idle_clients(&mut self, now: Now) {
        let Some(timeout) = self.clients.limits().idle_timeout else {
            return;
        };
        let idle = self.clients.ids(|client| {
            now.monotonic.since(client.session.active) > timeout
                && client.session.subscriptions == 0
        });
        for id in idle {
            self.statistics.idle_clients_closed += 1;
            self.close(id, "timeout");
        }
    }

    /// Tells everybody what the last commands changed about the users. The client that sent them, if it
    /// must go itself, goes behind its replies.
    pub(crate) fn apply_user_changes(&mut self, now: Now, sender: Option<ConnectionId>) {
        for change in self.users.take_changes() {
            match change {
                Change::Changed {
                    user,
                    loses_channels,
                } => {
                    self.edges.tell_user(now, &user);
                    self.replace_user(&user, loses_channels, sender);
                }
                Change::Removed(name) => {
                    self.edges.tell_user_gone(now, &name);
                    for id in self
                        .clients
                        .ids(|client| *client.conversation.user.name == *name)
                    {
                        self.expel(id, sender, "its user was deleted");
                    }
                }
            }
        }
    }

    fn replace_user(
        &mut self,
        user: &Arc<User>,
        loses_channels: bool,
        sender: Option<ConnectionId>,
    ) {
        for id in self
            .clients
            .ids(|client| client.conversation.user.name == user.name)
        {
            if let Some(client) = self.clients.get_mut(id) {
                client.conversation.user = Arc::clone(user);
            }
            if loses_channels && self.holds_forbidden_subscription(id, user) {
                self.expel(id, sender, "rights to a channel were revoked");
            }
        }
        self.edges.replace_user(user);
    }

    fn expel(&mut self, id: ConnectionId, sender: Option<ConnectionId>, why: &str) {
        if Some(id) != sender {
            self.close(id, why);
        } else if let Some(client) = self.clients.get_mut(id) {
            client.session.closing = true;
        }
    }

    fn holds_forbidden_subscription(&self, id: ConnectionId, user: &User) -> bool {
        let who = SubscriberId(id.index);
        let rights = &user.account.rights;
        let mut channels = self
            .table
            .names_of(who, Kind::Channel)
            .chain(self.table.names_of(who, Kind::Shard));
        let mut patterns = self.table.names_of(who, Kind::Pattern);
        channels.any(|name| !rights.may_use_channel(name))
            || patterns.any(|pattern| !rights.may_use_pattern(pattern))
    }

    pub(crate) fn description<'a>(&self, now: Now, client: &'a Client) -> ClientDescription<'a> {
        let who = SubscriberId(client.session.connection.index);
        ClientDescription {
            session: &client.session,
            user: &client.conversation.user.name,
            channels: self.table.count(who, Kind::Channel),
            patterns: self.table.count(who, Kind::Pattern),
            shards: self.table.count(who, Kind::Shard),
            queued: client
                .conversation
                .transaction
                .as_ref()
                .map(|transaction| transaction.queued.len()),
            now: now.monotonic,
        }
    }

    fn is_for_edges(&self, listener: ListenerId) -> bool {
        self.config.edge_listener == Some(listener)
    }
}

impl Service for Host {
    fn handle_opened(&mut self, now: Now, id: ConnectionId, how: Opened<'_>) {
        let Opened::Accepted {
            listener,
            peer,
            local,
        } = how
        else {
            return;
        };
        if self.draining {
            self.clients.push_action(Action::Close(id));
        } else if self.is_for_edges(listener) {
            if let Some(before) = self.edges.predecessor(id) {
                self.edge_disconnected(now, before);
            }
            self.edges.accept(now, id, peer);
        } else {
            self.accept(now, id, peer, local);
        }
    }

    fn handle_received(&mut self, now: Now, id: ConnectionId, bytes: &[u8]) {
        if self.edges.has_connection(id) {
            self.receive_from_edge(now, id, bytes);
        } else {
            self.receive(now, id, bytes);
        }
    }

    fn handle_written(&mut self, now: Now, id: ConnectionId, bytes: usize) {
        if self.edges.has_connection(id) {
            return self.edges.handle_written(now, id, bytes);
        }
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        client.session.outbox.consume(bytes);
        if client.session.is_finished() {
            self.close(id, "finished");
        }
    }

    fn handle_closed(&mut self, now: Now, id: ConnectionId, _why: Closed) {
        if self.edges.has_connection(id) {
            self.edge_disconnected(now, id);
        } else {
            self.forget(id);
        }
    }

    fn handle_turn(&mut self, now: Now) {
        self.drive_edges(now);
        while let Some(id) = self.clients.pop_runnable() {
            self.receive(now, id, &[]);
        }
        self.surroundings.grow_stale();
        self.close_slow_clients(now);
        self.keep_house(now);
    }

    fn next_deadline(&self) -> Option<Time> {
        let expiry = self.store.has_expiries().then_some(self.next_expiry);
        [
            Some(self.next_housekeeping),
            expiry,
            self.edges.next_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.clients
            .poll_action()
            .or_else(|| self.edges.poll_action())
    }

    fn output<'a>(
        &'a self,
        id: ConnectionId,
        slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX],
    ) -> usize {
        if self.edges.has_connection(id) {
            return self.edges.output(id, slices);
        }
        self.clients
            .get(id)
            .map_or(0, |client| client.session.outbox.fill_slices(slices))
    }
}

impl Core for Host {
    fn wants_environment(&self) -> bool {
        self.surroundings.are_wanted()
    }

    fn set_environment(&mut self, environment: Environment) {
        for id in self.surroundings.tell(environment) {
            self.clients.wake(id);
        }
    }

    /// Says goodbye to the edges and closes the clients behind what they are owed.
    fn drain(&mut self, now: Now) {
        self.draining = true;
        for id in self.clients.ids(|_| true) {
            if let Some(client) = self.clients.get_mut(id) {
                client.session.closing = true;
            }
            self.settle(now, id);
        }
        self.edges.say_goodbye(now);
    }

    fn status(&self) -> &'static str {
        ""
    }

    fn is_drained(&self) -> bool {
        self.draining && self.clients.is_empty() && self.edges.are_finished()
    }
}
