//! The edge as a whole: its parts, and the events and turns that drive them.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::resp::Spans;
use goblin_protocol::service::{
    Action, Closed, ConnectionId, Core, OUTPUT_SLICES_MAX, Opened, Service,
};
use goblin_protocol::session::{
    Awaited, ClientDescription, Clients, Environment, Flow, Session, Surroundings, run_requests,
};
use goblin_protocol::table::{HashSeed, Kind, SubscriberId, SubscriptionTable};
use goblin_protocol::time::{Now, Occasionally, Time};
use tracing::warn;

use crate::client::{Client, Exchange, Stall};
use crate::config::Config;
use crate::publications::Publications;
use crate::subscriptions::Interest;
use crate::upstream::{Gate, Upstream};
use crate::users::Users;

/// Fills a buffer with random bytes fit for nonces.
pub type Randomness = Box<dyn FnMut(&mut [u8])>;

/// How often idle clients and soft limits are looked at.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(1);

/// What the edge counts. All since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Connections accepted.
    pub connections: u64,
    /// Connections refused: too many clients, or no authentication where it is required.
    pub connections_refused: u64,
    /// Requests executed here or passed through.
    pub commands: u64,
    /// Requests passed through.
    pub commands_forwarded: u64,
    /// Error replies given by the edge itself.
    pub errors: u64,
    /// Error replies because of the link.
    pub upstream_errors: u64,
    /// Connections closed for breaking the protocol.
    pub protocol_errors: u64,
    /// Publications sent to the host.
    pub publications_forwarded: u64,
    /// Publications delivered here alone, because the host was not there.
    pub publications_kept_local: u64,
    /// Publications whose answer was lost with a session.
    pub publications_lost: u64,
    /// Publications that came from the host.
    pub publications_received: u64,
    /// Deliveries to subscriptions.
    pub deliveries: u64,
    /// Clients closed for not reading.
    pub slow_clients_closed: u64,
    /// Clients closed for being idle.
    pub idle_clients_closed: u64,
    /// Sessions lost, each a gap for the subscribers of its time.
    pub gaps: u64,
}

/// The core of the edge.
pub struct Edge {
    pub(crate) config: Config,
    pub(crate) clients: Clients<Client>,
    pub(crate) users: Users,
    pub(crate) table: SubscriptionTable,
    pub(crate) interest: Interest,
    pub(crate) publications: Publications,
    pub(crate) upstream: Upstream,
    /// Clients that wait for the link, and since when; the oldest first.
    pub(crate) waiting_for_link: VecDeque<(Time, ConnectionId)>,
    pub(crate) statistics: Statistics,
    pub(crate) started: Time,
    pub(crate) surroundings: Surroundings,
    spans: Spans,
    next_client: u64,
    next_housekeeping: Time,
    slow_clients: Occasionally,
    draining: bool,
}

impl Edge {
    /// An edge that has not dialed yet. `seed` keys the hash tables; `random` yields session numbers
    /// and nonces.
    #[must_use]
    pub fn new(now: Now, config: Config, seed: HashSeed, mut random: Randomness) -> Self {
        let mut number = [0; 8];
        random(&mut number);
        // 22 random bits above 31 counted ones: unique among edges for all practical purposes, and
        // exact in a double, which is what some clients keep numbers in.
        let first_client = (u64::from_le_bytes(number) >> 42) << 31;
        Self {
            clients: Clients::new(config.clients),
            users: Users::default(),
            table: SubscriptionTable::new(seed),
            interest: Interest::default(),
            publications: Publications::default(),
            upstream: Upstream::new(now, &config, random),
            waiting_for_link: VecDeque::new(),
            statistics: Statistics::default(),
            started: now.monotonic,
            surroundings: Surroundings::default(),
            spans: Spans::default(),
            next_client: first_client,
            next_housekeeping: now.monotonic + HOUSEKEEPING_INTERVAL,
            slow_clients: Occasionally::default(),
            draining: false,
            config,
        }
    }

    /// What the edge has counted.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How many clients are connected.
    #[must_use]
    pub fn client_count(&self) -> usize {
        self.clients.len()
    }

    /// Whether the link carries messages now.
    #[must_use]
    pub fn is_link_up(&self) -> bool {
        self.upstream.is_connected()
    }

    /// How many sessions the link has had.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.upstream.epoch()
    }

    fn accept(&mut self, now: Now, id: ConnectionId, peer: &str, local: &str) {
        self.statistics.connections += 1;
        self.next_client += 1;
        let session = Session::new(self.next_client, id, peer, local, now.monotonic);
        let user = self.users.default_user();
        let authenticated = user.needs_no_password();
        let full = self.clients.is_full();
        self.clients
            .insert(Client::new(session, user, authenticated));
        if full {
            self.turn_away(now, id, "ERR max number of clients reached");
        } else {
            self.refuse_unless_served(now, id);
        }
    }

    /// When the host asks for no password, only loopback and Unix sockets are served, unless told
    /// otherwise.
    pub(crate) fn refuse_unless_served(&mut self, now: Now, id: ConnectionId) {
        let open = self.users.are_known() && self.users.default_user().needs_no_password();
        if open && !self.is_served_without_password(id) {
            self.turn_away(
                now,
                id,
                "DENIED the host asks for no password and this address is not loopback. Set \
                 requirepass on the host, or start the edge with --no-auth-tcp.",
            );
        }
    }

    /// Whether the client came to an address where nobody needs a password unless the host says so.
    pub(crate) fn is_served_without_password(&self, id: ConnectionId) -> bool {
        self.config.allow_unauthenticated
            || self
                .clients
                .get(id)
                .is_some_and(|client| is_loopback(&client.session.local))
    }

    fn turn_away(&mut self, now: Now, id: ConnectionId, error: &str) {
        self.statistics.connections_refused += 1;
        self.reply(id, |reply| reply.error(error));
        if let Some(client) = self.clients.get_mut(id) {
            client.session.closing = true;
        }
        self.settle(now, id);
    }

    /// Executes what a client sent, and what it sent before and could not be executed yet.
    fn run(&mut self, now: Now, id: ConnectionId, received: &[u8]) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        if client.session.closing {
            return;
        }
        client.stall = None;
        let mut inbox = std::mem::take(&mut client.session.inbox);
        let mut spans = std::mem::take(&mut self.spans);
        let flow = run_requests(self, now, id, &mut inbox, &mut spans, received);
        self.spans = spans;
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        client.session.inbox = inbox;
        if flow == Flow::Next {
            client.gave_up = false;
        }
        if client.is_quiet() {
            let subscriber = client.subscription_count() > 0;
            return self.clients.flush(now, id, subscriber);
        }
        self.settle(now, id);
        self.adjust_reading(id);
    }

    /// Keeps the bytes of a client that has to wait.
    fn keep(&mut self, now: Now, id: ConnectionId, received: &[u8]) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        let inbox = &mut client.session.inbox;
        drop(inbox.open(received, &mut self.spans));
        if inbox.len() > self.clients.limits().query_bytes_max {
            return self.close(now, id, "client-query-buffer-limit");
        }
        self.adjust_reading(id);
    }

    fn adjust_reading(&mut self, id: ConnectionId) {
        let stalled = self
            .clients
            .get(id)
            .is_some_and(|client| client.stall.is_some());
        self.clients.adjust_reading(id, stalled);
    }

    /// After anything that may have changed what a client is owed: confirms subscriptions whose turn
    /// it is, lets stalled requests run, writes output, closes a client that is finished.
    pub(crate) fn settle(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get(id) else {
            return;
        };
        let awaits = client.session.replies.front();
        if client.exchange.is_some() {
            self.settle_execution(now, id);
        } else if matches!(awaits, Some(Awaited::Subscription { .. })) {
            self.settle_subscriptions(now, id);
        }
        let Some(client) = self.clients.get(id) else {
            return;
        };
        let ready = match client.stall {
            Some(Stall::Replies) => client.session.replies.is_empty(),
            Some(Stall::Confirmation) => client.subscribing.is_empty(),
            Some(Stall::Exchange) => client.exchange.is_none(),
            Some(Stall::Surroundings | Stall::Link { .. }) | None => false,
        };
        let subscriber = client.subscription_count() > 0;
        let finished = client.session.is_finished();
        if ready {
            self.clients.wake(id);
        }
        self.clients.flush(now, id, subscriber);
        if finished {
            self.close(now, id, "finished");
        }
    }

    /// Closes a client and forgets it.
    pub(crate) fn close(&mut self, now: Now, id: ConnectionId, why: &str) {
        if self.clients.get(id).is_some() {
            tracing::debug!(client = %id, why, "closing");
            self.clients.push_action(Action::Close(id));
            self.forget(now, id);
        }
    }

    fn forget(&mut self, now: Now, id: ConnectionId) {
        self.drop_subscriptions(now, id);
        self.close_upstream(now, id);
        self.clients.remove(id);
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
            self.close(now, id, "client-output-buffer-limit");
        }
    }

    /// Clients whose wait for the link is over: it takes messages again, or it has been down for as
    /// long as they may wait. While it is merely full they wait on, and are not read from.
    fn serve_waiting(&mut self, now: Now) {
        for _ in 0..self.waiting_for_link.len() {
            let Some((since, id)) = self.waiting_for_link.front().copied() else {
                return;
            };
            let gate = self.upstream.gate();
            let expired =
                gate == Gate::Closed && now.monotonic.since(since) >= self.config.upstream_timeout;
            if gate != Gate::Open && !expired {
                return;
            }
            self.waiting_for_link.pop_front();
            let Some(client) = self.clients.get_mut(id) else {
                continue;
            };
            client.gave_up = expired;
            if expired && !self.users.are_known() && !self.is_served_without_password(id) {
                self.refuse_unknown(now, id);
            } else {
                self.run(now, id, &[]);
            }
        }
    }

    /// Nobody has told the edge yet who may do what, so it can answer nothing at all.
    fn refuse_unknown(&mut self, now: Now, id: ConnectionId) {
        self.statistics.upstream_errors += 1;
        self.reply(id, |reply| {
            reply.error("UPSTREAM the host has not been reached since this edge started");
        });
        if let Some(client) = self.clients.get_mut(id) {
            client.session.closing = true;
        }
        self.settle(now, id);
    }

    fn keep_house(&mut self, now: Now) {
        if now.monotonic < self.next_housekeeping {
            return;
        }
        self.next_housekeeping = now.monotonic + HOUSEKEEPING_INTERVAL;
        self.clients
            .check_soft_limits(now, |client| client.subscription_count() > 0);
        self.close_slow_clients(now);
        self.close_idle_clients(now);
        self.upstream
            .send_statistics(now, &self.statistics, self.clients.len());
    }

    fn close_idle_clients(&mut self, now: Now) {
        let Some(timeout) = self.clients.limits().idle_timeout else {
            return;
        };
        let idle = self.clients.ids(|client| {
            now.monotonic.since(client.session.active) > timeout
                && client.subscription_count() == 0
                && client.session.replies.is_empty()
        });
        for id in idle {
            self.statistics.idle_clients_closed += 1;
            self.close(now, id, "timeout");
        }
    }

    pub(crate) fn description<'a>(&self, now: Now, client: &'a Client) -> ClientDescription<'a> {
        let who = SubscriberId(client.session.connection.index);
        ClientDescription {
            session: &client.session,
            user: &client.user.name,
            channels: self.table.count(who, Kind::Channel),
            patterns: self.table.count(who, Kind::Pattern),
            shards: self.table.count(who, Kind::Shard),
            queued: client
                .transaction
                .as_ref()
                .map(|transaction| transaction.queued),
            now: now.monotonic,
        }
    }

    /// The host has answered a client's oldest command.
    pub(crate) fn handle_reply(
        &mut self,
        now: Now,
        id: ConnectionId,
        bytes: &[u8],
        close_after: bool,
    ) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        if client.abandoned_replies > 0 {
            client.abandoned_replies -= 1;
            return;
        }
        if client.session.replies.front() != Some(Awaited::Command) {
            warn!(client = %id, "the host answered a command that nobody asked");
            return self.upstream.give_up_session();
        }
        match client.exchange.take().map(|exchange| *exchange) {
            Some(Exchange::Authentication(authentication)) => {
                self.finish_authentication(id, authentication, bytes);
            }
            Some(Exchange::Info(info)) => self.finish_info(id, info, bytes),
            Some(Exchange::Execution(execution)) => {
                self.finish_execution(now, id, execution, bytes);
            }
            Some(Exchange::Abortion) => client.fulfil(Awaited::Command, |reply| {
                reply.error("EXECABORT Transaction discarded because of previous errors.");
            }),
            None => {
                let session = &mut client.session;
                session
                    .replies
                    .fulfil(&mut session.outbox, |out| out.extend_from_slice(bytes));
            }
        }
        if close_after && let Some(client) = self.clients.get_mut(id) {
            client.session.closing = true;
        }
        self.settle(now, id);
    }
}

/// Whether an address in text is loopback, or a Unix socket's path, which ends in `:0` as no connected
/// TCP address does.
fn is_loopback(address: &str) -> bool {
    match address.parse::<std::net::SocketAddr>() {
        Ok(address) => address.ip().to_canonical().is_loopback(),
        Err(_) => address.ends_with(":0"),
    }
}

impl Service for Edge {
    fn handle_opened(&mut self, now: Now, id: ConnectionId, how: Opened<'_>) {
        match how {
            Opened::Accepted { .. } if self.draining => self.clients.push_action(Action::Close(id)),
            Opened::Accepted { peer, local, .. } => self.accept(now, id, peer, local),
            Opened::Dialed => self.upstream.handle_dialed(now, id),
        }
    }

    fn handle_received(&mut self, now: Now, id: ConnectionId, bytes: &[u8]) {
        if self.upstream.is_connection(id) {
            return self.handle_upstream_bytes(now, bytes);
        }
        match self.clients.get(id).map(|client| client.stall.is_some()) {
            Some(true) => self.keep(now, id, bytes),
            Some(false) => self.run(now, id, bytes),
            None => {}
        }
    }

    fn handle_written(&mut self, now: Now, id: ConnectionId, bytes: usize) {
        if self.upstream.is_connection(id) {
            return self.upstream.handle_written(now, bytes);
        }
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        client.session.outbox.consume(bytes);
        if client.session.is_finished() {
            self.close(now, id, "finished");
        }
    }

    fn handle_closed(&mut self, now: Now, id: ConnectionId, why: Closed) {
        if self.upstream.is_dialing(why) || self.upstream.is_connection(id) {
            self.handle_upstream_closed(now, why);
        } else {
            self.forget(now, id);
        }
    }

    fn handle_turn(&mut self, now: Now) {
        self.drive_upstream(now);
        self.serve_waiting(now);
        while let Some(id) = self.clients.pop_runnable() {
            self.run(now, id, &[]);
        }
        self.close_slow_clients(now);
        self.keep_house(now);
        self.surroundings.grow_stale();
        if self.draining && self.clients.is_empty() {
            self.upstream.say_goodbye(now);
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        let waiting = self
            .waiting_for_link
            .front()
            .filter(|_| self.upstream.gate() == Gate::Closed)
            .map(|(since, _)| *since + self.config.upstream_timeout);
        [
            Some(self.next_housekeeping),
            waiting,
            self.upstream.next_deadline(),
            self.upstream.gives_up_at(&self.config),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.clients
            .poll_action()
            .or_else(|| self.upstream.poll_action())
    }

    fn output<'a>(
        &'a self,
        id: ConnectionId,
        slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX],
    ) -> usize {
        if self.upstream.is_connection(id) {
            return self.upstream.output(slices);
        }
        self.clients
            .get(id)
            .map_or(0, |client| client.session.outbox.fill_slices(slices))
    }
}

impl Core for Edge {
    fn wants_environment(&self) -> bool {
        self.surroundings.are_wanted()
    }

    fn set_environment(&mut self, environment: Environment) {
        for id in self.surroundings.tell(environment) {
            self.clients.wake(id);
        }
    }

    /// Clients get what they are owed and are closed; when the last is gone the host is told goodbye.
    fn drain(&mut self, now: Now) {
        self.draining = true;
        for id in self.clients.ids(|_| true) {
            if let Some(client) = self.clients.get_mut(id) {
                client.session.closing = true;
            }
            self.settle(now, id);
        }
    }

    fn status(&self) -> &'static str {
        if self.upstream.is_connected() {
            "link up"
        } else {
            "link down"
        }
    }

    fn is_drained(&self) -> bool {
        self.draining && self.clients.is_empty() && self.upstream.is_finished()
    }
}
