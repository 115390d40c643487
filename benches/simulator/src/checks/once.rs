//! P5, once: a publication is delivered once to each matching subscription of a connected client, once
//! for the channel and once per matching pattern; and to nobody else.
//!
//! Checked: no subscription got a publication twice; no delivery came through a name that the client
//! was not subscribed to at that time (before the confirmation, after the end of the subscription was
//! confirmed, or after the subscription was refused); every delivery matches its publication.

use std::collections::BTreeSet;

use goblin_protocol::time::Time;

use super::Case;
use super::holdings::Holding;
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (connection, publication, came) in &case.holdings.unasked {
        findings.report(
            "P5",
            format!(
                "{} connection {connection} got publication {publication} through a name that it \
                 never subscribed to",
                at(*came),
            ),
        );
    }
    for holding in &case.holdings.all {
        let mut got = BTreeSet::new();
        for (publication, came) in &holding.delivered {
            let problem = if !got.insert(*publication) {
                "twice"
            } else if !is_held_at(holding, *came) {
                "without a subscription"
            } else if !holding
                .name
                .matches(case.history.publications[*publication].name)
            {
                "although it does not match"
            } else {
                continue;
            };
            findings.report(
                "P5",
                format!(
                    "{} connection {} got publication {publication} {problem}, through {:?}",
                    at(*came),
                    holding.connection,
                    holding.name,
                ),
            );
        }
    }
}

/// Whether some subscription to the name was confirmed and had not ended.
fn is_held_at(holding: &Holding, time: Time) -> bool {
    holding.spans.iter().any(|span| {
        span.refused.is_none()
            && span.confirmed.is_some_and(|confirmed| confirmed <= time)
            && span.ended.is_none_or(|ended| ended >= time)
    })
}
