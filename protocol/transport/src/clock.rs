//! Time as a process under a real transport has it.
//!
//! The monotonic clock is read once per turn. The wall clock is the monotonic one plus a distance
//! that is measured anew every [`WALL_CLOCK_EVERY`], so a clock that is set or slewed shows within
//! that time and a turn pays for one reading, not two.

use std::time::Duration;

use goblin_protocol::time::{Now, Time};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// How old the distance between the two clocks may be.
const WALL_CLOCK_EVERY: Duration = Duration::from_millis(100);

/// Reads the clocks of the operating system.
#[derive(Debug)]
pub struct Clock {
    /// Unix time less monotonic time, in microseconds.
    distance_us: u64,
    measured: Time,
}

impl Clock {
    /// A clock that is right from the start.
    #[must_use]
    pub fn new() -> Self {
        let measured = monotonic();
        Self {
            distance_us: distance_us(measured),
            measured,
        }
    }

    /// The time now.
    pub fn now(&mut self) -> Now {
        let monotonic = monotonic();
        if monotonic.since(self.measured) >= WALL_CLOCK_EVERY {
            self.measured = monotonic;
            self.distance_us = distance_us(monotonic);
        }
        Now {
            monotonic,
            unix_us: self.distance_us.wrapping_add(monotonic.as_nanos() / 1_000),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

fn monotonic() -> Time {
    Time::from_nanos(nanoseconds(clock_gettime(ClockId::Monotonic)))
}

fn distance_us(monotonic: Time) -> u64 {
    let unix_us = nanoseconds(clock_gettime(ClockId::Realtime)) / 1_000;
    unix_us.wrapping_sub(monotonic.as_nanos() / 1_000)
}

/// Nanoseconds of a point at or after the clock's start; zero before it.
fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn time_does_not_run_backwards() {
        let mut clock = Clock::new();
        let first = clock.now();
        let second = clock.now();
        assert!(second.monotonic >= first.monotonic);
        assert!(second.unix_us >= first.unix_us);
    }

    #[test]
    fn the_wall_clock_agrees_with_the_system() {
        let mut clock = Clock::new();
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = clock.now();
        let difference = u128::from(now.unix_us).abs_diff(before.as_micros());
        assert!(difference < 1_000_000, "{difference} us apart");
    }
}
