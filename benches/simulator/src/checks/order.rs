//! P4, of publications: publications of one client reach every subscriber in the order they were
//! sent. All subscribers of one edge see one and the same order of everything. Channels that are left
//! to the host have one order everywhere.
//!
//! Two ways lead from a publisher to a subscriber at the same edge, and the order holds for each of
//! them: what the edge delivers itself, and the channels that it leaves to the host (`--host-ordered`),
//! which take longer. What a transaction publishes goes to the host too, but nothing of its client
//! overtakes it. For subscribers elsewhere there is one way.
//!
//! Checked for one order: the union of what the subscribers saw has no circle.

use std::collections::BTreeMap;

use super::Case;
use crate::history::{Connection, Place};
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    check_publishers(case, findings);
    let mut by_place: BTreeMap<(Place, u32), Vec<Seen>> = BTreeMap::new();
    let mut ordered = Vec::new();
    for (number, connection) in case.history.connections.iter().enumerate() {
        let all = seen(connection, |_| true);
        findings.counts.ordered_deliveries += all.len().saturating_sub(1) as u64;
        let place = (connection.place, connection.life);
        by_place.entry(place).or_default().push((number, all));
        let from_host = seen(connection, |it| is_in_host_order(case, it, connection));
        ordered.push((number, from_host));
    }
    for ((place, _), all) in by_place {
        report_circle(case, &format!("at {place:?}"), &all, findings);
    }
    report_circle(case, "of channels left to the host", &ordered, findings);
}

/// A connection and the publications that it saw, each once.
type Seen = (usize, Vec<usize>);

fn seen(connection: &Connection, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = connection
        .deliveries
        .iter()
        .map(|delivery| delivery.publication)
        .filter(|publication| wanted(*publication))
        .collect();
    order.dedup();
    order
}

/// Whether the publication came to the connection in the host's order.
fn is_in_host_order(case: &Case<'_>, publication: usize, connection: &Connection) -> bool {
    case.history.publications[publication].name.is_ordered()
        && (!case.history.is_neighbour(publication, connection)
            || connection.place == Place::Host
            || case.is_left_to_host(publication) && !case.may_be_local_only(publication))
}

fn check_publishers(case: &Case<'_>, findings: &mut Findings) {
    for (number, connection) in case.history.connections.iter().enumerate() {
        // By publisher and way.
        let mut last: BTreeMap<(usize, bool), usize> = BTreeMap::new();
        for delivery in &connection.deliveries {
            let publication = delivery.publication;
            let at_same_edge = case.history.is_neighbour(publication, connection)
                && connection.place != Place::Host;
            let left = at_same_edge && case.is_in_host_order(publication);
            if case.is_left_to_host(publication) && case.may_be_local_only(publication) {
                // The edge on its own delivers at once what it otherwise leaves to the host.
                continue;
            }
            let publisher = case.history.publications[publication].publisher;
            let last = last.entry((publisher, left)).or_insert(publication);
            if publication < *last {
                findings.report(
                    "P4",
                    format!(
                        "{} connection {number} got publication {publication} of connection \
                         {publisher} after {last}",
                        at(delivery.at),
                    ),
                );
            }
            *last = publication.max(*last);
        }
    }
}

/// Reports two subscribers that saw two publications in different orders, if the orders of all do not
/// fit into one.
fn report_circle(case: &Case<'_>, what: &str, all: &[Seen], findings: &mut Findings) {
    if !has_circle(case.history.publications.len(), all) {
        return;
    }
    let text = match disagreement(all) {
        Some((one, other, first, second)) => format!(
            "connections {one} and {other} saw publications {first} and {second} in different orders"
        ),
        None => "the orders that the subscribers saw do not fit into one".to_owned(),
    };
    findings.report("P4", format!("{what}, {text}"));
}

/// Whether the orders contradict each other, by removing again and again what nothing precedes.
fn has_circle(publications: usize, all: &[Seen]) -> bool {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); publications];
    let mut preceding = vec![0_usize; publications];
    for (_, order) in all {
        for pair in order.windows(2) {
            followers[pair[0]].push(pair[1]);
            preceding[pair[1]] += 1;
        }
    }
    let mut free: Vec<usize> = (0..publications)
        .filter(|each| preceding[*each] == 0)
        .collect();
    let mut removed = 0;
    while let Some(publication) = free.pop() {
        removed += 1;
        for follower in &followers[publication] {
            preceding[*follower] -= 1;
            if preceding[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    removed < publications
}

fn disagreement(all: &[Seen]) -> Option<(usize, usize, usize, usize)> {
    for (index, (one, order)) in all.iter().enumerate() {
        let places: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
        for (other, others) in &all[index..] {
            let common: Vec<usize> = others
                .iter()
                .copied()
                .filter(|each| places.contains_key(each))
                .collect();
            let turned = common
                .windows(2)
                .find(|pair| places.get(&pair[0]) > places.get(&pair[1]));
            if let Some(pair) = turned {
                return Some((*one, *other, pair[0], pair[1]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_fit_together_have_no_circle() {
        let all = [(0, vec![0, 2, 3]), (1, vec![1, 2]), (2, vec![0, 1, 3])];
        assert!(!has_circle(4, &all));
        assert_eq!(disagreement(&all), None);
    }

    #[test]
    fn a_circle_through_three_subscribers_is_found() {
        let all = [(0, vec![0, 1]), (1, vec![1, 2]), (2, vec![2, 0])];
        assert!(has_circle(3, &all));
    }

    #[test]
    fn two_subscribers_that_disagree_are_named() {
        let all = [(0, vec![0, 1, 2]), (7, vec![0, 2, 1])];
        assert!(has_circle(3, &all));
        assert_eq!(disagreement(&all), Some((0, 7, 2, 1)));
    }
}
