//! A connection's output that the transport has not taken yet.
//!
//! Encoded bytes are appended to one contiguous buffer. Large payloads that many connections
//! receive are not copied into it: the outbox holds a reference and the position at which they
//! belong.
//!
//! ```text
//!   encoded   |--sent--|----------|-----|-----------|   tail() appends here
//!                                 ^     ^
//!   shared                     payload  payload
//! ```
//!
//! Invariants: `sent <= encoded.len()`; the positions of the payloads do not decrease and none lies
//! before `sent`; no payload is empty. Positions count all bytes ever encoded, so that moving the
//! buffer's content to its front changes none of them.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

use crate::limits::IDLE_BUFFER_BYTES_MAX;

/// Shared payloads whose bookkeeping an emptied outbox keeps room for.
const SHARED_KEPT_MAX: usize = IDLE_BUFFER_BYTES_MAX / size_of::<Shared>();

/// Waiting output in its order: a queue of bytes.
///
/// Every operation takes amortised constant time, beside copying what is appended. Emptied, it
/// keeps at most [`IDLE_BUFFER_BYTES_MAX`] for the next burst.
#[derive(Debug, Default)]
pub struct Outbox {
    encoded: Vec<u8>,
    /// Bytes at the front of `encoded` that were consumed.
    sent: usize,
    /// Position of the first byte of `encoded`.
    base: u64,
    shared: VecDeque<Shared>,
    /// Sum of the lengths in `shared`.
    shared_bytes: usize,
}

/// A payload that stands before the encoded byte at `position`.
#[derive(Debug)]
struct Shared {
    position: u64,
    payload: Bytes,
}

impl Outbox {
    /// An empty outbox, without heap memory.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            encoded: Vec::new(),
            sent: 0,
            base: 0,
            shared: VecDeque::new(),
            shared_bytes: 0,
        }
    }

    /// Bytes waiting, those of shared payloads included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.encoded.len().saturating_sub(self.sent) + self.shared_bytes
    }

    /// Bytes waiting, and perhaps some that were sent and whose place is not free yet: what is quick to
    /// know, and never less than [`len`](Self::len).
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.encoded.len() + self.shared_bytes
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where to append encoded bytes. What it holds already belongs to the outbox: callers only
    /// append.
    pub const fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.encoded
    }

    /// Appends `payload` without copying it.
    pub fn push_shared(&mut self, payload: Bytes) {
        if payload.is_empty() {
            return;
        }
        self.shared_bytes += payload.len();
        let position = self.base + self.encoded.len() as u64;
        self.shared.push_back(Shared { position, payload });
    }

    /// Sets `slices` to the waiting bytes from the first on, as far as they go, and returns how many
    /// of them were set. None that was set is empty.
    #[inline]
    pub fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        if !self.shared.is_empty() {
            return self.fill_slices_with_shared(slices);
        }
        match (self.encoded.get(self.sent..), slices.first_mut()) {
            (Some(waiting @ [_, ..]), Some(slice)) => {
                *slice = IoSlice::new(waiting);
                1
            }
            _ => 0,
        }
    }

    #[inline(never)]
    fn fill_slices_with_shared<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut start = self.sent;
        let mut payloads = self.shared.iter();
        let mut payload = payloads.next();
        let mut filled = 0;
        while let Some(slice) = slices.get_mut(filled) {
            let end = payload.map_or(self.encoded.len(), |next| self.index(next.position));
            if start < end {
                *slice = IoSlice::new(self.encoded.get(start..end).unwrap_or_default());
                start = end;
            } else if let Some(next) = payload {
                *slice = IoSlice::new(&next.payload);
                payload = payloads.next();
            } else {
                break;
            }
            filled += 1;
        }
        filled
    }

    /// Removes the first `count` bytes, which the transport has taken; all when there are fewer.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        let is_all = self.encoded.len() - self.sent <= count && self.shared.is_empty();
        if is_all && self.encoded.capacity() <= IDLE_BUFFER_BYTES_MAX && !self.keeps_too_much() {
            self.base += self.encoded.len() as u64;
            self.encoded.clear();
            self.sent = 0;
        } else {
            self.consume_part(count);
        }
    }

    #[inline(never)]
    fn consume_part(&mut self, count: usize) {
        let mut left = count.min(self.len());
        while left > 0 {
            let end = self
                .front_position()
                .map_or(self.encoded.len(), |at| self.index(at));
            let run = end.saturating_sub(self.sent);
            if run > 0 {
                let taken = left.min(run);
                self.sent += taken;
                left -= taken;
            } else {
                left -= self.consume_shared(left);
            }
        }
        self.settle();
    }

    /// Moves everything that waits in `other` behind what waits here.
    pub fn append(&mut self, other: &mut Self) {
        let mut slices = [IoSlice::new(&[]); 1];
        while other.fill_slices(&mut slices) > 0 {
            let length = slices[0].len();
            if other.front_position().map(|at| other.index(at)) == Some(other.sent) {
                if let Some(front) = other.shared.front() {
                    self.push_shared(front.payload.clone());
                }
            } else {
                self.encoded.extend_from_slice(&slices[0]);
            }
            slices = [IoSlice::new(&[]); 1];
            other.consume(length);
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.consume(usize::MAX);
    }

    /// Whether there is more room for bookkeeping than an emptied outbox may keep.
    fn keeps_too_much(&self) -> bool {
        self.shared.is_empty() && self.shared.capacity() > SHARED_KEPT_MAX
    }

    fn front_position(&self) -> Option<u64> {
        self.shared.front().map(|shared| shared.position)
    }

    /// Where in `encoded` the byte at `position` lies.
    const fn index(&self, position: u64) -> usize {
        (position - self.base) as usize
    }

    /// Takes up to `count` bytes of the payload at the front; how many.
    fn consume_shared(&mut self, count: usize) -> usize {
        let Some(front) = self.shared.front_mut() else {
            return count;
        };
        let taken = count.min(front.payload.len());
        front.payload.advance(taken);
        if front.payload.is_empty() {
            self.shared.pop_front();
        }
        self.shared_bytes -= taken;
        taken
    }

    /// Moves the waiting bytes to the front when at least as many before them were sent, and gives
    /// back memory that they do not need.
    fn settle(&mut self) {
        let waiting = self.encoded.len() - self.sent;
        if self.sent < waiting {
            return;
        }
        self.base += self.sent as u64;
        if waiting == 0 {
            self.encoded.clear();
        } else {
            self.encoded.drain(..self.sent);
        }
        self.sent = 0;
        let capacity = self.encoded.capacity();
        if capacity > IDLE_BUFFER_BYTES_MAX && capacity / 4 > waiting {
            self.encoded
                .shrink_to(IDLE_BUFFER_BYTES_MAX.max(waiting * 2));
        }
        if self.keeps_too_much() {
            self.shared.shrink_to(SHARED_KEPT_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Everything that waits, through as many slices as it takes.
    fn content(outbox: &Outbox) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = outbox.fill_slices(&mut slices);
        assert!(filled < slices.len(), "the test needs more slices");
        assert!(slices[..filled].iter().all(|slice| !slice.is_empty()));
        slices[..filled]
            .iter()
            .flat_map(|slice| slice.iter().copied())
            .collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Append(Vec<u8>),
        Share(Vec<u8>),
        Consume(usize),
        Clear,
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Append),
            2 => prop::collection::vec(any::<u8>(), 0..60).prop_map(Step::Share),
            4 => (0_usize..80).prop_map(Step::Consume),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn an_outbox_is_a_queue_of_bytes(steps in prop::collection::vec(any_step(), 0..60)) {
            let mut outbox = Outbox::new();
            let mut expected = Vec::new();
            for step in steps {
                match step {
                    Step::Append(bytes) => {
                        outbox.tail().extend_from_slice(&bytes);
                        expected.extend_from_slice(&bytes);
                    }
                    Step::Share(bytes) => {
                        expected.extend_from_slice(&bytes);
                        outbox.push_shared(Bytes::from(bytes));
                    }
                    Step::Consume(count) => {
                        outbox.consume(count);
                        expected.drain(..count.min(expected.len()));
                    }
                    Step::Clear => {
                        outbox.clear();
                        expected.clear();
                    }
                }
                prop_assert_eq!(outbox.len(), expected.len());
                prop_assert_eq!(outbox.is_empty(), expected.is_empty());
                prop_assert_eq!(&content(&outbox), &expected);
            }
        }
    }

    #[test]
    fn few_slices_show_the_beginning() {
        let mut outbox = Outbox::new();
        outbox.tail().extend_from_slice(b"head");
        outbox.push_shared(Bytes::from_static(b"first"));
        outbox.push_shared(Bytes::from_static(b"second"));
        outbox.tail().extend_from_slice(b"tail");
        outbox.consume(2);
        let mut slices = [IoSlice::new(&[]); 3];
        assert_eq!(outbox.fill_slices(&mut slices), 3);
        assert_eq!(
            slices.map(|slice| slice.to_vec()),
            [&b"ad"[..], b"first", b"second"]
        );
        assert_eq!(outbox.fill_slices(&mut []), 0);
    }

    #[test]
    fn a_shared_payload_is_not_copied_and_let_go_when_sent() {
        let payload = Bytes::from(vec![b'x'; 100_000]);
        let mut outbox = Outbox::new();
        outbox.push_shared(payload.clone());
        let mut slices = [IoSlice::new(&[])];
        assert_eq!(outbox.fill_slices(&mut slices), 1);
        assert_eq!(slices[0].as_ptr(), payload.as_ptr());
        assert_eq!((outbox.encoded.capacity(), payload.is_unique()), (0, false));
        outbox.consume(99_999);
        assert_eq!((outbox.len(), payload.is_unique()), (1, false));
        outbox.consume(1);
        assert_eq!((outbox.len(), payload.is_unique()), (0, true));
    }

    #[test]
    fn bursts_below_the_kept_size_reuse_one_buffer() {
        let mut outbox = Outbox::new();
        let burst = vec![b'x'; IDLE_BUFFER_BYTES_MAX];
        outbox.tail().extend_from_slice(&burst);
        let buffer = outbox.encoded.as_ptr();
        for _ in 0..100 {
            outbox.consume(40_000);
            outbox.consume(usize::MAX);
            outbox.tail().extend_from_slice(&burst);
            assert_eq!(outbox.encoded.as_ptr(), buffer);
        }
    }

    #[test]
    fn an_emptied_outbox_gives_memory_back() {
        let mut outbox = Outbox::new();
        outbox.tail().resize(10_000_000, b'x');
        for _ in 0..100_000 {
            outbox.push_shared(Bytes::from_static(b"y"));
        }
        outbox.consume(9_999_900);
        assert!(
            outbox.encoded.capacity() <= IDLE_BUFFER_BYTES_MAX,
            "already while little waits"
        );
        outbox.consume(100_100);
        assert!(outbox.is_empty());
        assert!(outbox.encoded.capacity() <= IDLE_BUFFER_BYTES_MAX);
        assert!(outbox.shared.capacity() <= SHARED_KEPT_MAX);
    }

    #[test]
    fn a_backlog_is_not_moved_for_each_part_that_is_sent() {
        let mut outbox = Outbox::new();
        outbox.tail().resize(1_000_000, b'x');
        for sent in 1..500 {
            outbox.consume(1000);
            assert_eq!((outbox.sent, outbox.base), (sent * 1000, 0));
        }
        outbox.consume(1000);
        assert_eq!(
            (outbox.sent, outbox.base, outbox.len()),
            (0, 500_000, 500_000)
        );
    }

    #[test]
    fn a_reader_always_a_little_behind_costs_constant_memory() {
        let mut outbox = Outbox::new();
        outbox.tail().extend_from_slice(&[b'x'; 500]);
        for _ in 0..10_000 {
            outbox.tail().extend_from_slice(&[b'x'; 1000]);
            outbox.consume(1000);
        }
        assert_eq!(outbox.len(), 500);
        assert!(outbox.encoded.capacity() <= 4096);
    }

    #[test]
    fn append_moves_encoded_bytes_and_shared_payloads_in_order() {
        let (mut into, mut from) = (Outbox::new(), Outbox::new());
        into.tail().extend_from_slice(b"a");
        from.tail().extend_from_slice(b"xb");
        from.push_shared(Bytes::from_static(b"cd"));
        from.tail().extend_from_slice(b"e");
        from.push_shared(Bytes::from_static(b"f"));
        from.consume(1);
        into.append(&mut from);
        assert!(from.is_empty());
        assert_eq!(into.len(), 6);
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = into.fill_slices(&mut slices);
        let bytes: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
        assert_eq!(bytes, b"abcdef");
    }
}
