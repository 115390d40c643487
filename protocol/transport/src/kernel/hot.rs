//! Which connections a spinning pass reads from without asking whether they are readable.
//!
//! A read that finds nothing takes about 0.24 µs (measured on TCP over loopback), a check of all
//! connections that finds nothing 0.1 µs, and one that finds something 0.35 µs on top of the read.
//! With `n` hot connections bytes wait half a round of empty reads, `n` × 0.12 µs, until they are
//! read; with a check per pass they wait 0.05 + 0.35 µs. Up to three connections reading is
//! quicker, from five on checking is.
//!
//! A connection is hot for [`HOT_FOR`] after it brought bytes. When more than [`HOT_MAX`] are at
//! once, the set is *crowded* for as long: every pass checks, and nothing is read on suspicion.

use std::time::Duration;

use goblin_protocol::service::ConnectionId;
use goblin_protocol::time::Time;

/// Most hot connections.
pub(super) const HOT_MAX: usize = 4;

/// How long a connection stays hot: long against the pause between two messages of a conversation
/// and against a scheduler's hiccup, short enough that a set that was crowded recovers at once.
const HOT_FOR: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub(super) struct Hot {
    /// With the time at which each last brought bytes.
    members: Vec<(ConnectionId, Time)>,
    crowded_until: Option<Time>,
}

impl Hot {
    /// A connection brought bytes.
    pub(super) fn note(&mut self, id: ConnectionId, now: Time) {
        if self.crowded_until.is_some() {
            return;
        }
        if let Some(member) = self.members.iter_mut().find(|member| member.0 == id) {
            member.1 = now;
        } else if self.members.len() < HOT_MAX {
            self.members.push((id, now));
        } else {
            self.members.clear();
            self.crowded_until = Some(now + HOT_FOR);
        }
    }

    /// Forgets whom time has cooled.
    pub(super) fn expire(&mut self, now: Time) {
        self.members.retain(|member| now.since(member.1) < HOT_FOR);
        if self.crowded_until.is_some_and(|until| until <= now) {
            self.crowded_until = None;
        }
    }

    /// Forgets a connection that ended or is not to be read.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        self.members.retain(|member| member.0 != id);
    }

    /// Whether every pass should check.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowded_until.is_some()
    }

    /// The member at `position`.
    pub(super) fn member(&self, position: usize) -> Option<ConnectionId> {
        self.members.get(position).map(|member| member.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u32) -> ConnectionId {
        ConnectionId {
            index,
            generation: 0,
        }
    }

    #[test]
    fn a_connection_cools_down() {
        let mut hot = Hot::default();
        hot.note(id(1), Time::ZERO);
        hot.expire(Time::ZERO + HOT_FOR / 2);
        assert_eq!(hot.member(0), Some(id(1)));
        hot.expire(Time::ZERO + HOT_FOR);
        assert_eq!(hot.member(0), None);
    }

    #[test]
    fn one_too_many_makes_the_set_crowded_for_a_while() {
        let mut hot = Hot::default();
        for index in 0..=4 {
            assert!(!hot.is_crowded());
            hot.note(id(index), Time::ZERO);
        }
        assert!(hot.is_crowded());
        assert_eq!(hot.member(0), None);
        hot.expire(Time::ZERO + HOT_FOR);
        assert!(!hot.is_crowded());
    }

    #[test]
    fn the_same_connection_again_does_not_crowd() {
        let mut hot = Hot::default();
        for _ in 0..100 {
            hot.note(id(7), Time::ZERO);
        }
        assert!(!hot.is_crowded());
        assert_eq!(hot.member(1), None);
    }
}
