#![allow(unsafe_code)] // Sends from memory that has to stay as it is.

//! Writes.

use std::io::IoSlice;

use goblin_protocol::service::{Closed, ConnectionId};
use goblin_xlio_sys::{SEND_FLAG_FLUSH, SEND_FLAG_INLINE, SocketSendAttr};

use super::sockets::{Place, State};
use super::{Identities, XlioTransport};
use crate::memory::{CHUNK_BYTES, gather};

/// Longest write that is sent inline: copying more into the library costs what the completion of a
/// zero-copy send does.
const INLINE_MAX: usize = 1024;
/// Most inline bytes between two zero-copy sends.
pub(super) const INLINE_RUN_MAX: usize = 16 * 1024;
/// Longest inline send where there is no registered memory.
const INLINE_ONLY_MAX: usize = 64 * 1024;

/// How a write ended.
enum Stop {
    /// Everything was taken.
    Done,
    /// The connection's bound is reached.
    Full,
    /// There is no memory, the library's or ours.
    Starved,
    /// The connection failed.
    Failed(i32),
}

impl<I: Identities> XlioTransport<I> {
    pub(super) fn write_slices(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize {
        let total: usize = slices.iter().map(|slice| slice.len()).sum();
        let Some(place) = self.sockets.of(id) else {
            return 0;
        };
        if place.blocked || place.state != State::Open(id) || total == 0 {
            return 0;
        }
        let socket = place.socket;
        self.counters.writes += 1;
        let key = self.key(id, socket);
        let (taken, stop) = match key {
            Some(key) => self.send_counted(id, socket, key, slices, total),
            None => self.send_inline_only(socket, slices, total),
        };
        self.counters.bytes_out += taken as u64;
        match stop {
            Stop::Done => {}
            Stop::Full => self.block(id),
            Stop::Starved => {
                self.block(id);
                self.starved.push(id);
            }
            Stop::Failed(error) => {
                self.fail(id, Closed::Failed(error));
                return 0;
            }
        }
        taken
    }

    fn block(&mut self, id: ConnectionId) {
        self.counters.writes_short += 1;
        if let Some(place) = self.sockets.of(id) {
            place.blocked = true;
        }
    }

    /// The key of the send memory for this socket, asked for once.
    fn key(&mut self, id: ConnectionId, socket: usize) -> Option<u32> {
        if let Some(key) = self.sockets.of(id).and_then(|place| place.key) {
            return key;
        }
        let pd = self.group.protection_domain(socket);
        let key = self.keys.get(pd, self.memory.block());
        if let Some(place) = self.sockets.of(id) {
            place.key = Some(key);
        }
        key
    }

    fn send_counted(
        &mut self,
        id: ConnectionId,
        socket: usize,
        key: u32,
        slices: &[IoSlice<'_>],
        total: usize,
    ) -> (usize, Stop) {
        let most = self.options.outstanding_bytes_max;
        let outstanding = self.sockets.of(id).map(|place| &place.outstanding);
        let (bytes, inline) = outstanding.map_or((0, 0), |it| (it.bytes(), it.inline()));
        let room = most.saturating_sub(bytes);
        if total <= INLINE_MAX && total <= room && inline + total <= INLINE_RUN_MAX {
            let sent = self.send_inline(socket, slices, 0, total);
            if sent.is_ok() {
                self.with(id, |place| place.outstanding.add_inline(total));
            }
            return ended(sent, total);
        }
        let wanted = total.min(room);
        let mut taken = 0;
        while taken < wanted {
            let last = wanted - taken <= CHUNK_BYTES || !self.memory.has_free();
            match self.send_chunk(id, socket, key, slices, (taken, wanted - taken, last)) {
                Ok(bytes) => taken += bytes,
                Err(stop) => {
                    if taken > 0 && !matches!(stop, Stop::Failed(_)) {
                        self.group.flush(socket);
                    }
                    return (taken, stop);
                }
            }
        }
        (
            taken,
            if taken < total {
                Stop::Full
            } else {
                Stop::Done
            },
        )
    }

    /// Sends one chunk: from where, how much at most, and whether it is the last.
    fn send_chunk(
        &mut self,
        id: ConnectionId,
        socket: usize,
        key: u32,
        slices: &[IoSlice<'_>],
        (skip, most, last): (usize, usize, bool),
    ) -> Result<usize, Stop> {
        let tag = self
            .sockets
            .tag_of(id)
            .ok_or(Stop::Failed(libc::ENOTCONN))?;
        let filled = self.memory.fill(tag, slices, skip, most);
        let (chunk, address, length) = filled.ok_or(Stop::Starved)?;
        let attr = SocketSendAttr {
            flags: if last { SEND_FLAG_FLUSH } else { 0 },
            mkey: key,
            userdata_op: chunk as usize + 1,
        };
        // Before the send, inside which the completion may come already.
        self.with(id, |place| place.outstanding.add_chunk(chunk, length));
        // SAFETY: the chunk is in flight until its completion releases it, and the block outlives
        // the group.
        let sent = unsafe { self.group.send(socket, address, length, attr) };
        sent.map_err(|error| {
            self.with(id, |place| place.outstanding.take_back(chunk, length));
            self.memory.release(chunk);
            stop(error)
        })?;
        Ok(length)
    }

    fn send_inline_only(
        &mut self,
        socket: usize,
        slices: &[IoSlice<'_>],
        total: usize,
    ) -> (usize, Stop) {
        let mut taken = 0;
        while taken < total {
            let step = (total - taken).min(INLINE_ONLY_MAX);
            if let Err(error) = self.send_inline(socket, slices, taken, step) {
                return (taken, stop(error));
            }
            taken += step;
        }
        (taken, Stop::Done)
    }

    /// One inline send of one vector: several would not be taken all or none.
    fn send_inline(
        &mut self,
        socket: usize,
        slices: &[IoSlice<'_>],
        skip: usize,
        length: usize,
    ) -> Result<(), i32> {
        let attr = SocketSendAttr {
            flags: SEND_FLAG_FLUSH | SEND_FLAG_INLINE,
            ..SocketSendAttr::default()
        };
        if let [only] = slices
            && let Some(bytes) = only.get(skip..skip + length)
        {
            // SAFETY: the library copies during the call.
            return unsafe { self.group.send(socket, bytes.as_ptr(), length, attr) };
        }
        let mut small = [0; INLINE_MAX];
        let mut large = Vec::new();
        let bytes = match small.get_mut(..length) {
            Some(bytes) => bytes,
            None => {
                large.resize(length, 0);
                &mut large[..]
            }
        };
        gather(slices, skip, bytes);
        // SAFETY: the library copies during the call.
        unsafe { self.group.send(socket, bytes.as_ptr(), length, attr) }
    }

    fn with(&mut self, id: ConnectionId, change: impl FnOnce(&mut Place)) {
        if let Some(place) = self.sockets.of(id) {
            change(place);
        }
    }

    /// The library did not have memory, or we did not: the next poll lets them try again.
    pub(super) fn feed_starved(&mut self) {
        if self.memory.has_free() {
            self.writable.append(&mut self.starved);
        }
    }
}

fn stop(error: i32) -> Stop {
    match error {
        libc::ENOMEM | libc::EAGAIN => Stop::Starved,
        error => Stop::Failed(error),
    }
}

fn ended(sent: Result<(), i32>, total: usize) -> (usize, Stop) {
    match sent {
        Ok(()) => (total, Stop::Done),
        Err(error) => (0, stop(error)),
    }
}
