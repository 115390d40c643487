//! P3: after the confirmation of a subscription no later publication, from anywhere, is missed.
//!
//! Checked: every publication that was sent after a subscription had been confirmed, and that was
//! answered with a number, came to it. A subscription that ended (unsubscribed, disconnected, closed
//! by a gap) may miss the last ones, and none before one that it got of the same publisher.
//!
//! Missing is allowed in a gap that the subscriber's edge counted (P5), and, with
//! `--on-upstream-loss local`, what an edge that was on its own delivered to its own clients alone, and
//! for subscriptions that it confirmed alone what came from elsewhere before it was back (P6). What is missing in times of trouble without a
//! counted gap is reported as P5: a silent gap.

use goblin_edge::OnUpstreamLoss;

use super::holdings::{Holding, Span};
use super::{AFTERMATH, Case};
use crate::history::{Connection, Outcome, Place};
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for holding in &case.holdings.all {
        let connection = &case.history.connections[holding.connection];
        for (number, publication) in case.history.publications.iter().enumerate() {
            if !holding.name.matches(publication.name) || !is_delivered_to(case, number, connection)
            {
                continue;
            }
            if holding.delivered_at(number).is_some() {
                findings.counts.required_deliveries += 1;
            } else if holding
                .spans
                .iter()
                .any(|span| must_have(case, holding, span, number))
                && !is_excused(case, number, connection)
            {
                report(case, holding, number, findings);
            }
        }
    }
}

/// Whether what the publisher was told means that this connection's process delivers it.
fn is_delivered_to(case: &Case<'_>, number: usize, connection: &Connection) -> bool {
    match case.history.publications[number].outcome {
        Outcome::Delivered(_) => true,
        Outcome::Lost(_) => {
            case.history.is_neighbour(number, connection) && !case.is_left_to_host(number)
        }
        Outcome::Refused | Outcome::Unknown => false,
    }
}

/// Whether an edge that was on its own has confirmed the subscription on its own, too (P6), and the
/// host had yet to hear of it.
fn was_confirmed_alone(
    case: &Case<'_>,
    span: &Span,
    number: usize,
    connection: &Connection,
) -> bool {
    let (Place::Edge(edge), Some(confirmed)) = (connection.place, span.confirmed) else {
        return false;
    };
    let sent = case.history.publications[number].sent;
    let trouble = case.history.edges[edge].trouble_at(confirmed);
    case.plan.edges[edge].on_upstream_loss == OnUpstreamLoss::Local
        && trouble.is_some_and(|trouble| sent <= trouble.until + AFTERMATH)
        && (!case.history.is_neighbour(number, connection) || case.is_left_to_host(number))
}

fn must_have(case: &Case<'_>, holding: &Holding, span: &Span, number: usize) -> bool {
    let publication = &case.history.publications[number];
    let connection = &case.history.connections[holding.connection];
    let Some(confirmed) = span.confirmed else {
        return false;
    };
    let ended = [span.leaving, connection.ended()]
        .into_iter()
        .flatten()
        .min();
    if publication.sent < confirmed || ended.is_some_and(|ended| publication.sent >= ended) {
        return false;
    }
    if was_confirmed_alone(case, span, number, connection) {
        return false;
    }
    match ended {
        None => true,
        // A later one of the same publisher, on the same way, came before the end.
        Some(ended) => holding.delivered.iter().any(|(later, came)| {
            let other = &case.history.publications[*later];
            *later > number
                && other.publisher == publication.publisher
                && other.sent >= confirmed
                && *came < ended
                && case.is_left_to_host(*later) == case.is_left_to_host(number)
                && !(case.is_left_to_host(*later) && case.may_be_local_only(*later))
        }),
    }
}

fn is_excused(case: &Case<'_>, number: usize, connection: &Connection) -> bool {
    if case.history.is_neighbour(number, connection) {
        let delivered_here = connection.place == Place::Host || !case.is_left_to_host(number);
        return !delivered_here && case.is_in_counted_gap(number, connection);
    }
    case.may_be_local_only(number) || case.is_in_counted_gap(number, connection)
}

fn report(case: &Case<'_>, holding: &Holding, number: usize, findings: &mut Findings) {
    let publication = &case.history.publications[number];
    let place = case.history.connections[holding.connection].place;
    let until = publication.answered.unwrap_or(case.history.end);
    let promise = match place {
        Place::Edge(edge)
            if case.history.edges[edge].is_troubled_during(publication.sent, until) =>
        {
            "P5"
        }
        _ => "P3",
    };
    findings.report(
        promise,
        format!(
            "{} publication {number} to {:?}, answered with {:?}, did not come to connection {} at \
             {place:?}, which holds {:?}",
            at(publication.sent),
            publication.name,
            publication.outcome,
            holding.connection,
            holding.name,
        ),
    );
}
