//! How long to wait before the next attempt to connect.

use std::time::Duration;

/// Waits between attempts, from 50 ms to 2 s, doubled each time; a random part of up to a half is taken
/// off, so that edges which lost the same host do not all come back at once.
#[derive(Clone, Debug)]
pub struct Backoff {
    random: u64,
    attempts: u32,
}

impl Backoff {
    /// The longest first wait.
    pub const FIRST: Duration = Duration::from_millis(50);
    /// The longest wait.
    pub const LAST: Duration = Duration::from_secs(2);

    /// A backoff whose random part follows from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            // The generator stays at zero if it starts there.
            random: seed | 1,
            attempts: 0,
        }
    }

    /// The wait before the next attempt.
    pub fn next_delay(&mut self) -> Duration {
        let longest = Self::FIRST
            .saturating_mul(1 << self.attempts.min(16))
            .min(Self::LAST);
        self.attempts = self.attempts.saturating_add(1);
        let half = u64::try_from(longest.as_nanos() / 2).unwrap_or(u64::MAX);
        longest - Duration::from_nanos(self.next_random() % (half + 1))
    }

    /// An attempt succeeded.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    /// Xorshift: good enough to spread attempts.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_start_again_after_a_success() {
        let mut backoff = Backoff::new(7);
        let mut longest = Backoff::FIRST;
        for _ in 0..100 {
            let wait = backoff.next_delay();
            assert!(longest / 2 <= wait && wait <= longest, "{wait:?}");
            longest = (longest * 2).min(Backoff::LAST);
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Backoff::FIRST);
    }

    #[test]
    fn two_seeds_wait_differently() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            std::array::from_fn::<_, 8, _>(|_| backoff.next_delay())
        };
        assert_ne!(waits(2), waits(1 << 40));
        assert_eq!(waits(2), waits(2));
    }
}
