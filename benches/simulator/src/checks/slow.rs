//! P7: output for a client is bounded; the one that exceeds the bound is closed, and nobody else waits
//! for it.
//!
//! Checked: a client that did not read while clearly more than the bound was published to it is closed;
//! what it finds when it reads again, of what others of its place had got by then, is at most the bound
//! and what the network holds. That the others get theirs in time is what the other checkers check.

use std::collections::BTreeSet;
use std::time::Duration;

use goblin_protocol::time::Time;

use super::Case;
use crate::history::Outcome;
use crate::names::FLOOD;
use crate::plan::OUTPUT_BYTES_MAX;
use crate::verdict::{Findings, at};

/// What was answered this long before the client read again was delivered by then.
const DELIVERED: Duration = Duration::from_millis(20);
/// Around the payloads, and deliveries that were made and on their way to the others.
const SLACK_BYTES: usize = 64 * 1024;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let held_elsewhere = case.plan.shape.buffer_bytes + SLACK_BYTES;
    for (number, connection) in case.history.connections.iter().enumerate() {
        let Some((since, until)) = connection.slow else {
            continue;
        };
        let published = published(case, number, since, until);
        let too_much = published > OUTPUT_BYTES_MAX + held_elsewhere;
        findings.counts.slow_clients += u64::from(too_much);
        if too_much && connection.is_open() {
            findings.report(
                "P7",
                format!(
                    "{} connection {number} left {published} bytes unread and was not closed",
                    at(since),
                ),
            );
        }
        let backlog = backlog(case, number, since, until);
        if backlog > OUTPUT_BYTES_MAX + held_elsewhere {
            findings.report(
                "P7",
                format!(
                    "{} {backlog} bytes waited for connection {number}, which did not read",
                    at(until),
                ),
            );
        }
    }
}

/// The bytes of the flood that were written for a client while it did not read.
fn published(case: &Case<'_>, number: usize, since: Time, until: Time) -> usize {
    let connection = &case.history.connections[number];
    let all = case.history.publications.iter().enumerate();
    let flood = all.filter(|(number, publication)| {
        let answered = publication.answered;
        publication.name == FLOOD
            && since <= publication.sent
            && matches!(publication.outcome, Outcome::Delivered(_))
            && answered.is_some_and(|answered| answered + DELIVERED <= until)
            && (case.history.is_neighbour(*number, connection)
                || !case.may_stay_away(*number, connection))
    });
    flood
        .map(|(_, publication)| publication.payload_bytes)
        .sum()
}

/// The bytes that a client found when it read again and that were written for it before: its
/// publisher or another subscriber of the same place had heard of each of them.
fn backlog(case: &Case<'_>, number: usize, since: Time, until: Time) -> usize {
    let connection = &case.history.connections[number];
    let heard: BTreeSet<usize> = case
        .history
        .connections
        .iter()
        .filter(|other| other.place == connection.place && other.life == connection.life)
        .flat_map(|other| &other.deliveries)
        .filter(|delivery| since <= delivery.at && delivery.at < until)
        .map(|delivery| delivery.publication)
        .collect();
    let late = connection.deliveries.iter().filter(|delivery| {
        let publication = &case.history.publications[delivery.publication];
        let answered = case.history.is_neighbour(delivery.publication, connection)
            && publication
                .answered
                .is_some_and(|answered| answered < until);
        delivery.at >= until && (answered || heard.contains(&delivery.publication))
    });
    late.map(|delivery| case.history.publications[delivery.publication].payload_bytes)
        .sum()
}
