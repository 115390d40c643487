//! One direction of a connection: bytes on the way, bytes that arrived, and the end.

use std::collections::VecDeque;

use goblin_protocol::service::Closed;
use goblin_protocol::time::Time;

/// Bytes enter at one end with the time at which they arrive at the other. Arrival times never
/// decrease from front to back, and the end, once known, arrives after all bytes.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    segments: VecDeque<Segment>,
    /// Bytes in all segments.
    bytes: usize,
    /// Arrival of the newest segment.
    last: Time,
    end: Option<(Time, Closed)>,
    stalled_until: Time,
}

#[derive(Debug)]
struct Segment {
    arrives: Time,
    bytes: Vec<u8>,
    /// Bytes that were taken from its front.
    taken: usize,
}

impl Pipe {
    /// Nothing arrives before `time`.
    pub(super) fn opening_at(time: Time) -> Self {
        Self {
            last: time,
            ..Self::default()
        }
    }

    /// Bytes that are in the pipe.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, arrives: Time, bytes: &[u8]) {
        self.last = self.last.max(arrives);
        self.bytes += bytes.len();
        self.segments.push_back(Segment {
            arrives: self.last,
            bytes: bytes.to_vec(),
            taken: 0,
        });
    }

    /// Takes at most `limit` bytes of those that have arrived.
    pub(super) fn take(&mut self, now: Time, limit: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(segment) = self.segments.front_mut() {
            let rest = segment.bytes.get(segment.taken..).unwrap_or(&[]);
            let part = rest.get(..limit - taken.len()).unwrap_or(rest);
            if segment.arrives > now || self.stalled_until > now || part.is_empty() {
                break;
            }
            taken.extend_from_slice(part);
            segment.taken += part.len();
            if segment.taken == segment.bytes.len() {
                self.segments.pop_front();
            }
        }
        self.bytes -= taken.len();
        taken
    }

    /// Whether `take` would take anything.
    pub(super) fn has_arrived(&self, now: Time) -> bool {
        self.stalled_until <= now
            && self
                .segments
                .front()
                .is_some_and(|first| first.arrives <= now)
    }

    /// The peer closes: the end follows the bytes.
    pub(super) fn finish(&mut self, arrives: Time, why: Closed) {
        self.last = self.last.max(arrives);
        self.end.get_or_insert((self.last, why));
    }

    /// The connection breaks: `kept` bytes still arrive, then the end, at `noticed` or later, also
    /// if the pipe is stalled: it is the receiver's own side that gives up.
    pub(super) fn cut(&mut self, kept: usize, noticed: Time, why: Closed) {
        let mut left = kept;
        for segment in &mut self.segments {
            let unread = segment.bytes.len() - segment.taken;
            segment.bytes.truncate(segment.taken + unread.min(left));
            left -= unread.min(left);
        }
        self.segments
            .retain(|segment| segment.taken < segment.bytes.len());
        self.bytes = kept.min(self.bytes);
        let last = self.segments.back().map_or(Time::ZERO, |last| last.arrives);
        self.stalled_until = self.stalled_until.min(noticed);
        self.end = Some((noticed.max(last), why));
    }

    /// The reason of the end, once it has arrived and nothing is left to take.
    pub(super) fn ended(&self, now: Time) -> Option<Closed> {
        let (arrives, why) = self.end?;
        let over = self.bytes == 0 && arrives <= now && self.stalled_until <= now;
        over.then_some(why)
    }

    /// Whether the connection will never open.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.end, Some((_, Closed::Unreachable(_))))
    }

    /// Whether the connection ends, known to the other side or not yet.
    pub(super) fn is_ending(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn stall(&mut self, until: Time) {
        self.stalled_until = self.stalled_until.max(until);
    }

    /// The next time after `now` at which something arrives.
    pub(super) fn next_event(&self, now: Time) -> Option<Time> {
        let arrivals = self.segments.iter().map(|segment| segment.arrives);
        let arrivals = arrivals.chain(self.end.map(|end| end.0));
        arrivals
            .map(|arrives| arrives.max(self.stalled_until))
            .find(|arrives| *arrives > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanoseconds: u64) -> Time {
        Time::from_nanos(nanoseconds)
    }

    #[test]
    fn later_bytes_never_overtake_earlier_ones() {
        let mut pipe = Pipe::default();
        pipe.push(at(10), b"ab");
        pipe.push(at(5), b"cd");
        assert!(pipe.take(at(9), 10).is_empty());
        assert_eq!(pipe.take(at(10), 3), b"abc");
        assert_eq!(pipe.take(at(10), 3), b"d");
    }

    #[test]
    fn the_end_waits_for_the_bytes() {
        let mut pipe = Pipe::default();
        pipe.push(at(10), b"ab");
        pipe.finish(at(1), Closed::ByPeer);
        assert_eq!(pipe.ended(at(10)), None);
        assert_eq!(pipe.take(at(10), 10), b"ab");
        assert_eq!(pipe.ended(at(10)), Some(Closed::ByPeer));
    }

    #[test]
    fn a_cut_keeps_a_prefix_of_what_is_unread() {
        let mut pipe = Pipe::default();
        pipe.push(at(0), b"abc");
        pipe.push(at(0), b"def");
        assert_eq!(pipe.take(at(0), 1), b"a");
        pipe.cut(3, at(7), Closed::Failed(104));
        assert_eq!(pipe.take(at(0), 10), b"bcd");
        assert_eq!(pipe.bytes(), 0);
        assert_eq!(pipe.ended(at(6)), None);
        assert_eq!(pipe.ended(at(7)), Some(Closed::Failed(104)));
    }

    #[test]
    fn a_stall_delays_bytes_and_end() {
        let mut pipe = Pipe::default();
        pipe.push(at(1), b"a");
        pipe.finish(at(2), Closed::ByPeer);
        pipe.stall(at(50));
        assert!(!pipe.has_arrived(at(49)));
        assert_eq!(pipe.next_event(at(3)), Some(at(50)));
        assert_eq!(pipe.take(at(50), 9), b"a");
        assert_eq!(pipe.ended(at(50)), Some(Closed::ByPeer));
    }
}
