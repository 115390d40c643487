//! P7: output for a client is bounded; the one that exceeds the bound is closed, and nobody else waits
//! for it.
//!
//! Checked: a client that did not read while clearly more than the bound was published to it is closed;
//! what it finds when it reads again is at most the bound, what the network holds, and what comes
//! meanwhile. That the others get theirs in time is what the other checkers check.

use std::time::Duration;

use super::Case;
use crate::history::Outcome;
use crate::names::FLOOD;
use crate::plan::OUTPUT_BYTES_MAX;
use crate::verdict::{Findings, at};

/// What was answered this long before the client read again was delivered by then.
const DELIVERED: Duration = Duration::from_millis(20);
/// Around the payload of a delivery, and what arrives while the client catches up.
const SLACK_BYTES: usize = 64 * 1024;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let held_elsewhere = case.plan.shape.buffer_bytes + SLACK_BYTES;
    for (number, connection) in case.history.connections.iter().enumerate() {
        let Some((since, until)) = connection.slow else {
            continue;
        };
        let published: usize = case
            .history
            .publications
            .iter()
            .filter(|publication| {
                publication.name == FLOOD
                    && since <= publication.sent
                    && matches!(publication.outcome, Outcome::Delivered(_))
                    && publication
                        .answered
                        .is_some_and(|answered| answered + DELIVERED <= until)
            })
            .map(|publication| publication.payload_bytes)
            .sum();
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
        if connection.backlog > OUTPUT_BYTES_MAX + held_elsewhere {
            findings.report(
                "P7",
                format!(
                    "{} {} bytes waited for connection {number}, which did not read",
                    at(until),
                    connection.backlog,
                ),
            );
        }
    }
}
