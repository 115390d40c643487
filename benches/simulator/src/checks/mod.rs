//! The checkers: what the clients saw, held against what is promised.
//!
//! | file | promise |
//! | --- | --- |
//! | `local_first` | P1 |
//! | `authority` | P2 |
//! | `confirmed` | P3, and the silent gaps of P5 |
//! | `replies`, `order`, `told` | P4 |
//! | `once`, `gaps` | P5 |
//! | `answers` | P6 |
//! | `slow` | P7 |
//!
//! They see what clients sent and received. Two things they take from the edges' own figures, because
//! the promises speak of them: that a gap was counted, and whether the link was up.

mod answers;
mod authority;
mod confirmed;
mod gaps;
mod holdings;
mod local_first;
mod once;
mod order;
mod replies;
mod slow;
mod told;

use std::time::Duration;

use goblin_edge::{Delivery, OnUpstreamLoss};

use crate::history::{Connection, History, Place};
use crate::plan::Plan;
use crate::verdict::Findings;
use holdings::Holdings;

/// How long what was on its way when a trouble began or ended may take to arrive.
const AFTERMATH: Duration = Duration::from_millis(100);

/// Runs every checker.
pub(crate) fn all(plan: &Plan, history: &History, findings: &mut Findings) {
    let case = Case {
        plan,
        history,
        holdings: Holdings::new(history),
    };
    local_first::check(&case, findings);
    authority::check(&case, findings);
    confirmed::check(&case, findings);
    replies::check(&case, findings);
    order::check(&case, findings);
    told::check(&case, findings);
    once::check(&case, findings);
    gaps::check(&case, findings);
    answers::check(&case, findings);
    slow::check(&case, findings);
}

/// What is judged.
struct Case<'a> {
    plan: &'a Plan,
    history: &'a History,
    holdings: Holdings,
}

impl Case<'_> {
    /// Whether a publication is left to the host by the edge where it was made.
    fn is_left_to_host(&self, publication: usize) -> bool {
        self.history.publications[publication].in_transaction
            && matches!(self.history.publisher(publication).place, Place::Edge(_))
            || self.is_in_host_order(publication)
    }

    /// Whether the edge where a publication was made leaves its channel to the host.
    fn is_in_host_order(&self, publication: usize) -> bool {
        let publisher = self.history.publisher(publication);
        let publication = &self.history.publications[publication];
        match publisher.place {
            Place::Host => false,
            Place::Edge(edge) => {
                let edge = &self.plan.edges[edge];
                edge.delivery == Delivery::Host
                    || edge.host_ordered && publication.name.is_ordered()
            }
        }
    }

    /// Whether a publication may have been made while its edge was on its own, and served its own
    /// clients alone.
    fn may_be_local_only(&self, publication: usize) -> bool {
        let publisher = self.history.publisher(publication);
        let publication = &self.history.publications[publication];
        match publisher.place {
            Place::Host => false,
            Place::Edge(edge) => {
                let until = publication.answered.unwrap_or(self.history.end);
                self.plan.edges[edge].on_upstream_loss == OnUpstreamLoss::Local
                    && self.history.edges[edge].is_troubled_during(publication.sent, until)
            }
        }
    }

    /// Whether a publication from elsewhere may be late for a client, or missing.
    fn may_stay_away(&self, publication: usize, connection: &Connection) -> bool {
        let sent = self.history.publications[publication].sent;
        let troubled = match connection.place {
            Place::Host => false,
            Place::Edge(edge) => {
                self.history.edges[edge].is_troubled_during(sent, self.history.end)
            }
        };
        troubled || self.may_be_local_only(publication)
    }

    /// Whether a client may have missed a publication because its edge lost a session, and counted
    /// that.
    fn is_in_counted_gap(&self, publication: usize, connection: &Connection) -> bool {
        let Place::Edge(edge) = connection.place else {
            return false;
        };
        let edge = &self.history.edges[edge];
        let publication = &self.history.publications[publication];
        let until = publication.answered.unwrap_or(self.history.end);
        edge.gaps.iter().any(|gap| {
            edge.trouble_at(*gap).is_some_and(|trouble| {
                publication.sent <= trouble.until + AFTERMATH && until + AFTERMATH >= trouble.from
            })
        })
    }
}
