//! Chance from a seed, for all that the network does not decide itself.
//!
//! Each purpose has a stream of its own, so that a change in one (another operation, another fault)
//! leaves the others as they were.

use std::time::Duration;

/// A stream of numbers: a counter that steps by an odd constant, each value mixed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream that is independent of this one's further numbers.
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high.saturating_sub(low) + 1)
    }

    /// An index below `count`, which must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.number() % count.max(1) as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of the items; none of none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = self.below(items.len());
        items.get(index).copied()
    }

    /// Milliseconds, from `low` to `high`.
    pub fn milliseconds(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_micros(self.between(low * 1000, high * 1000))
    }

    /// Fills a buffer.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.number().to_le_bytes();
            for (byte, random) in chunk.iter_mut().zip(number) {
                *byte = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_does_not_repeat_its_origin() {
        let mut origin = Random::new(3);
        let mut fork = origin.fork();
        let numbers: Vec<u64> = (0..100).map(|_| origin.number()).collect();
        assert!((0..100).all(|_| !numbers.contains(&fork.number())));
    }

    #[test]
    fn bounds_are_reached_and_kept() {
        let mut random = Random::new(1);
        let numbers: Vec<u64> = (0..1000).map(|_| random.between(5, 9)).collect();
        assert!((5..=9).all(|wanted| numbers.contains(&wanted)));
        assert!(numbers.iter().all(|number| (5..=9).contains(number)));
    }
}
