//! Subscribing and unsubscribing, and the interest that follows from it.
//!
//! A subscription enters the table when the host has confirmed the interest, at once if the edge had
//! it already; only then is it confirmed to the client. So nothing that was published before the
//! confirmation reaches the client, and everything after it does.
//!
//! Interest is stated as a count per name, of the subscriptions in the table and of those that wait:
//! stating it again does no harm. What the link cannot take now is remembered by name and counted
//! when it is sent.

use std::collections::{BTreeMap, VecDeque};

use goblin_protocol::link::message::{self, Message};
use goblin_protocol::resp::{Arguments, Writer};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{Awaited, Flow, subscription_words, write_confirmation};
use goblin_protocol::table::{Kind, Subscribed, SubscriberId};
use goblin_protocol::time::Now;

use crate::client::{PendingSubscription, Stall};
use crate::config::OnUpstreamLoss;
use crate::edge::Edge;
use crate::upstream::Gate;

/// Names that may wait to be stated, beyond those of an announcement.
const UNSTATED_MAX: usize = 65_536;

/// What the edge has told, and has yet to tell, the host.
#[derive(Debug)]
pub(crate) struct Interest {
    /// Subscriptions that wait for a confirmation, by name.
    waiting: BTreeMap<(Kind, Box<[u8]>), u32>,
    /// Names whose count could not be stated yet.
    unstated: VecDeque<(Kind, Box<[u8]>)>,
    /// More than this many are not remembered one by one.
    unstated_max: usize,
    /// Who waits for which confirmation, in order.
    awaiting: VecDeque<(u64, ConnectionId)>,
    next_token: u64,
    /// Everything up to here is confirmed.
    confirmed: u64,
}

impl Default for Interest {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            unstated: VecDeque::new(),
            unstated_max: UNSTATED_MAX,
            awaiting: VecDeque::new(),
            next_token: 0,
            confirmed: 0,
        }
    }
}

impl Interest {
    pub(crate) fn take_token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    fn stop_waiting(&mut self, kind: Kind, name: &[u8]) {
        let key = (kind, Box::from(name));
        if let Some(count) = self.waiting.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&key);
            }
        }
    }

    /// What was still to be said in the lost session will be said by the announcement of the next.
    pub(crate) fn forget_unstated(&mut self) {
        self.unstated.clear();
    }
}

fn subscriber(id: ConnectionId) -> SubscriberId {
    SubscriberId(id.index)
}

impl Edge {
    /// `SUBSCRIBE`, `PSUBSCRIBE`, `SSUBSCRIBE` outside a transaction.
    pub(crate) fn subscribe(
        &mut self,
        now: Now,
        id: ConnectionId,
        kind: Kind,
        request: Arguments<'_>,
    ) -> Flow {
        let gate = self.upstream.gate();
        let alone = gate == Gate::Closed && self.config.on_upstream_loss == OnUpstreamLoss::Local;
        let held = request.iter().skip(1).all(|name| self.has(kind, name));
        if !held && !alone && gate != Gate::Open {
            return self.wait_for_link(now, id);
        }
        let token = self.request_subscriptions(now, id, kind, request.skip(1), alone);
        if token > 0 {
            self.interest.awaiting.push_back((token, id));
        }
        if let Some(client) = self.clients.get_mut(id) {
            let names = u32::try_from(request.len() - 1).unwrap_or(u32::MAX);
            client
                .session
                .replies
                .expect(Awaited::Subscription { names }, false);
        }
        self.settle_subscriptions(now, id);
        Flow::Next
    }

    /// Notes subscriptions that wait, and tells the host. Yields the last confirmation that they wait
    /// for, 0 when for none.
    pub(crate) fn request_subscriptions(
        &mut self,
        now: Now,
        id: ConnectionId,
        kind: Kind,
        names: Arguments<'_>,
        alone: bool,
    ) -> u64 {
        if alone {
            // Nobody may be confirmed in a name at once before the host knows of it.
            self.upstream.restate();
        }
        let mut last_token = 0;
        for name in names.iter() {
            let token = if alone || self.has(kind, name) {
                0
            } else {
                self.interest.take_token()
            };
            *self
                .interest
                .waiting
                .entry((kind, name.into()))
                .or_default() += 1;
            self.state_interest(now, kind, name, token);
            last_token = last_token.max(token);
            if let Some(client) = self.clients.get_mut(id) {
                client.subscribing.push_back(PendingSubscription {
                    kind,
                    name: name.into(),
                    token,
                });
            }
        }
        last_token
    }

    /// Calls the owner back when the host has confirmed everything up to `token`.
    pub(crate) fn await_confirmation(&mut self, token: u64, id: ConnectionId) {
        self.interest.awaiting.push_back((token, id));
    }

    pub(crate) fn is_confirmed(&self, token: u64) -> bool {
        token <= self.interest.confirmed
    }

    /// Whether every publication for the name, from anywhere, already comes here.
    fn has(&self, kind: Kind, name: &[u8]) -> bool {
        self.upstream.is_announced() && self.table.subscribers(kind, name).len() > 0
    }

    /// Confirms the subscriptions whose turn it is. Returns whether there were any.
    pub(crate) fn settle_subscriptions(&mut self, now: Now, id: ConnectionId) -> bool {
        let mut settled = false;
        while let Some(client) = self.clients.get_mut(id) {
            let Some(Awaited::Subscription { names }) = client.session.replies.front() else {
                break;
            };
            let names = names as usize;
            let confirmed = self.interest.confirmed;
            if client
                .subscribing
                .iter()
                .take(names)
                .any(|pending| pending.token > confirmed)
            {
                break;
            }
            self.confirm(now, id, names);
            settled = true;
        }
        settled
    }

    fn confirm(&mut self, now: Now, id: ConnectionId, names: usize) {
        let mut reply = Vec::new();
        self.confirm_into(now, id, names, &mut reply);
        if let Some(client) = self.clients.get_mut(id) {
            client
                .session
                .replies
                .fulfil(&mut client.session.outbox, |out| {
                    out.extend_from_slice(&reply);
                });
        }
    }

    /// Puts the oldest waiting subscriptions into the table and writes their confirmations.
    pub(crate) fn confirm_into(
        &mut self,
        now: Now,
        id: ConnectionId,
        names: usize,
        out: &mut Vec<u8>,
    ) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        let names = names.min(client.subscribing.len());
        let confirmed: Vec<PendingSubscription> = client.subscribing.drain(..names).collect();
        let mut writer = Writer::new(out, client.session.version);
        for pending in confirmed {
            let (kind, name) = (pending.kind, &pending.name);
            let subscribed = self.table.subscribe(subscriber(id), kind, name, ());
            self.interest.stop_waiting(kind, name);
            match (subscribed, self.clients.get_mut(id)) {
                (Subscribed::Already, _) => self.state_interest(now, kind, name, 0),
                (Subscribed::Added { .. }, Some(client)) => client.session.subscriptions += 1,
                (Subscribed::Added { .. }, None) => {}
            }
            let count = self.confirmation_count(id, kind);
            write_confirmation(&mut writer, subscription_words(kind).0, Some(name), count);
        }
    }

    /// Forgets the subscriptions of a client that wait, without telling it.
    pub(crate) fn drop_waiting_subscriptions(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        let waiting = std::mem::take(&mut client.subscribing);
        for pending in waiting {
            self.interest.stop_waiting(pending.kind, &pending.name);
            self.state_interest(now, pending.kind, &pending.name, 0);
        }
    }

    /// `UNSUBSCRIBE`, `PUNSUBSCRIBE`, `SUNSUBSCRIBE` outside a transaction.
    pub(crate) fn unsubscribe(
        &mut self,
        now: Now,
        id: ConnectionId,
        kind: Kind,
        request: Arguments<'_>,
    ) -> Flow {
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        if !client.subscribing.is_empty() {
            client.stall = Some(Stall::Confirmation);
            return Flow::Stall;
        }
        let mut out = Vec::new();
        self.unsubscribe_into(now, id, kind, request.skip(1), &mut out);
        self.push(id, |reply| reply.raw(&out));
        Flow::Next
    }

    /// Unsubscribes from every name in `names`, or from all when there are none, and writes the
    /// confirmations.
    pub(crate) fn unsubscribe_into(
        &mut self,
        now: Now,
        id: ConnectionId,
        kind: Kind,
        names: Arguments<'_>,
        out: &mut Vec<u8>,
    ) {
        let Some(client) = self.clients.get(id) else {
            return;
        };
        let mut writer = Writer::new(out, client.session.version);
        let word = subscription_words(kind).1;
        let names: Vec<Box<[u8]>> = if names.is_empty() {
            self.table
                .names_of(subscriber(id), kind)
                .map(Box::from)
                .collect()
        } else {
            names.iter().map(Box::from).collect()
        };
        if names.is_empty() {
            let count = self.confirmation_count(id, kind);
            write_confirmation(&mut writer, word, None, count);
        }
        for name in names {
            if self
                .table
                .unsubscribe(subscriber(id), kind, &name)
                .is_some()
            {
                if let Some(client) = self.clients.get_mut(id) {
                    client.session.subscriptions -= 1;
                }
                self.state_interest(now, kind, &name, 0);
            }
            let count = self.confirmation_count(id, kind);
            write_confirmation(&mut writer, word, Some(&name), count);
        }
    }

    /// Drops all subscriptions of a client, those that wait included, without telling it.
    pub(crate) fn drop_subscriptions(&mut self, now: Now, id: ConnectionId) {
        self.drop_waiting_subscriptions(now, id);
        let mut gone: Vec<(Kind, Box<[u8]>)> = Vec::new();
        self.table.remove(subscriber(id), |kind, name, _| {
            gone.push((kind, name.into()));
        });
        if let Some(client) = self.clients.get_mut(id) {
            client.session.subscriptions = 0;
        }
        for (kind, name) in gone {
            self.state_interest(now, kind, &name, 0);
        }
    }

    /// The number in a confirmation: of channels and patterns together, or of shard channels.
    fn confirmation_count(&self, id: ConnectionId, kind: Kind) -> usize {
        let count = |kind| self.table.count(subscriber(id), kind);
        match kind {
            Kind::Channel | Kind::Pattern => count(Kind::Channel) + count(Kind::Pattern),
            Kind::Shard => count(Kind::Shard),
        }
    }

    fn interest_count(&self, kind: Kind, name: &[u8]) -> u32 {
        let waiting = self
            .interest
            .waiting
            .get(&(kind, Box::from(name)))
            .copied()
            .unwrap_or(0);
        let held = self.table.subscribers(kind, name).len();
        u32::try_from(held)
            .unwrap_or(u32::MAX)
            .saturating_add(waiting)
    }

    /// Tells the host how many subscriptions a name has, now or as soon as the link can take it. A
    /// `token` above 0 is confirmed; the caller has made sure that the link can take it now.
    fn state_interest(&mut self, now: Now, kind: Kind, name: &[u8], token: u64) {
        if token == 0 && self.upstream.will_state_all() {
            // The announcement to come says it.
            return;
        }
        if token == 0 && self.upstream.gate() != Gate::Open {
            return self.put_off(kind, name);
        }
        let count = self.interest_count(kind, name);
        self.upstream.send(
            now,
            &Message::Interest(message::Interest {
                token,
                kind,
                count,
                name,
            }),
        );
    }

    /// Remembers a name whose count cannot be stated now. When there are too many of them, the whole
    /// interest is stated anew instead.
    fn put_off(&mut self, kind: Kind, name: &[u8]) {
        if self.interest.unstated.len() >= self.interest.unstated_max {
            self.interest.unstated.clear();
            self.upstream.restate();
        } else {
            self.interest.unstated.push_back((kind, name.into()));
        }
    }

    /// Queues every name for the announcement at the start of a session.
    pub(crate) fn queue_all_interest(&mut self) {
        let Interest {
            waiting, unstated, ..
        } = &mut self.interest;
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            unstated.extend(self.table.names(kind).map(|(name, _)| (kind, name.into())));
        }
        unstated.extend(waiting.keys().cloned());
        self.interest.unstated_max = self.interest.unstated.len() + UNSTATED_MAX;
    }

    pub(crate) fn has_unstated_interest(&self) -> bool {
        !self.interest.unstated.is_empty()
    }

    /// States what could not be stated before, as far as the link takes it.
    pub(crate) fn state_remaining_interest(&mut self, now: Now) {
        while self.upstream.gate() == Gate::Open {
            let Some((kind, name)) = self.interest.unstated.pop_front() else {
                break;
            };
            self.state_interest(now, kind, &name, 0);
        }
    }

    /// The host has confirmed all interest up to `token`.
    pub(crate) fn handle_interest_confirmed(&mut self, now: Now, token: u64) {
        self.interest.confirmed = self.interest.confirmed.max(token);
        while let Some((awaited, id)) = self.interest.awaiting.front().copied() {
            if awaited > self.interest.confirmed {
                break;
            }
            self.interest.awaiting.pop_front();
            self.settle(now, id);
        }
    }

    /// The client has waited for the confirmation as long as it may: the subscriptions whose turn it
    /// is are confirmed among ourselves or refused, as configured.
    pub(crate) fn give_up_subscription(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        let Some(Awaited::Subscription { names }) = client.session.replies.front() else {
            return;
        };
        if self.config.on_upstream_loss == OnUpstreamLoss::Local {
            self.upstream.restate();
            return self.confirm(now, id, names as usize);
        }
        let refused: Vec<PendingSubscription> = client
            .subscribing
            .drain(..(names as usize).min(client.subscribing.len()))
            .collect();
        client.fulfil(Awaited::Subscription { names }, |reply| {
            reply.error("UPSTREAM the host did not confirm the subscription in time");
        });
        for pending in refused {
            self.interest.stop_waiting(pending.kind, &pending.name);
            self.state_interest(now, pending.kind, &pending.name, 0);
        }
    }
}
