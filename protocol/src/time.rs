//! Time as the cores see it: handed in, never read.

use std::ops::Add;
use std::time::Duration;

/// A point on a monotonic clock, in nanoseconds since an arbitrary start that all points of one
/// process share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);

    /// The point `nanoseconds` after the start of the clock.
    #[must_use]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the start of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; zero when it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    #[inline]
    fn add(self, duration: Duration) -> Self {
        let whole = duration.as_secs().saturating_mul(1_000_000_000);
        let nanoseconds = whole.saturating_add(u64::from(duration.subsec_nanos()));
        Self(self.0.saturating_add(nanoseconds))
    }
}

/// What every `handle_*` call is told about time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// For deadlines, ages and latencies.
    pub monotonic: Time,
    /// Microseconds since 1970-01-01 UTC, for what users see: `TIME`, `EXPIREAT`.
    pub unix_us: u64,
}

impl Now {
    /// Milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        self.unix_us / 1_000
    }
}

/// Lets something through once in a while and counts what it held back: for log lines that a peer
/// can cause.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occasionally {
    next: Time,
    held_back: u64,
}

impl Occasionally {
    /// The shortest time between two that are let through.
    pub const INTERVAL: Duration = Duration::from_secs(1);

    /// Whether to let this one through, and how many were held back since the last.
    pub fn pass(&mut self, now: Now) -> Option<u64> {
        if now.monotonic < self.next {
            self.held_back += 1;
            return None;
        }
        self.next = now.monotonic + Self::INTERVAL;
        Some(std::mem::take(&mut self.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_while_passes_and_the_rest_is_counted() {
        let at = |milliseconds: u64| Now {
            monotonic: Time::ZERO + Duration::from_millis(milliseconds),
            unix_us: 0,
        };
        let mut gate = Occasionally::default();
        assert_eq!(gate.pass(at(0)), Some(0));
        assert_eq!(gate.pass(at(10)), None);
        assert_eq!(gate.pass(at(999)), None);
        assert_eq!(gate.pass(at(1_000)), Some(2));
        assert_eq!(gate.pass(at(2_500)), Some(0));
    }
}
