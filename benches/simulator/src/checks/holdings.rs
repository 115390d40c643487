//! Who was subscribed to what, from when until when, and what came of it.

use goblin_protocol::time::Time;

use crate::history::History;
use crate::names::Name;

/// One connection's subscriptions to one name, and their deliveries.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) connection: usize,
    pub(super) name: Name,
    /// In the order in which they were asked for.
    pub(super) spans: Vec<Span>,
    /// The publications that were delivered, in the order received, and when.
    pub(super) delivered: Vec<(usize, Time)>,
}

/// One subscription.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) confirmed: Option<Time>,
    pub(super) refused: Option<Time>,
    pub(super) leaving: Option<Time>,
    pub(super) ended: Option<Time>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Holdings {
    pub(super) all: Vec<Holding>,
    /// The publications that each connection got through other names than it ever asked for.
    pub(super) unasked: Vec<(usize, usize, Time)>,
}

impl Holdings {
    pub(super) fn new(history: &History) -> Self {
        let mut holdings = Self {
            all: Vec::new(),
            unasked: Vec::new(),
        };
        for (number, connection) in history.connections.iter().enumerate() {
            let first = holdings.all.len();
            for subscription in &connection.subscriptions {
                let span = Span {
                    confirmed: subscription.confirmed,
                    refused: subscription.refused,
                    leaving: subscription.leaving,
                    ended: subscription.ended,
                };
                let own = &mut holdings.all[first..];
                match own.iter_mut().find(|own| own.name == subscription.name) {
                    Some(holding) => holding.spans.push(span),
                    None => holdings.all.push(Holding {
                        connection: number,
                        name: subscription.name,
                        spans: vec![span],
                        delivered: Vec::new(),
                    }),
                }
            }
            for delivery in &connection.deliveries {
                let own = &mut holdings.all[first..];
                let publication = delivery.publication;
                match own.iter_mut().find(|own| own.name == delivery.via) {
                    Some(holding) => {
                        holding.delivered.push((publication, delivery.at));
                    }
                    None => holdings.unasked.push((number, publication, delivery.at)),
                }
            }
        }
        holdings
    }
}

impl Holding {
    /// When the publication came, if it did.
    pub(super) fn delivered_at(&self, publication: usize) -> Option<Time> {
        let found = self.delivered.iter().find(|each| each.0 == publication)?;
        Some(found.1)
    }

    /// Whether some subscription was confirmed before `from`, and nothing was done to end it before
    /// `until`.
    pub(super) fn is_held_during(&self, from: Time, until: Time) -> bool {
        self.spans.iter().any(|span| {
            span.confirmed.is_some_and(|confirmed| confirmed <= from)
                && span.leaving.is_none_or(|leaving| leaving > until)
        })
    }
}
