//! P1: a publication that arrives at an edge is written to all its matching local subscribers before
//! it is forwarded. Local delivery never waits for the host.
//!
//! Checked: a subscriber at the edge of the publisher gets a publication within two trips over the
//! network, whatever state the link's connection is in as long as the edge holds it for up, a link that
//! stands still included; and not later than one trip after anybody elsewhere.
//!
//! Not checked where the edge may keep a publication back: behind the publisher's own unanswered
//! commands, while the link is down, with a window that may be full, for channels left to the host.
//! Nor for subscribers whose connection is full of a flood.

use std::time::Duration;

use goblin_protocol::time::Time;

use super::Case;
use super::holdings::Holding;
use crate::history::{EdgeHistory, Outcome, Place};
use crate::names::FLOOD;
use crate::plan::WIDE_WINDOW_BYTES;
use crate::verdict::{Findings, at};

/// The granularity of virtual time, several times over.
const SLACK: Duration = Duration::from_micros(300);
/// A connection is established and its greeting is over after this.
const OPENING: Duration = Duration::from_millis(5);

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    if case.plan.window_bytes < WIDE_WINDOW_BYTES {
        return;
    }
    for publication in 0..case.history.publications.len() {
        if let Some(edge) = prompt_at(case, publication) {
            check_publication(case, publication, edge, findings);
        }
    }
}

/// The edge that has no reason to keep the publication back.
fn prompt_at(case: &Case<'_>, number: usize) -> Option<usize> {
    let publisher = case.history.publisher(number);
    let publication = &case.history.publications[number];
    let Place::Edge(edge) = publisher.place else {
        return None;
    };
    let link = &case.history.edges[edge];
    let until = publication.sent + bound(case);
    let prompt = publication.undelayed
        && !case.is_left_to_host(number)
        && publication.outcome != Outcome::Refused
        && publisher.opened + OPENING < publication.sent
        && publisher.ended().is_none_or(|ended| ended > until)
        && !has_restarted(link, publisher.opened, until)
        && link.is_up_during(publication.sent, until);
    prompt.then_some(edge)
}

/// Clients of a process that crashed hear of it later.
fn has_restarted(edge: &EdgeHistory, from: Time, until: Time) -> bool {
    let mut restarts = edge.restarts.iter();
    restarts.any(|restart| from <= *restart && *restart <= until)
}

fn bound(case: &Case<'_>) -> Duration {
    case.plan.shape.latency_max * 2 + SLACK
}

fn check_publication(case: &Case<'_>, number: usize, edge: usize, findings: &mut Findings) {
    let publication = &case.history.publications[number];
    let due = publication.sent + bound(case);
    let elsewhere = first_elsewhere(case, number);
    for holding in &case.holdings.all {
        if !holding.name.matches(publication.name) || !is_prompt(case, holding, number, due) {
            continue;
        }
        let came = holding.delivered_at(number);
        findings.counts.local_deliveries += 1;
        if case.history.edges[edge]
            .trouble_at(publication.sent)
            .is_some()
        {
            findings.counts.local_deliveries_in_trouble += 1;
        }
        let late = came.is_none_or(|came| came > due);
        let overtaken = elsewhere.is_some_and(|elsewhere| {
            came.is_none_or(|came| came > elsewhere + case.plan.shape.latency_max + SLACK)
        });
        if late || overtaken {
            findings.report(
                "P1",
                format!(
                    "{} publication {number} at edge {edge} came to its subscriber, connection {}, \
                     {}",
                    at(publication.sent),
                    holding.connection,
                    came.map_or("never".to_owned(), at),
                ),
            );
        }
    }
}

/// Whether the subscriber is at the publisher's edge and takes what comes.
fn is_prompt(case: &Case<'_>, holding: &Holding, number: usize, due: Time) -> bool {
    let connection = &case.history.connections[holding.connection];
    let mut subscriptions = connection.subscriptions.iter();
    case.history.is_neighbour(number, connection)
        && holding.is_held_during(case.history.publications[number].sent, due)
        && connection.ended().is_none_or(|ended| ended > due)
        && connection.slow.is_none()
        && !subscriptions.any(|subscription| subscription.name == FLOOD)
}

/// When the first client of another process got it.
fn first_elsewhere(case: &Case<'_>, number: usize) -> Option<Time> {
    let name = case.history.publications[number].name;
    let others = case.holdings.all.iter().filter(|holding| {
        let connection = &case.history.connections[holding.connection];
        holding.name.matches(name) && !case.history.is_neighbour(number, connection)
    });
    others
        .filter_map(|holding| holding.delivered_at(number))
        .min()
}
