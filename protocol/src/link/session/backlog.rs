//! Messages that wait because the window is full, and those too long for one frame.
//!
//! Whole messages in one buffer, `u32` length and bytes; taken out from the front fragment by
//! fragment, so that even a message longer than the window gets through it.

use crate::link::Sink;
use crate::link::message::Encode;

/// Bytes of the length before a message.
const LENGTH_BYTES: usize = 4;
/// An emptied buffer larger than this gives its memory back.
const IDLE_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Backlog {
    buffer: Vec<u8>,
    /// Where the oldest message's length is.
    start: usize,
    /// Bytes of the oldest message that were taken out.
    taken: usize,
}

/// The next part of the oldest message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fragment<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) first: bool,
    pub(super) last: bool,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.buffer.len() - self.start - self.taken
    }

    /// Appends a message that encodes to `length` bytes, fewer than 4 GiB.
    pub(super) fn push(&mut self, message: &impl Encode, length: usize) {
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(LENGTH_BYTES + length);
        self.buffer.put(&(length as u32).to_le_bytes());
        message.encode_into(&mut self.buffer);
    }

    /// The next fragment, of at most `bytes_max` bytes; `None` when nothing waits.
    pub(super) fn next(&self, bytes_max: usize) -> Option<Fragment<'_>> {
        let entry = self.buffer.get(self.start..)?;
        let (length, rest) = entry.split_first_chunk::<LENGTH_BYTES>()?;
        let message = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let left = message.get(self.taken..)?;
        Some(Fragment {
            bytes: left.get(..bytes_max).unwrap_or(left),
            first: self.taken == 0,
            last: left.len() <= bytes_max,
        })
    }

    /// Takes out what `next` yielded for the same bound.
    pub(super) fn advance(&mut self, bytes_max: usize) {
        let Some(fragment) = self.next(bytes_max) else {
            return;
        };
        let (length, last) = (fragment.bytes.len(), fragment.last);
        self.taken += length;
        if last {
            self.start += LENGTH_BYTES + self.taken;
            self.taken = 0;
        }
        if self.is_empty() {
            self.start = 0;
            self.buffer.clear();
            if self.buffer.capacity() > IDLE_BYTES_MAX {
                self.buffer = Vec::new();
            }
        }
    }
}
