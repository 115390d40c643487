//! The frames that the peer has not acknowledged.
//!
//! A frame is written once, into a ring of bytes; it is sent from there, again if need be, and stays
//! until it is acknowledged.
//!
//! ```text
//!   0          back              front.start        front.end        capacity
//!   |  newest  |      free       | oldest  ...      |  free/unused   |
//! ```
//!
//! A frame lies in one piece: one that does not fit behind `front` starts again at 0, and what is
//! then unused at the end is shorter than one frame. So a capacity of the limit and two longest
//! frames always has a piece for one more frame as long as the limit is kept.
//!
//! * `back > 0` only while the ring is wrapped, and then `back <= front.start`.
//! * `sent <= len`: bytes handed to the transport, counted from the oldest frame.
//! * The ring grows by doubling and keeps its size: a steady state allocates nothing.

use std::io::IoSlice;
use std::ops::Range;

use crate::link::frame::{FRAME_BYTES_MAX, written_length, written_sequence};

/// First capacity of a ring, in bytes.
const CAPACITY_FIRST: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Window {
    buffer: Vec<u8>,
    front: Range<usize>,
    back: usize,
    sent: usize,
    limit: usize,
}

impl Window {
    /// An empty window for `limit` bytes.
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            front: 0..0,
            back: 0,
            sent: 0,
            limit,
        }
    }

    /// Bytes kept.
    pub(super) fn len(&self) -> usize {
        self.front.len() + self.back
    }

    /// Bytes not handed to the transport yet.
    pub(super) fn unsent(&self) -> usize {
        self.len() - self.sent
    }

    /// Whether a frame of `length` bytes keeps the limit.
    pub(super) fn fits(&self, length: usize) -> bool {
        self.len() + length <= self.limit
    }

    /// Whether a frame of `length` bytes that is sent in spite of the limit still has its place.
    pub(super) fn fits_beyond_limit(&self, length: usize) -> bool {
        self.len() + length <= self.limit + FRAME_BYTES_MAX
    }

    /// Makes a place for the next frame. The caller has checked that it fits, and fills it.
    pub(super) fn push(&mut self, length: usize) -> &mut [u8] {
        let start = match self.place(length) {
            Some(start) => start,
            None => self.grow(length),
        };
        &mut self.buffer[start..start + length]
    }

    /// The next `bytes` bytes were handed to the transport.
    pub(super) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.unsent());
        self.sent = (self.sent + bytes).min(self.len());
    }

    /// Frees the frames numbered up to `acknowledged`. One that is not handed over completely stays
    /// until it is, because the transport's report may come after the peer's.
    pub(super) fn release(&mut self, acknowledged: u64) {
        while let Some(length) = self.oldest_acknowledged(acknowledged)
            && length <= self.sent
        {
            self.drop_oldest(length);
        }
    }

    /// Starts again on a new connection, behind the frame numbered `received`.
    pub(super) fn rewind(&mut self, received: u64) {
        while let Some(length) = self.oldest_acknowledged(received) {
            self.drop_oldest(length);
        }
        self.sent = 0;
    }

    /// Bytes of the frame that is handed over in part which are still to follow.
    pub(super) fn rest_of_partial(&self) -> usize {
        let mut end = 0;
        while end < self.sent {
            let frame = if end < self.front.len() {
                &self.buffer[self.front.start + end..]
            } else {
                &self.buffer[end - self.front.len()..]
            };
            end += written_length(frame);
        }
        end - self.sent
    }

    /// Fills `slices` with at most `bytes_max` bytes of what is to be handed over, oldest first;
    /// returns how many it filled.
    pub(super) fn fill_slices<'a>(&'a self, bytes_max: usize, slices: &mut [IoSlice<'a>]) -> usize {
        let split = self.sent.min(self.front.len());
        let first = &self.buffer[self.front.start + split..self.front.end];
        let second = &self.buffer[self.sent - split..self.back];
        let first = &first[..first.len().min(bytes_max)];
        let second = &second[..second.len().min(bytes_max - first.len())];
        let waiting = [first, second].into_iter().filter(|run| !run.is_empty());
        let mut filled = 0;
        for (slice, run) in slices.iter_mut().zip(waiting) {
            *slice = IoSlice::new(run);
            filled += 1;
        }
        filled
    }

    /// The length of the oldest frame if it is numbered up to `acknowledged`. A heartbeat carries the
    /// number of the frame before it and goes with that.
    fn oldest_acknowledged(&self, acknowledged: u64) -> Option<usize> {
        if self.front.is_empty() {
            return None;
        }
        let frame = &self.buffer[self.front.clone()];
        (written_sequence(frame) <= acknowledged).then(|| written_length(frame))
    }

    fn drop_oldest(&mut self, length: usize) {
        self.front.start += length;
        self.sent = self.sent.saturating_sub(length);
        if self.front.is_empty() {
            self.front = 0..self.back;
            self.back = 0;
        }
    }

    /// Takes a place in the ring as it is.
    fn place(&mut self, length: usize) -> Option<usize> {
        if self.back == 0 {
            if self.front.is_empty() {
                self.front = 0..0;
            }
            if self.buffer.len() - self.front.end >= length {
                let start = self.front.end;
                self.front.end += length;
                return Some(start);
            }
        }
        if self.front.start - self.back >= length {
            let start = self.back;
            self.back += length;
            return Some(start);
        }
        None
    }

    /// Moves everything to a larger ring and takes a place there.
    fn grow(&mut self, length: usize) -> usize {
        let needed = self.len() + length;
        let most = (self.limit + 2 * FRAME_BYTES_MAX).max(needed);
        let capacity = (self.buffer.len() * 2)
            .max(CAPACITY_FIRST)
            .max(needed)
            .min(most);
        let mut buffer = vec![0; capacity];
        let (first, second) = (self.front.len(), self.back);
        buffer[..first].copy_from_slice(&self.buffer[self.front.clone()]);
        buffer[first..first + second].copy_from_slice(&self.buffer[..second]);
        self.buffer = buffer;
        self.front = 0..needed;
        self.back = 0;
        needed - length
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::link::frame::{Flags, Header, Kind, OVERHEAD_BYTES};

    fn frame(sequence: u64, payload: usize) -> Vec<u8> {
        let header = Header {
            session: 1,
            sequence,
            acknowledged: 0,
            kind: Kind::Data,
            flags: Flags::WHOLE,
        };
        let mut bytes = Vec::new();
        header.put(&vec![sequence as u8; payload], &mut bytes);
        bytes
    }

    fn waiting(window: &Window) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 16];
        let filled = window.fill_slices(usize::MAX, &mut slices);
        slices[..filled]
            .iter()
            .flat_map(|slice| slice.to_vec())
            .collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(usize),
        Consume(usize),
        Acknowledge(usize),
        Rewind,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => prop_oneof![0..200usize, 0..60_000usize].prop_map(Step::Push),
            3 => (0..200_000usize).prop_map(Step::Consume),
            3 => (0..5usize).prop_map(Step::Acknowledge),
            1 => Just(Step::Rewind),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn the_ring_is_a_queue_of_frames(steps in prop::collection::vec(step(), 1..150)) {
            let limit = 300_000;
            let mut window = Window::new(limit);
            let mut kept: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
            let (mut last, mut acknowledged, mut sent) = (0, 0, 0usize);
            for step in steps {
                match step {
                    Step::Push(payload) => {
                        let length = OVERHEAD_BYTES + payload;
                        if window.fits(length) {
                            last += 1;
                            let bytes = frame(last, payload);
                            window.push(length).copy_from_slice(&bytes);
                            kept.push_back((last, bytes));
                        }
                    }
                    Step::Consume(bytes) => {
                        let bytes = bytes.min(window.unsent());
                        window.consume(bytes);
                        sent += bytes;
                        window.release(acknowledged);
                    }
                    Step::Acknowledge(more) => {
                        acknowledged = (acknowledged + more as u64).min(last);
                        window.release(acknowledged);
                    }
                    Step::Rewind => {
                        window.rewind(acknowledged);
                        kept.retain(|(sequence, _)| *sequence > acknowledged);
                        sent = 0;
                    }
                }
                while let Some((sequence, bytes)) = kept.front()
                    && *sequence <= acknowledged
                    && bytes.len() <= sent
                {
                    sent -= bytes.len();
                    kept.pop_front();
                }
                let all: Vec<u8> = kept.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
                prop_assert_eq!(window.len(), all.len());
                prop_assert!(waiting(&window) == all[sent..]);
                prop_assert!(window.buffer.len() <= limit + 2 * FRAME_BYTES_MAX);
                let ends = kept.iter().scan(0, |end, (_, bytes)| {
                    *end += bytes.len();
                    Some(*end)
                });
                let partial = std::iter::once(0).chain(ends).find(|end| *end >= sent);
                prop_assert_eq!(Some(window.rest_of_partial() + sent), partial);
            }
        }
    }

    #[test]
    fn a_ring_that_has_its_size_keeps_its_buffer() {
        let mut window = Window::new(1 << 20);
        let mut sequence = 0;
        let mut buffers = Vec::new();
        for _ in 0..10_000 {
            sequence += 1;
            let bytes = frame(sequence, 100);
            window.push(bytes.len()).copy_from_slice(&bytes);
            window.consume(window.unsent());
            window.release(sequence.saturating_sub(50));
            buffers.push(window.buffer.as_ptr());
        }
        buffers.dedup();
        assert_eq!(buffers.len(), 1);
    }
}
