//! Matching and delivery: to the clients that are connected here, and to every edge with interest.
//!
//! An edge gets a publication once, however many of its subscriptions match; it matches them itself.
//! The number of deliveries follows from the interest that it stated.

use goblin_protocol::link::message::{Delivery, Message};
use goblin_protocol::outbox::Outbox;
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{Fanout, Publication};
use goblin_protocol::table::{Kind, PatternId, SubscriberId, Subscribers};
use goblin_protocol::time::Now;

use crate::host::Host;

/// Who published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client that is connected here, or a transaction.
    Host,
    /// A client of this edge, which has delivered to its own subscribers already.
    Edge(usize),
    /// A client of this edge, which wants the host's order for its own subscribers as well.
    EdgeHostOrdered(usize),
}

impl Origin {
    /// The edge that must not get the publication back.
    fn served(self) -> Option<usize> {
        match self {
            Self::Edge(edge) => Some(edge),
            Self::Host | Self::EdgeHostOrdered(_) => None,
        }
    }
}

/// What the host remembers about publications.
#[derive(Debug, Default)]
pub(crate) struct Publications {
    fanout: Fanout,
    matched: Vec<PatternId>,
    /// The edges that get the publication being delivered.
    receivers: Vec<usize>,
    /// Counts the publications that went to edges.
    sequence: u64,
    /// Deliveries to the client that is executing a command: they follow its reply.
    deferred: Outbox,
    executing: Option<ConnectionId>,
}

impl Publications {
    /// The client's own deliveries are put off from here on.
    pub(crate) fn begin_command(&mut self, client: ConnectionId) {
        self.executing = Some(client);
    }

    /// The command could not run yet and has published nothing.
    pub(crate) fn put_off_command(&mut self) {
        self.executing = None;
    }

    /// The reply is written; what was put off follows it.
    pub(crate) fn end_command(&mut self, outbox: &mut Outbox) {
        self.executing = None;
        if !self.deferred.is_empty() {
            outbox.append(&mut self.deferred);
        }
    }
}

impl Host {
    /// Delivers a publication everywhere it belongs and returns the number of deliveries, those that
    /// its origin has made itself not counted.
    pub(crate) fn deliver(
        &mut self,
        now: Now,
        origin: Origin,
        publication: Publication<'_>,
    ) -> u64 {
        self.publications.receivers.clear();
        let kind = publication.kind;
        let mut delivered = self.deliver_here(now, publication);
        let served = origin.served();
        delivered += interested(
            &mut self.publications.receivers,
            served,
            self.interest.subscribers(kind, publication.channel),
        );
        if kind == Kind::Channel {
            let matched = &mut self.publications.matched;
            self.interest.matching(publication.channel, matched);
            for id in matched.iter() {
                let (_, edges) = self.interest.pattern(*id);
                delivered += interested(&mut self.publications.receivers, served, edges);
            }
        }
        self.statistics.publications += 1;
        self.statistics.deliveries += delivered;
        if !self.publications.receivers.is_empty() {
            self.send_to_receivers(now, origin, publication);
        }
        delivered
    }

    fn deliver_here(&mut self, now: Now, publication: Publication<'_>) -> u64 {
        let Publications {
            fanout,
            matched,
            deferred,
            executing,
            ..
        } = &mut self.publications;
        let own = executing.map(|client| SubscriberId(client.index));
        let mut delivered = 0;
        fanout.clear();
        let mut deliver = |fanout: &mut Fanout, subscribers: Subscribers<'_, ()>, pattern| {
            for (subscriber, ()) in subscribers {
                delivered += 1;
                if Some(subscriber) == own
                    && let Some(client) = executing.and_then(|id| self.clients.get(id))
                {
                    let version = client.session.version;
                    fanout.deliver(deferred, version, publication, pattern);
                } else {
                    self.clients
                        .deliver(now, subscriber, fanout, publication, pattern);
                }
            }
        };
        let subscribers = self
            .table
            .subscribers(publication.kind, publication.channel);
        deliver(fanout, subscribers, None);
        if publication.kind == Kind::Channel {
            self.table.matching(publication.channel, matched);
            for id in matched.iter() {
                let (pattern, subscribers) = self.table.pattern(*id);
                fanout.clear();
                deliver(fanout, subscribers, Some(pattern));
            }
        }
        delivered
    }

    fn send_to_receivers(&mut self, now: Now, origin: Origin, publication: Publication<'_>) {
        self.publications.sequence += 1;
        let message = Message::Delivery(Delivery {
            kind: publication.kind,
            origin: match origin {
                Origin::Host => 0,
                Origin::Edge(edge) | Origin::EdgeHostOrdered(edge) => self.edges.number(edge),
            },
            sequence: self.publications.sequence,
            channel: publication.channel,
            payload: publication.payload,
        });
        for edge in &self.publications.receivers {
            self.edges.send(now, *edge, &message);
        }
    }
}

/// Notes the edges among `subscribers` and adds up their subscriptions.
fn interested(
    receivers: &mut Vec<usize>,
    served: Option<usize>,
    subscribers: Subscribers<'_, u32>,
) -> u64 {
    let mut subscriptions = 0;
    for (edge, count) in subscribers {
        let edge = edge.0 as usize;
        if Some(edge) != served {
            subscriptions += u64::from(count);
            if !receivers.contains(&edge) {
                receivers.push(edge);
            }
        }
    }
    subscriptions
}
