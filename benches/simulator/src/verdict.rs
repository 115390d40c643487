//! What a run comes to.

use std::fmt;

use crate::checks;
use crate::history::History;
use crate::plan::Plan;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which: `P1` to `P7`.
    pub promise: &'static str,
    /// How.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken: {}", self.promise, self.text)
    }
}

/// A run and its judgement.
#[derive(Debug)]
pub struct Outcome {
    /// What was planned.
    pub plan: Plan,
    /// What happened.
    pub history: History,
    /// What should not have.
    pub violations: Vec<Violation>,
    /// How much was checked.
    pub counts: Counts,
}

/// How often each checker had something to check: a checker that never has is no checker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Deliveries held against the link's state (P1).
    pub local_deliveries: u64,
    /// Those of them that were made while the link stood still.
    pub local_deliveries_in_trouble: u64,
    /// Replies to publications held against the subscriptions of everybody (P2).
    pub counted_replies: u64,
    /// Deliveries that had to come (P3).
    pub required_deliveries: u64,
    /// Pairs of deliveries in a row (P4).
    pub ordered_deliveries: u64,
    /// Values read after being told of them (P4).
    pub values_read: u64,
    /// Sessions lost, each a gap (P5).
    pub gaps: u64,
    /// Troubles that a session outlived (P5).
    pub resumes: u64,
    /// Commands answered (P6).
    pub answers: u64,
    /// Publications refused (P6).
    pub refused_publications: u64,
    /// Clients that did not read and had to be closed (P7).
    pub slow_clients: u64,
}

impl Counts {
    /// The counts by name, for a table.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 11] {
        [
            ("P1 local deliveries", self.local_deliveries),
            (
                "P1 while the link stood still",
                self.local_deliveries_in_trouble,
            ),
            ("P2 replies counted", self.counted_replies),
            ("P3 deliveries required", self.required_deliveries),
            ("P4 deliveries in order", self.ordered_deliveries),
            ("P4 values read as told", self.values_read),
            ("P5 gaps seen", self.gaps),
            ("P5 troubles outlived", self.resumes),
            ("P6 commands answered", self.answers),
            ("P6 publications refused", self.refused_publications),
            ("P7 slow clients closed", self.slow_clients),
        ]
    }

    /// Adds another run's.
    pub fn add(&mut self, other: &Self) {
        self.local_deliveries += other.local_deliveries;
        self.local_deliveries_in_trouble += other.local_deliveries_in_trouble;
        self.counted_replies += other.counted_replies;
        self.required_deliveries += other.required_deliveries;
        self.ordered_deliveries += other.ordered_deliveries;
        self.values_read += other.values_read;
        self.gaps += other.gaps;
        self.resumes += other.resumes;
        self.answers += other.answers;
        self.refused_publications += other.refused_publications;
        self.slow_clients += other.slow_clients;
    }
}

/// What the checkers write into.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<Violation>,
    pub(crate) counts: Counts,
}

impl Findings {
    pub(crate) fn report(&mut self, promise: &'static str, text: String) {
        self.violations.push(Violation { promise, text });
    }
}

/// Holds a history against every promise.
pub(crate) fn judge(plan: Plan, history: History) -> Outcome {
    let mut findings = Findings::default();
    for oddity in &history.oddities {
        let at = at(oddity.at);
        findings.report(oddity.promise, format!("{at} {}", oddity.text));
    }
    checks::all(&plan, &history, &mut findings);
    Outcome {
        plan,
        history,
        violations: findings.violations,
        counts: findings.counts,
    }
}

/// A time for a reader.
pub(crate) fn at(time: goblin_protocol::time::Time) -> String {
    let microseconds = time.as_nanos() / 1000;
    format!("[{:>5}.{:03} ms]", microseconds / 1000, microseconds % 1000)
}
