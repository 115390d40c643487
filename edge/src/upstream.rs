//! The link to the host: dialing, sessions, announcing interest, and what a loss means.
//!
//! One session carries everything, over one connection after the other. While it can be resumed
//! nothing is lost; when it is lost the edge begins another one, states its whole interest under a new
//! epoch, and deals with the gap as configured.

use std::collections::VecDeque;
use std::io::IoSlice;

use goblin_protocol::link::handshake::Nonce;
use goblin_protocol::link::message::{CommandOf, Encode, Message, StatisticsOf};
use goblin_protocol::link::session::{Backoff, Connected, Event, Session};
use goblin_protocol::link::{LinkError, SendError};
use goblin_protocol::resp::{Arguments, Version, Writer};
use goblin_protocol::service::{Action, Closed, ConnectionId, OUTPUT_SLICES_MAX};
use goblin_protocol::session::{Awaited, Info, Publication};
use goblin_protocol::time::{Now, Time};
use tracing::{info, warn};

use crate::client::{Exchange, Execution};
use crate::config::{Config, OnGap};
use crate::edge::{Edge, Randomness, Statistics};
use crate::publications::{LostPublication, unpack};

/// The reply to a command that may or may not have been executed.
const OUTCOME_UNKNOWN: &str =
    "UPSTREAM the host was lost before it answered; the outcome is unknown";

/// Whether the link takes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// It does.
    Open,
    /// It is connected, and the host does not keep up: who waits will be served.
    Full,
    /// It is down.
    Closed,
}

/// How far the statement of the whole interest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announcement {
    /// There is no session yet.
    NoSession,
    /// To be begun when the link takes it.
    Due,
    /// Begun; names are still to be stated.
    Stating,
    /// Complete; the host is to confirm this token.
    Stated { token: u64 },
    /// The host has confirmed it.
    Confirmed,
}

/// How far the orderly end of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// It is not ending.
    No,
    /// The driver has been asked to flush and to close it.
    Asked,
    /// It has had its turn to do so.
    Done,
}

pub(crate) struct Upstream {
    session: Session,
    random: Randomness,
    backoff: Backoff,
    connection: Option<ConnectionId>,
    /// When to dial next; `None` while a dial or a connection is there.
    dial_at: Option<Time>,
    parting: Parting,
    flush_asked: bool,
    actions: VecDeque<Action>,
    announcement: Announcement,
    epoch: u64,
    /// Since when the link is down; `None` while it is up.
    down_since: Option<Time>,
    /// The log says that the link is down.
    told_down: bool,
    /// What waited for the host when the link went down has been answered.
    gave_up: bool,
    goodbye_said: bool,
}

impl Upstream {
    pub(crate) fn new(now: Now, config: &Config, mut random: Randomness) -> Self {
        let session = Session::new(config.link.clone(), draw(&mut random), &config.name);
        Self {
            session,
            backoff: Backoff::new(draw(&mut random)),
            random,
            connection: None,
            dial_at: Some(now.monotonic),
            parting: Parting::No,
            flush_asked: false,
            actions: VecDeque::new(),
            announcement: Announcement::NoSession,
            epoch: 0,
            down_since: Some(now.monotonic),
            told_down: false,
            gave_up: false,
            goodbye_said: false,
        }
    }

    #[inline]
    pub(crate) fn gate(&self) -> Gate {
        if !self.session.is_connected() || self.goodbye_said {
            Gate::Closed
        } else if self.session.is_full() {
            Gate::Full
        } else {
            Gate::Open
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the host has heard of interest that must be kept up to date.
    pub(crate) fn has_session(&self) -> bool {
        self.announcement != Announcement::NoSession
    }

    /// The whole interest is to be stated anew.
    pub(crate) fn restate(&mut self) {
        if self.has_session() {
            self.announcement = Announcement::Due;
        }
    }

    /// Whether the whole interest will be stated, so that a single name need not be.
    pub(crate) fn will_state_all(&self) -> bool {
        matches!(
            self.announcement,
            Announcement::NoSession | Announcement::Due
        )
    }

    /// Whether the host knows all interest of this edge.
    pub(crate) fn is_announced(&self) -> bool {
        self.announcement == Announcement::Confirmed
    }

    #[inline]
    pub(crate) fn is_connection(&self, id: ConnectionId) -> bool {
        self.connection == Some(id)
    }

    /// Whether an end that has just been told is that of a dial.
    pub(crate) fn is_dialing(&self, why: Closed) -> bool {
        matches!(why, Closed::Unreachable(_)) && self.dial_at.is_none() && self.connection.is_none()
    }

    pub(crate) fn handle_dialed(&mut self, now: Now, id: ConnectionId) {
        let mut nonce = [0; 32];
        (self.random)(&mut nonce);
        self.connection = Some(id);
        self.session.handle_connected(now, Nonce(nonce));
    }

    pub(crate) fn handle_written(&mut self, now: Now, bytes: usize) {
        self.session.handle_written(now, bytes);
    }

    /// Sends a message; false when it is too long for the link. The caller has looked at the gate.
    #[inline]
    pub(crate) fn send(&mut self, now: Now, message: &impl Encode) -> bool {
        match self.session.send(now, message) {
            Ok(()) | Err(SendError::Closing) => true,
            Err(SendError::TooLong { .. }) => false,
            Err(SendError::Lost(loss)) => {
                warn!(%loss, "the link's session ended");
                self.part();
                true
            }
        }
    }

    /// Passes a command through; false when it is too long for the link.
    pub(crate) fn send_command(
        &mut self,
        now: Now,
        client: u64,
        version: Version,
        request: Arguments<'_>,
    ) -> bool {
        self.send(
            now,
            &CommandOf {
                client,
                version,
                arguments: request.iter(),
            },
        )
    }

    pub(crate) fn send_statistics(&mut self, now: Now, statistics: &Statistics, clients: usize) {
        if self.gate() == Gate::Open {
            let figures = [
                ("clients", clients as u64),
                ("commands", statistics.commands),
                ("commands_forwarded", statistics.commands_forwarded),
                ("publications_forwarded", statistics.publications_forwarded),
                ("deliveries", statistics.deliveries),
                ("slow_clients_closed", statistics.slow_clients_closed),
                ("gaps", statistics.gaps),
            ];
            self.send(now, &StatisticsOf(figures.into_iter()));
        }
    }

    /// Tells the host, once, that nothing more comes.
    pub(crate) fn say_goodbye(&mut self, now: Now) {
        if !self.goodbye_said {
            self.goodbye_said = true;
            self.dial_at = None;
            if self.session.is_connected() {
                self.session.say_goodbye(now);
            }
        }
    }

    /// Whether the goodbye has arrived, or there is nobody to say it to.
    pub(crate) fn is_finished(&self) -> bool {
        self.goodbye_said && (!self.session.is_connected() || self.session.is_drained())
    }

    /// The host broke the protocol: nothing that it says can be matched to what it was asked any more.
    pub(crate) fn give_up_session(&mut self) {
        self.session.abandon();
        self.part();
    }

    /// Closes the connection once the peer has been told why, as far as the transport takes it.
    fn part(&mut self) {
        if let Some(id) = self.connection
            && self.parting == Parting::No
        {
            self.parting = Parting::Asked;
            self.actions.push_back(Action::Flush(id));
            self.actions.push_back(Action::Close(id));
        }
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        let id = self.connection?;
        if self.flush_asked || self.parting != Parting::No || !self.session.has_output() {
            return None;
        }
        self.flush_asked = true;
        Some(Action::Flush(id))
    }

    pub(crate) fn output<'a>(&'a self, slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX]) -> usize {
        self.session.fill_slices(slices)
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        if self.parting != Parting::No {
            return Some(Time::ZERO);
        }
        [self.dial_at, self.session.next_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether the link is up and time has nothing for it to do: the rule, and looked at in every turn.
    fn is_quiet(&self, now: Now) -> bool {
        self.announcement == Announcement::Confirmed
            && self.parting == Parting::No
            && self.down_since.is_none()
            && self
                .session
                .next_deadline()
                .is_none_or(|deadline| deadline > now.monotonic)
    }

    /// When what waited for the host as the link went down is given up.
    fn is_given_up(&self, now: Now, config: &Config) -> bool {
        !self.gave_up
            && self
                .down_since
                .is_some_and(|since| now.monotonic.since(since) >= config.upstream_timeout)
    }

    pub(crate) fn gives_up_at(&self, config: &Config) -> Option<Time> {
        let since = self.down_since.filter(|_| !self.gave_up)?;
        Some(since + config.upstream_timeout)
    }

    pub(crate) fn write_info(&self, info: &mut Info) {
        let counters = self.session.counters();
        info.section("Link")
            .field("link_up", u8::from(self.session.is_connected()))
            .field("link_session", format_args!("{:016x}", self.session.id()))
            .field("link_epoch", self.epoch)
            .field("link_in_order", counters.in_order)
            .field("link_kept_aside", counters.kept_aside)
            .field("link_duplicate", counters.duplicate)
            .field("link_overflow", counters.overflow)
            .field("link_gap", counters.gap)
            .field("link_pending_frames", counters.pending_frames)
            .field("link_pending_bytes", counters.pending_bytes)
            .field("link_frames_sent", counters.frames_sent)
            .field("link_frames_received", counters.frames_received)
            .field("link_bytes_sent", counters.bytes_sent)
            .field("link_bytes_received", counters.bytes_received)
            .field("link_reconnects", counters.reconnects)
            .field("link_resumes", counters.resumes)
            .field("link_losses", counters.losses);
    }
}

fn draw(random: &mut Randomness) -> u64 {
    let mut bytes = [0; 8];
    loop {
        random(&mut bytes);
        match u64::from_le_bytes(bytes) {
            0 => {}
            number => return number,
        }
    }
}

impl Edge {
    pub(crate) fn handle_upstream_bytes(&mut self, now: Now, bytes: &[u8]) {
        let mut input = self.upstream.session.open(bytes);
        loop {
            match input.next(&mut self.upstream.session, now) {
                Ok(Some(Event::Message(message))) => self.handle_message(now, message),
                Ok(Some(Event::Connected(connected))) => self.handle_link_up(now, &connected),
                Ok(Some(Event::Goodbye)) => {
                    info!("the host said goodbye");
                    self.upstream.part();
                    return;
                }
                Ok(None) => return,
                Err(error) => return self.handle_link_error(&error),
            }
        }
    }

    fn handle_link_error(&mut self, error: &LinkError) {
        warn!(%error, "link broken");
        self.upstream.told_down = true;
        self.upstream.part();
    }

    fn handle_link_up(&mut self, now: Now, connected: &Connected) {
        self.upstream.backoff.reset();
        self.upstream.down_since = None;
        self.upstream.gave_up = false;
        self.upstream.told_down = false;
        self.surroundings.ask_for_attention();
        info!(
            resumed = connected.resumed,
            host = format_args!("{:016x}", connected.host.instance),
            edge_number = connected.host.edge_number,
            "link up"
        );
        if !connected.resumed {
            self.upstream.announcement = Announcement::Due;
        }
        self.announce(now);
    }

    /// Goes on with the statement of the whole interest, as far as the link takes it.
    fn announce(&mut self, now: Now) {
        if self.upstream.announcement == Announcement::Due && self.upstream.gate() == Gate::Open {
            self.upstream.epoch += 1;
            self.upstream.announcement = Announcement::Stating;
            let epoch = self.upstream.epoch;
            self.upstream.send(now, &Message::InterestBegin { epoch });
            self.interest.forget_unstated();
            self.queue_all_interest();
        }
        self.state_remaining_interest(now);
        if self.upstream.announcement == Announcement::Stating
            && !self.has_unstated_interest()
            && self.upstream.gate() == Gate::Open
        {
            let token = self.interest.take_token();
            let epoch = self.upstream.epoch;
            self.upstream.announcement = Announcement::Stated { token };
            self.upstream
                .send(now, &Message::InterestEnd { epoch, token });
        }
    }

    fn handle_message(&mut self, now: Now, message: Message<'_>) {
        match message {
            Message::PublicationResult {
                id,
                deliveries,
                refused,
            } => {
                if !self.handle_result(now, id, deliveries, refused) {
                    warn!(id, "the host answered a publication that is not the oldest");
                    self.upstream.give_up_session();
                }
            }
            Message::Delivery(delivery) => {
                self.statistics.publications_received += 1;
                let publication = Publication {
                    kind: delivery.kind,
                    channel: delivery.channel,
                    payload: delivery.payload,
                };
                self.deliver(now, publication);
            }
            Message::ClientReply(reply) => {
                self.handle_reply(now, unpack(reply.client), reply.bytes, reply.close);
            }
            Message::InterestConfirmed { token } => {
                if matches!(self.upstream.announcement, Announcement::Stated { token: end } if token >= end)
                {
                    self.upstream.announcement = Announcement::Confirmed;
                }
                self.handle_interest_confirmed(now, token);
            }
            Message::ClientClosed { client, reason } => self.close(now, unpack(client), reason),
            Message::RightsBegin => self.handle_rights_begin(),
            Message::Rights { user, rules } => {
                if let Err(error) = self.handle_rights(now, user, rules) {
                    warn!(%error, "the host's rules for a user are not understood: it has no rights");
                }
            }
            Message::RightsEnd => self.handle_rights_end(now),
            Message::RightsGone { user } => self.handle_user_gone(now, user),
            Message::Interest(_)
            | Message::InterestBegin { .. }
            | Message::InterestEnd { .. }
            | Message::Publication(_)
            | Message::ClientOpen(_)
            | Message::ClientCommand(_)
            | Message::ClientClose { .. }
            | Message::Statistics(_) => {
                // The session refuses what only an edge sends.
            }
        }
    }

    pub(crate) fn handle_upstream_closed(&mut self, now: Now, why: Closed) {
        let told = std::mem::replace(&mut self.upstream.told_down, true);
        if !told && !self.upstream.goodbye_said {
            warn!(
                upstream = self.config.upstream,
                ?why,
                "the host cannot be reached; trying again until it can"
            );
        }
        self.disconnect(now);
    }

    fn disconnect(&mut self, now: Now) {
        let upstream = &mut self.upstream;
        upstream.connection = None;
        upstream.parting = Parting::No;
        upstream.session.handle_disconnected(now);
        upstream.down_since.get_or_insert(now.monotonic);
        self.restart_ended_session(now);
        let upstream = &mut self.upstream;
        if !upstream.goodbye_said {
            upstream.dial_at = Some(now.monotonic + upstream.backoff.next_delay());
        }
    }

    /// What time and the turn before have left to do.
    pub(crate) fn drive_upstream(&mut self, now: Now) {
        self.upstream.flush_asked = false;
        if self.upstream.is_quiet(now) && !self.has_unstated_interest() {
            return;
        }
        match self.upstream.parting {
            Parting::No => {}
            Parting::Asked => self.upstream.parting = Parting::Done,
            Parting::Done => self.disconnect(now),
        }
        if let Err(error) = self.upstream.session.handle_time(now) {
            self.handle_link_error(&error);
            self.restart_ended_session(now);
        }
        if self.upstream.dial_at.is_some_and(|at| at <= now.monotonic) {
            self.upstream.dial_at = None;
            self.upstream.actions.push_back(Action::Dial);
        }
        if self.upstream.is_given_up(now, &self.config) {
            self.upstream.gave_up = true;
            self.give_up_waiting_for_host(now);
        }
        self.announce(now);
    }

    /// Begins another session when the one before is over.
    fn restart_ended_session(&mut self, now: Now) {
        let session = &self.upstream.session;
        if session.has_connection() || !(session.loss().is_some() || session.is_closed()) {
            return;
        }
        if let Some(loss) = session.loss() {
            warn!(%loss, "the link's session is lost");
        }
        let had_session = self.upstream.has_session();
        self.upstream.announcement = Announcement::NoSession;
        let id = draw(&mut self.upstream.random);
        self.upstream.session.restart(id);
        // Another session is the answer, not more patience.
        self.upstream.backoff.reset();
        self.interest.forget_unstated();
        self.lose_replies(now);
        if had_session {
            self.statistics.gaps += 1;
            self.deal_with_gap(now);
        }
    }

    /// Nobody answers what is in flight any more, and a transaction that was open there is gone.
    fn lose_replies(&mut self, now: Now) {
        let mut publications = self.take_in_flight();
        for id in self.clients.ids(|client| {
            client.open_upstream
                || client.abandoned_replies > 0
                || !client.session.replies.is_empty()
        }) {
            let Some(client) = self.clients.get_mut(id) else {
                continue;
            };
            client.open_upstream = false;
            client.abandoned_replies = 0;
            if client.transaction.is_some() {
                self.close(now, id, "its transaction was lost with the link's session");
                continue;
            }
            if let Some(exchange) = client.exchange.take()
                && matches!(
                    *exchange,
                    Exchange::Execution(Execution {
                        executed: Some(_),
                        ..
                    })
                )
            {
                // Only the confirmation of its subscriptions is missing.
                self.drop_waiting_subscriptions(now, id);
            }
            let Some(client) = self.clients.get_mut(id) else {
                continue;
            };
            let session = &mut client.session;
            let version = session.version;
            let mut own = publications.remove(&id).unwrap_or_default();
            session.replies.resolve(&mut session.outbox, |what, out| {
                let mut reply = Writer::new(out, version);
                match what {
                    Awaited::Command => reply.error(OUTCOME_UNKNOWN),
                    Awaited::Publication => reply.error(LostPublication {
                        delivered: own.pop_front().unwrap_or_default(),
                    }),
                    Awaited::Subscription { .. } => return false,
                }
                true
            });
            self.settle(now, id);
        }
    }

    fn deal_with_gap(&mut self, now: Now) {
        if self.config.on_gap == OnGap::Keep {
            return;
        }
        let subscribed = self.clients.ids(|client| client.session.subscriptions > 0);
        for id in subscribed {
            self.close(now, id, "publications may have been missed");
        }
    }

    /// The link has been down for as long as a command may wait: commands that were passed through,
    /// and subscriptions that wait to be confirmed, are answered now. Publications wait for the
    /// session.
    fn give_up_waiting_for_host(&mut self, now: Now) {
        for id in self
            .clients
            .ids(|client| !client.session.replies.is_empty())
        {
            while let Some(client) = self.clients.get_mut(id) {
                match client.session.replies.front() {
                    Some(Awaited::Command) => {
                        client.fail_transaction();
                        match client.exchange.take().as_deref() {
                            Some(Exchange::Execution(Execution {
                                executed: Some(_), ..
                            })) => {
                                // Only the confirmation of its subscriptions is missing.
                                self.drop_waiting_subscriptions(now, id);
                            }
                            Some(Exchange::Authentication(_)) => {
                                // Who it is may be another for the host than for this edge.
                                client.abandoned_replies += 1;
                                client.session.closing = true;
                            }
                            _ => client.abandoned_replies += 1,
                        }
                        self.answer_unknown(id);
                    }
                    Some(Awaited::Subscription { .. }) => self.give_up_subscription(now, id),
                    Some(Awaited::Publication) | None => break,
                }
            }
            self.settle(now, id);
        }
    }

    fn answer_unknown(&mut self, id: ConnectionId) {
        if let Some(client) = self.clients.get_mut(id) {
            client.fulfil(Awaited::Command, |reply| reply.error(OUTCOME_UNKNOWN));
        }
    }

    /// The host need not hold the other end of a client's pass-through any more.
    pub(crate) fn close_upstream(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        if std::mem::take(&mut client.open_upstream) {
            let client = crate::publications::pack(id);
            self.upstream.send(now, &Message::ClientClose { client });
        }
    }
}
