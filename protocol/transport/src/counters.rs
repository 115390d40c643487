//! What is counted while turning. Plain integers of one thread, readable between turns.

/// What a transport counts: bytes, and every system call it makes once a connection exists, so
/// that a test can hold it to the number it promises. A transport without system calls counts the
/// calls that take their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCounters {
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Bytes that connections took.
    pub bytes_out: u64,
    /// Reads that brought bytes.
    pub reads: u64,
    /// Reads that found nothing.
    pub reads_empty: u64,
    /// Reads that told of an end or an error.
    pub reads_ended: u64,
    /// Writes that were tried.
    pub writes: u64,
    /// Writes that took less than was offered.
    pub writes_short: u64,
    /// Calls of accept, whatever came of them.
    pub accept_calls: u64,
    /// Connections accepted and told.
    pub accepts: u64,
    /// Connections closed at once because the process has no descriptor for them.
    pub accepts_refused: u64,
    /// Dials started.
    pub dials: u64,
    /// Questions for readiness that do not sleep.
    pub readiness_checks: u64,
    /// Questions for readiness that may sleep.
    pub sleeps: u64,
    /// Changes of what readiness is asked for.
    pub interest_changes: u64,
}

/// What a turn counts, and what its transport counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Turns taken.
    pub turns: u64,
    /// Turns in which something happened.
    pub turns_busy: u64,
    /// The longest turn, in nanoseconds.
    pub longest_turn_ns: u64,
    /// The longest that a due call of the core waited, in nanoseconds: from the start of one turn
    /// to the start of the next, or from the deadline that should have ended a sleep to the turn
    /// after it.
    pub longest_gap_ns: u64,
    /// The transport's share.
    pub transport: TransportCounters,
}
