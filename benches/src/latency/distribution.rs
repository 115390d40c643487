//! The distribution of what was sampled, all of it: anomalies stay in, nothing is averaged or merged.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Three significant digits.
const DIGITS: u8 = 3;
/// What takes longer counts as this long: more than any wait for an answer.
const LONGEST_NS: u64 = 60_000_000_000;

/// Latencies, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Distribution(Histogram<u64>);

impl Distribution {
    pub(super) fn new() -> Self {
        Self(Histogram::new_with_max(LONGEST_NS, DIGITS).expect("these bounds are allowed"))
    }

    pub(super) fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(nanoseconds);
    }

    /// The latency that so many per cent of the samples do not exceed, in nanoseconds.
    pub(super) fn percentile(&self, per_cent: f64) -> u64 {
        self.0.value_at_percentile(per_cent)
    }

    /// The heading above lines of distributions, after a column for names.
    pub(super) fn heading() -> String {
        let mut line = String::new();
        for name in [
            "min", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max", "mean",
        ] {
            line.push_str(&format!("{name:>9}"));
        }
        line + &format!("{:>10}{:>10}", "ops/s", "samples")
    }
}

/// In microseconds, but for the operations one after the other that a second has, and the number of
/// samples.
impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1e3;
        write!(f, "{:>9.2}", microseconds(self.0.min()))?;
        for per_cent in [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
            write!(f, "{:>9.2}", microseconds(self.percentile(per_cent)))?;
        }
        let mean = self.0.mean();
        let per_second = if mean > 0.0 { 1e9 / mean } else { 0.0 };
        write!(f, "{:>9.2}{:>9.2}", microseconds(self.0.max()), mean / 1e3)?;
        write!(f, "{per_second:>10.0}{:>10}", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_was_recorded() {
        let mut distribution = Distribution::new();
        for microseconds in 1..=1_000 {
            distribution.record(Duration::from_micros(microseconds));
        }
        for (per_cent, expected) in [(50.0, 500_000.0), (99.0, 990_000.0), (99.9, 999_000.0)] {
            let got = distribution.percentile(per_cent) as f64;
            assert!(
                (got - expected).abs() / expected < 0.002,
                "{per_cent}: {got}"
            );
        }
    }
}
