//! P5, gaps: a link that breaks and comes back within its window loses nothing. When the session is
//! lost the edge closes every client that has subscriptions, or keeps them and counts the gap, as
//! configured. A gap is always visible.
//!
//! Checked: sessions are lost only in trouble, and not in one that is shorter than a session lives;
//! with `--on-gap close` every subscriber of the time is closed; nobody is closed without a reason.

use goblin_edge::OnGap;
use goblin_protocol::resp::reply::Value;
use goblin_protocol::service::Closed;
use goblin_protocol::time::Time;

use super::{AFTERMATH, Case};
use crate::history::{Ask, Command, Connection, Place};
use crate::plan::WIDE_WINDOW_BYTES;
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for edge in 0..case.history.edges.len() {
        check_losses(case, edge, findings);
        if case.plan.edges[edge].on_gap == OnGap::Close {
            check_closed(case, edge, findings);
        }
    }
    for (number, connection) in case.history.connections.iter().enumerate() {
        if let Some((closed, why)) = connection.closed
            && !is_explained(case, connection, closed, why)
        {
            findings.report(
                "P5",
                format!(
                    "{} connection {number} at {:?} was closed ({why:?}) for no reason",
                    at(closed),
                    connection.place,
                ),
            );
        }
    }
}

fn check_losses(case: &Case<'_>, edge: usize, findings: &mut Findings) {
    let seen = &case.history.edges[edge];
    findings.counts.gaps += seen.gaps.len() as u64;
    for trouble in &seen.troubles {
        let mut gaps = seen.gaps.iter();
        let lost = gaps.any(|gap| trouble.from <= *gap && *gap <= trouble.until);
        let short = trouble.until.since(trouble.from) < case.plan.resume_timeout;
        if !lost && !trouble.is_fatal {
            findings.counts.resumes += 1;
        }
        // A narrow window may be full before the session's time is over.
        let wide = case.plan.window_bytes >= WIDE_WINDOW_BYTES;
        if lost && short && wide && !trouble.is_fatal {
            findings.report(
                "P5",
                format!(
                    "{} edge {edge} lost its session in a trouble that was over after {:?}",
                    at(trouble.from),
                    trouble.until.since(trouble.from),
                ),
            );
        }
    }
    for gap in &seen.gaps {
        if seen.trouble_at(*gap).is_none() {
            findings.report(
                "P5",
                format!(
                    "{} edge {edge} lost its session without a trouble",
                    at(*gap)
                ),
            );
        }
    }
}

fn check_closed(case: &Case<'_>, edge: usize, findings: &mut Findings) {
    for gap in &case.history.edges[edge].gaps {
        for holding in &case.holdings.all {
            let connection = &case.history.connections[holding.connection];
            let affected = connection.place == Place::Edge(edge)
                && connection.opened < *gap
                && connection
                    .ended()
                    .is_none_or(|ended| ended > *gap + AFTERMATH)
                && connection.slow.is_none_or(|(since, _)| since > *gap)
                && holding.is_held_during(*gap, *gap + AFTERMATH);
            if affected {
                findings.report(
                    "P5",
                    format!(
                        "{} edge {edge} lost its session and did not close connection {}",
                        at(*gap),
                        holding.connection,
                    ),
                );
            }
        }
    }
}

/// Whether the last thing that the client was told is that the end of its transaction did not reach the
/// host: it is closed, because its next commands must not be queued there.
fn is_cut_off_in_transaction(connection: &Connection) -> bool {
    let answered = |command: &&Command| command.answered.is_some();
    connection
        .commands
        .iter()
        .rfind(answered)
        .is_some_and(|last| {
            matches!(last.ask, Ask::Exec(_) | Ask::Discard(_))
                && matches!(last.replies.last(), Some(Value::Error(text)) if text.starts_with(b"UPSTREAM"))
        })
}

fn is_explained(case: &Case<'_>, connection: &Connection, closed: Time, why: Closed) -> bool {
    // One that left by `QUIT` is closed by the server.
    if connection.cut.is_some() || connection.slow.is_some() || connection.left.is_some() {
        return true;
    }
    if is_cut_off_in_transaction(connection) {
        return true;
    }
    let (restarts, gaps) = match connection.place {
        Place::Host => (&case.history.host_restarts, &[][..]),
        Place::Edge(edge) => {
            let edge = &case.history.edges[edge];
            (&edge.restarts, &edge.gaps[..])
        }
    };
    let just = |then: &&Time| {
        **then <= closed && closed <= **then + case.plan.shape.cut_noticed_max + AFTERMATH
    };
    let is_down = restarts
        .iter()
        .any(|restart| *restart <= closed && closed <= *restart + case.plan.answer_time_max());
    // An edge that has not reached the host since it started serves nobody.
    let is_young = match connection.place {
        Place::Host => false,
        Place::Edge(edge) => !case.history.edges[edge]
            .link
            .iter()
            .any(|change| change.1 && change.0 <= connection.opened),
    };
    restarts.iter().any(|restart| just(&restart))
        || gaps.iter().any(|gap| just(&gap))
        || is_down && matches!(why, Closed::Unreachable(_))
        || is_down && connection.place != Place::Host
        || is_young
}
