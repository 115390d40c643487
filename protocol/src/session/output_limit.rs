//! The bound on what a client may leave unread: at once, and over time.

use std::time::Duration;

use crate::time::Time;

/// One class of `client-output-buffer-limit`. Zero means without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// More waiting bytes than this end the connection at once.
    pub hard_bytes: usize,
    /// More waiting bytes than this end it when they last longer than `soft_duration`.
    pub soft_bytes: usize,
    /// How long the soft limit may be exceeded without a pause.
    pub soft_duration: Duration,
}

impl OutputLimit {
    /// Redis's default for subscribers: 32 MiB at once, 8 MiB for a minute.
    pub const SUBSCRIBERS: Self = Self {
        hard_bytes: 32 * 1024 * 1024,
        soft_bytes: 8 * 1024 * 1024,
        soft_duration: Duration::from_secs(60),
    };

    /// Whether a client with `waiting` bytes has gone too far. `soft_since` is the client's own: when
    /// it went over the soft limit.
    pub fn exceeded(&self, now: Time, waiting: usize, soft_since: &mut Option<Time>) -> bool {
        if self.hard_bytes > 0 && waiting > self.hard_bytes {
            return true;
        }
        if self.soft_bytes == 0 || waiting <= self.soft_bytes {
            *soft_since = None;
            return false;
        }
        let since = *soft_since.get_or_insert(now);
        now.since(since) > self.soft_duration
    }

    /// The fewest waiting bytes that need a closer look; below it nothing can be exceeded.
    #[must_use]
    pub fn watch_from(&self) -> usize {
        match (self.hard_bytes, self.soft_bytes) {
            (0, 0) => usize::MAX,
            (0, bytes) | (bytes, 0) => bytes,
            (hard, soft) => hard.min(soft),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: OutputLimit = OutputLimit {
        hard_bytes: 100,
        soft_bytes: 10,
        soft_duration: Duration::from_secs(5),
    };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn the_hard_limit_acts_at_once() {
        let mut since = None;
        assert!(!LIMIT.exceeded(at(0), 100, &mut since));
        assert!(LIMIT.exceeded(at(0), 101, &mut since));
    }

    #[test]
    fn the_soft_limit_acts_when_it_lasts() {
        let mut since = None;
        assert!(!LIMIT.exceeded(at(0), 11, &mut since));
        assert!(!LIMIT.exceeded(at(5), 11, &mut since));
        assert!(LIMIT.exceeded(at(6), 11, &mut since));
    }

    #[test]
    fn a_pause_starts_the_soft_limit_anew() {
        let mut since = None;
        assert!(!LIMIT.exceeded(at(0), 11, &mut since));
        assert!(!LIMIT.exceeded(at(4), 10, &mut since));
        assert!(!LIMIT.exceeded(at(6), 11, &mut since));
        assert!(!LIMIT.exceeded(at(11), 11, &mut since));
        assert!(LIMIT.exceeded(at(12), 11, &mut since));
    }

    #[test]
    fn zero_is_without_limit() {
        let none = OutputLimit::default();
        let mut since = None;
        assert!(!none.exceeded(at(9), usize::MAX, &mut since));
        assert_eq!(none.watch_from(), usize::MAX);
        assert_eq!(LIMIT.watch_from(), 10);
    }
}
