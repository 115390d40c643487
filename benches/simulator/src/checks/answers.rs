//! P6: every command is answered within its bounds, with a result or an error; nothing hangs for ever.
//! A publication that was refused is delivered nowhere. One that was delivered here when the session
//! was lost is answered with an error that says how often.
//!
//! Checked: no command of an open connection is without an answer at the end, none waited longer than
//! [`Plan::answer_time_max`](crate::plan::Plan::answer_time_max) behind the one before it; nobody got
//! what was refused; a lost publication came to as many subscriptions of its edge as its answer says.

use goblin_protocol::time::Time;

use super::Case;
use crate::history::{Connection, Outcome, Place};
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (number, connection) in case.history.connections.iter().enumerate() {
        check_connection(case, number, connection, findings);
    }
    for number in 0..case.history.publications.len() {
        check_publication(case, number, findings);
    }
}

fn check_connection(
    case: &Case<'_>,
    number: usize,
    connection: &Connection,
    findings: &mut Findings,
) {
    let mut served = connection.opened;
    for command in &connection.commands {
        let mut since = served.max(command.sent);
        if let Some((slow, until)) = connection.slow
            && (slow <= since || command.answered.is_none_or(|answered| slow <= answered))
        {
            since = since.max(until);
        }
        let until = command.answered.or(connection.ended());
        if let Some(answered) = command.answered {
            findings.counts.answers += 1;
            served = answered;
        }
        let waited = until.unwrap_or(case.history.end).since(since);
        if waited > case.plan.answer_time_max() || until.is_none() {
            findings.report(
                "P6",
                format!(
                    "{} connection {number} at {:?} asked {:?} and was {} for {waited:?}",
                    at(command.sent),
                    connection.place,
                    command.ask,
                    if command.answered.is_some() {
                        "answered, but not"
                    } else {
                        "not answered"
                    },
                ),
            );
            return;
        }
    }
}

fn check_publication(case: &Case<'_>, number: usize, findings: &mut Findings) {
    let publication = &case.history.publications[number];
    match publication.outcome {
        Outcome::Refused => {
            findings.counts.refused_publications += 1;
            let mut all = case.holdings.all.iter();
            if let Some(holding) = all.find(|it| it.delivered_at(number).is_some()) {
                findings.report(
                    "P6",
                    format!(
                        "{} publication {number} of connection {} was refused, and came to \
                         connection {}",
                        at(publication.sent),
                        publication.publisher,
                        holding.connection,
                    ),
                );
            }
        }
        Outcome::Lost(told) => check_lost(case, number, told, findings),
        Outcome::Delivered(_) | Outcome::Unknown => {}
    }
}

fn check_lost(case: &Case<'_>, number: usize, told: i64, findings: &mut Findings) {
    let publication = &case.history.publications[number];
    let mut delivered = 0;
    let mut certain = true;
    for holding in &case.holdings.all {
        let connection = &case.history.connections[holding.connection];
        if !holding.name.matches(publication.name)
            || !case.history.is_neighbour(number, connection)
            || matches!(connection.place, Place::Edge(_)) && case.is_left_to_host(number)
        {
            continue;
        }
        let came: Option<Time> = holding.delivered_at(number);
        delivered += i64::from(came.is_some());
        // Who ended or unsubscribed may not have seen what was delivered.
        certain &= came.is_some()
            || connection.is_open() && holding.spans.iter().all(|span| span.leaving.is_none());
    }
    if delivered > told || certain && delivered < told {
        findings.report(
            "P6",
            format!(
                "{} publication {number} was answered as delivered to {told} here and lost, and came \
                 to {delivered}",
                at(publication.sent),
            ),
        );
    }
}
