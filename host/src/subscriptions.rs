//! Subscribing at the host itself, and what `PUBSUB` answers for the whole system.

use std::collections::BTreeSet;

use goblin_protocol::command::Command;
use goblin_protocol::glob;
use goblin_protocol::resp::{Arguments, Version, Writer};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{subscription_words, write_confirmation};
use goblin_protocol::table::{Kind, Subscribed, SubscriberId};

use crate::host::Host;

fn subscriber(id: ConnectionId) -> SubscriberId {
    SubscriberId(id.index)
}

impl Host {
    /// Subscribes a client of the host to every name in `names` and writes the confirmations.
    pub(crate) fn subscribe(
        &mut self,
        id: ConnectionId,
        kind: Kind,
        names: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        for name in names.iter() {
            let subscribed = self.table.subscribe(subscriber(id), kind, name, ());
            if let (Subscribed::Added { .. }, Some(client)) = (subscribed, self.clients.get_mut(id))
            {
                client.session.subscriptions += 1;
            }
            let count = self.confirmation_count(id, kind);
            write_confirmation(reply, subscription_words(kind).0, Some(name), count);
        }
    }

    /// Unsubscribes a client of the host from every name in `names`, or from all when there are none,
    /// and writes the confirmations.
    pub(crate) fn unsubscribe(
        &mut self,
        id: ConnectionId,
        kind: Kind,
        names: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
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
            write_confirmation(reply, word, None, self.confirmation_count(id, kind));
        }
        for name in names {
            let left = self.table.unsubscribe(subscriber(id), kind, &name);
            if let (Some(_), Some(client)) = (left, self.clients.get_mut(id)) {
                client.session.subscriptions -= 1;
            }
            let count = self.confirmation_count(id, kind);
            write_confirmation(reply, word, Some(&name), count);
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

    /// Whether a RESP2 client may only subscribe and unsubscribe.
    pub(crate) fn is_in_subscribed_mode(&self, id: ConnectionId) -> bool {
        self.clients.get(id).is_some_and(|client| {
            client.session.subscriptions > 0 && client.session.version == Version::Resp2
        })
    }

    /// `PUBSUB`, of the clients here and of all edges.
    pub(crate) fn pubsub(
        &self,
        command: Command,
        arguments: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        match command {
            Command::PubSubNumSub => self.write_counts(Kind::Channel, arguments, reply),
            Command::PubSubShardNumSub => self.write_counts(Kind::Shard, arguments, reply),
            Command::PubSubNumPat => {
                let patterns = i64::try_from(self.distinct_patterns()).unwrap_or(i64::MAX);
                reply.integer(patterns);
            }
            Command::PubSubShardChannels => self.write_names(Kind::Shard, arguments, reply),
            _ => self.write_names(Kind::Channel, arguments, reply),
        }
    }

    fn write_counts(&self, kind: Kind, names: Arguments<'_>, reply: &mut Writer<'_>) {
        reply.array(names.len() * 2);
        for name in names.iter() {
            let here = self.table.subscribers(kind, name).len() as u64;
            let edges: u64 = self
                .interest
                .subscribers(kind, name)
                .map(|(_, count)| u64::from(count))
                .sum();
            reply.bulk(name);
            reply.integer(i64::try_from(here + edges).unwrap_or(i64::MAX));
        }
    }

    fn write_names(&self, kind: Kind, arguments: Arguments<'_>, reply: &mut Writer<'_>) {
        let wanted = |name: &&[u8]| {
            arguments
                .get(0)
                .is_none_or(|pattern| glob::matches(pattern, name))
        };
        let here = self.table.names(kind).map(|(name, _)| name).filter(wanted);
        let edges = self
            .interest
            .names(kind)
            .map(|(name, _)| name)
            .filter(wanted);
        let names: BTreeSet<&[u8]> = here.chain(edges).collect();
        reply.array(names.len());
        for name in names {
            reply.bulk(name);
        }
    }

    /// Patterns that somebody, anywhere, is subscribed to, each counted once.
    pub(crate) fn distinct_patterns(&self) -> usize {
        let only_edges = self
            .interest
            .names(Kind::Pattern)
            .filter(|(name, _)| self.table.subscribers(Kind::Pattern, name).len() == 0)
            .count();
        self.table.distinct(Kind::Pattern) + only_edges
    }
}
