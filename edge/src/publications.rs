//! Publications: delivered here first, then forwarded; the host's answer becomes the publisher's reply.
//!
//! Invariant: `in_flight` holds one entry for each publication that the host has not answered, in the
//! order they were sent, and their identities are consecutive.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use goblin_protocol::glob;
use goblin_protocol::link::message::{self, DeliveryBy, Message};
use goblin_protocol::resp::Arguments;
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{Awaited, Fanout, Flow, Publication};
use goblin_protocol::table::{Kind, PatternId};
use goblin_protocol::time::Now;

use crate::client::Stall;
use crate::config::{Delivery, OnUpstreamLoss};
use crate::edge::Edge;
use crate::upstream::Gate;

/// What the edge remembers about publications.
#[derive(Debug, Default)]
pub(crate) struct Publications {
    fanout: Fanout,
    matched: Vec<PatternId>,
    in_flight: VecDeque<InFlight>,
    /// The identity of the oldest publication in flight, or of the next one.
    oldest: u64,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    publisher: ConnectionId,
    delivered: u32,
}

impl Publications {
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }
}

/// The reply to a publication that was delivered here and lost on its way.
pub(crate) struct LostPublication {
    pub(crate) delivered: u32,
}

impl fmt::Display for LostPublication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "UPSTREAM delivered to {} here, unknown elsewhere: the link lost it",
            self.delivered
        )
    }
}

impl Edge {
    /// `PUBLISH` and `SPUBLISH` outside a transaction.
    pub(crate) fn publish(
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
        let publication = Publication {
            kind,
            channel: &request[1],
            payload: &request[2],
        };
        match self.upstream.gate() {
            Gate::Open => self.publish_everywhere(now, id, publication),
            Gate::Closed if self.config.on_upstream_loss == OnUpstreamLoss::Local => {
                let delivered = self.deliver(now, publication);
                self.statistics.publications_kept_local += 1;
                self.reply(id, |reply| reply.integer(i64::from(delivered)));
            }
            Gate::Closed | Gate::Full => return self.wait_for_link(now, id),
        }
        Flow::Next
    }

    fn publish_everywhere(&mut self, now: Now, id: ConnectionId, publication: Publication<'_>) {
        let host_ordered = self.is_host_ordered(publication.channel);
        let delivered = if host_ordered {
            0
        } else {
            self.deliver(now, publication)
        };
        let sent = self.upstream.send(
            now,
            &Message::Publication(message::Publication {
                id: self.publications.oldest + self.publications.in_flight.len() as u64,
                kind: publication.kind,
                delivery: if host_ordered {
                    DeliveryBy::Host
                } else {
                    DeliveryBy::Edge
                },
                delivered_here: delivered,
                client: pack(id),
                channel: publication.channel,
                payload: publication.payload,
            }),
        );
        if !sent {
            return self.reply(id, |reply| reply.error(LostPublication { delivered }));
        }
        self.publications.in_flight.push_back(InFlight {
            publisher: id,
            delivered,
        });
        self.statistics.publications_forwarded += 1;
        if let Some(client) = self.clients.get_mut(id) {
            let muted = client.session.is_muted();
            client.session.replies.expect(Awaited::Publication, muted);
        }
    }

    fn is_host_ordered(&self, channel: &[u8]) -> bool {
        self.config.delivery == Delivery::Host
            || self
                .config
                .host_ordered
                .iter()
                .any(|pattern| glob::matches(pattern, channel))
    }

    /// Writes a publication to every matching subscription of this edge and returns how many there
    /// were.
    pub(crate) fn deliver(&mut self, now: Now, publication: Publication<'_>) -> u32 {
        let Publications {
            fanout, matched, ..
        } = &mut self.publications;
        let mut delivered = 0;
        fanout.clear();
        for (subscriber, ()) in self
            .table
            .subscribers(publication.kind, publication.channel)
        {
            self.clients
                .deliver(now, subscriber, fanout, publication, None);
            delivered += 1;
        }
        if publication.kind == Kind::Channel {
            self.table.matching(publication.channel, matched);
            for id in matched.iter() {
                let (pattern, subscribers) = self.table.pattern(*id);
                fanout.clear();
                for (subscriber, ()) in subscribers {
                    self.clients
                        .deliver(now, subscriber, fanout, publication, Some(pattern));
                    delivered += 1;
                }
            }
        }
        self.statistics.deliveries += u64::from(delivered);
        delivered
    }

    /// The host has answered the oldest publication in flight. False when it was another one: the
    /// host broke the protocol.
    pub(crate) fn handle_result(
        &mut self,
        now: Now,
        publication: u64,
        deliveries: u64,
        refused: &str,
    ) -> bool {
        if publication != self.publications.oldest {
            return false;
        }
        let Some(entry) = self.publications.in_flight.pop_front() else {
            return false;
        };
        self.publications.oldest += 1;
        self.answer_publication(now, entry.publisher, |reply| {
            if refused.is_empty() {
                reply.integer(i64::try_from(deliveries).unwrap_or(i64::MAX));
            } else {
                reply.error(refused);
            }
        });
        true
    }

    /// The session is lost: nobody will answer what is in flight. Yields the deliveries made here, by
    /// publisher and in order.
    pub(crate) fn take_in_flight(&mut self) -> BTreeMap<ConnectionId, VecDeque<u32>> {
        let lost = std::mem::take(&mut self.publications.in_flight);
        self.publications.oldest += lost.len() as u64;
        self.statistics.publications_lost += lost.len() as u64;
        let mut by_publisher: BTreeMap<ConnectionId, VecDeque<u32>> = BTreeMap::new();
        for entry in lost {
            by_publisher
                .entry(entry.publisher)
                .or_default()
                .push_back(entry.delivered);
        }
        by_publisher
    }

    fn answer_publication(
        &mut self,
        now: Now,
        publisher: ConnectionId,
        write: impl FnOnce(&mut goblin_protocol::resp::Writer<'_>),
    ) {
        if let Some(client) = self.clients.get_mut(publisher) {
            client.fulfil(Awaited::Publication, write);
            self.settle(now, publisher);
        }
    }
}

/// A connection as the host knows it.
pub(crate) fn pack(id: ConnectionId) -> u64 {
    u64::from(id.generation) << 32 | u64::from(id.index)
}

/// The connection that [`pack`] packed.
pub(crate) fn unpack(client: u64) -> ConnectionId {
    ConnectionId {
        index: (client & u64::from(u32::MAX)) as u32,
        generation: (client >> 32) as u32,
    }
}
