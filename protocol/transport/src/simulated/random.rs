//! Chance from a seed: a counter that steps by an odd constant, each value mixed until no bit tells
//! of its neighbours (SplitMix64).

use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) struct Random {
    counter: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { counter: seed }
    }

    fn next(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.counter;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` inclusive.
    pub(super) fn up_to(&mut self, bound: u64) -> u64 {
        match bound.checked_add(1) {
            Some(count) => self.next() % count,
            None => self.next(),
        }
    }

    /// A size from 1 to `bound` inclusive, each order of magnitude as likely as the others.
    pub(super) fn size(&mut self, bound: usize) -> usize {
        let magnitude = self.up_to(u64::from(bound.max(1).ilog2()));
        let most = 2_u64 << magnitude;
        let size = 1 + self.up_to(most - 1);
        usize::try_from(size)
            .unwrap_or(bound)
            .clamp(1, bound.max(1))
    }

    pub(super) fn one_in(&mut self, count: u64) -> bool {
        self.up_to(count.saturating_sub(1)) == 0
    }

    pub(super) fn duration(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let range = longest.saturating_sub(shortest).as_nanos();
        let range = u64::try_from(range).unwrap_or(u64::MAX);
        shortest + Duration::from_nanos(self.up_to(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_reach_both_ends_and_nothing_beyond() {
        let mut random = Random::new(1);
        let sizes: Vec<_> = (0..10_000).map(|_| random.size(1000)).collect();
        assert!(sizes.iter().all(|size| (1..=1000).contains(size)));
        assert!(sizes.contains(&1));
        assert!(sizes.iter().any(|size| *size > 900));
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut one = Random::new(5);
        let mut other = Random::new(5);
        assert!((0..100).all(|_| one.up_to(u64::MAX) == other.up_to(u64::MAX)));
    }
}
