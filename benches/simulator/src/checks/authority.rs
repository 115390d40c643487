//! P2: the reply to `PUBLISH` is the number of deliveries everywhere: at this edge, at the other edges
//! and at the host.
//!
//! Checked in calms, when nobody subscribes, unsubscribes, comes or goes, and no link is in trouble:
//! the reply is the number of subscriptions that match, each of them got the publication, and `PUBSUB
//! NUMSUB` tells the same of the whole system, wherever it is asked.

use goblin_protocol::resp::reply::Value;
use goblin_protocol::time::Time;

use super::Case;
use crate::history::{Ask, Outcome};
use crate::names::Name;
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (begin, end) in &case.history.calms {
        for (number, publication) in case.history.publications.iter().enumerate() {
            if *begin <= publication.sent && publication.sent < *end {
                check_publication(case, number, *end, findings);
            }
        }
        check_questions(case, *begin, *end, findings);
    }
}

fn check_publication(case: &Case<'_>, number: usize, end: Time, findings: &mut Findings) {
    let publication = &case.history.publications[number];
    let wanted = |name: Name| name.matches(publication.name);
    let expected = held(case, wanted, publication.sent, end);
    let mut delivered = 0;
    for holding in &case.holdings.all {
        delivered += i64::from(holding.delivered_at(number).is_some());
    }
    findings.counts.counted_replies += 1;
    if publication.outcome != Outcome::Delivered(expected) || delivered != expected {
        findings.report(
            "P2",
            format!(
                "{} publication {number} of connection {}, to {:?} with {expected} subscriptions, was \
                 answered with {:?} and delivered to {delivered}",
                at(publication.sent),
                publication.publisher,
                publication.name,
                publication.outcome,
            ),
        );
    }
}

fn check_questions(case: &Case<'_>, begin: Time, end: Time, findings: &mut Findings) {
    for (number, connection) in case.history.connections.iter().enumerate() {
        for command in &connection.commands {
            let Ask::NumSub(name) = command.ask else {
                continue;
            };
            if command.sent < begin || end <= command.sent {
                continue;
            }
            let expected = held(case, |held| held == name, command.sent, end);
            let told = match command.replies.first() {
                Some(Value::Array(values)) => values.get(1),
                _ => None,
            };
            if told != Some(&Value::Integer(expected)) {
                findings.report(
                    "P2",
                    format!(
                        "{} connection {number} was told {told:?} of the {expected} subscriptions to \
                         {name:?}",
                        at(command.sent),
                    ),
                );
            }
        }
    }
}

/// How many subscriptions to such names there are in all.
fn held(case: &Case<'_>, wanted: impl Fn(Name) -> bool, from: Time, until: Time) -> i64 {
    let held = case.holdings.all.iter().filter(|holding| {
        let connection = &case.history.connections[holding.connection];
        wanted(holding.name)
            && holding.is_held_during(from, until)
            && connection.ended().is_none_or(|ended| ended > until)
    });
    i64::try_from(held.count()).unwrap_or(i64::MAX)
}
