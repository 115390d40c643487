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

    fn add(self, duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
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
