//! The half of a session that sends: numbering, the window, the backlog behind it.

use crate::link::codec::Slot;
use crate::link::error::Loss;
use crate::link::frame::{Flags, Header, Kind, OVERHEAD_BYTES};
use crate::link::message::Encode;

use super::backlog::Backlog;
use super::config::Config;
use super::window::Window;

/// Whether the peer is to be told that nothing more comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goodbye {
    No,
    /// Behind what waits in the backlog.
    Due,
    Said,
}

/// * `acknowledged <= last`; the window has the frames `acknowledged + 1 ..= last` at least.
/// * A message goes to the window directly only when the backlog is empty: order is kept.
#[derive(Debug)]
pub(super) struct Sending {
    session: u64,
    pub(super) window: Window,
    backlog: Backlog,
    backlog_bytes_max: usize,
    fragment_bytes_max: usize,
    /// The number of the last frame in the window.
    last: u64,
    /// The highest number that the peer has acknowledged.
    acknowledged: u64,
    /// Bytes to be handed to the transport until the newest heartbeat is out; 0 when it is.
    heartbeat_unsent: usize,
    goodbye: Goodbye,
    /// Frames put into the window.
    pub(super) frames: u64,
}

impl Sending {
    pub(super) fn new(config: &Config, session: u64) -> Self {
        Self {
            session,
            window: Window::new(config.window_bytes()),
            backlog: Backlog::default(),
            backlog_bytes_max: config.backlog_bytes_max,
            fragment_bytes_max: config.fragment_bytes_max(),
            last: 0,
            acknowledged: 0,
            heartbeat_unsent: 0,
            goodbye: Goodbye::No,
            frames: 0,
        }
    }

    /// Frames that are not acknowledged.
    pub(super) fn pending_frames(&self) -> u64 {
        self.last - self.acknowledged
    }

    /// Bytes of messages behind the window.
    pub(super) fn backlog_bytes(&self) -> usize {
        self.backlog.bytes()
    }

    /// Whether messages wait behind the window.
    pub(super) fn is_full(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Whether a heartbeat is on its way to the transport; another one would say nothing more.
    pub(super) fn has_unsent_heartbeat(&self) -> bool {
        self.heartbeat_unsent > 0
    }

    /// Whether goodbye was or will be said.
    pub(super) fn is_closing(&self) -> bool {
        self.goodbye != Goodbye::No
    }

    /// Whether goodbye was said and everything is acknowledged.
    pub(super) fn is_drained(&self) -> bool {
        self.goodbye == Goodbye::Said && self.pending_frames() == 0
    }

    /// Sends a message that encodes to `length` bytes; `received` is what our side acknowledges.
    /// Yields whether a frame was made.
    #[inline]
    pub(super) fn send(
        &mut self,
        message: &impl Encode,
        length: usize,
        received: u64,
    ) -> Result<bool, Loss> {
        if self.backlog.is_empty()
            && length <= self.fragment_bytes_max
            && self.window.fits(OVERHEAD_BYTES + length)
        {
            let place = self.put_numbered(Kind::Data, Flags::WHOLE, length, received);
            message.encode_into(&mut Slot(place));
            return Ok(true);
        }
        if self.backlog.bytes() > self.backlog_bytes_max {
            return Err(Loss::BacklogFull {
                bytes_max: self.backlog_bytes_max,
            });
        }
        self.backlog.push(message, length);
        Ok(self.feed(received))
    }

    /// Says goodbye behind everything that was sent. Yields whether a frame was made.
    pub(super) fn say_goodbye(&mut self, received: u64) -> bool {
        if self.goodbye == Goodbye::No {
            self.goodbye = Goodbye::Due;
        }
        self.feed(received)
    }

    /// Puts a heartbeat behind everything in the window.
    pub(super) fn put_heartbeat(&mut self, received: u64) {
        if !self.window.fits_beyond_limit(OVERHEAD_BYTES) {
            return;
        }
        self.put_frame(Kind::Heartbeat, Flags::WHOLE, 0, received);
        self.heartbeat_unsent = self.window.unsent();
    }

    /// The peer has received everything up to `number`. Yields whether a frame was made of what had
    /// been waiting for that.
    #[inline]
    pub(super) fn acknowledge(&mut self, number: u64, received: u64) -> Result<bool, Loss> {
        if number <= self.acknowledged {
            return Ok(false);
        }
        self.check_sent(number)?;
        self.acknowledged = number;
        self.window.release(number);
        Ok(self.feed(received))
    }

    /// The next `bytes` bytes were handed to the transport. Yields whether a frame was made.
    pub(super) fn consume(&mut self, bytes: usize, received: u64) -> bool {
        self.window.consume(bytes);
        self.heartbeat_unsent = self.heartbeat_unsent.saturating_sub(bytes);
        self.window.release(self.acknowledged);
        self.feed(received)
    }

    /// Starts again on a new connection, where the peer has received everything up to `number`.
    pub(super) fn resume(&mut self, number: u64, received: u64) -> Result<(), Loss> {
        if number < self.acknowledged {
            return Err(Loss::Unreplayable {
                wanted: number + 1,
                oldest: self.acknowledged + 1,
            });
        }
        self.check_sent(number)?;
        self.acknowledged = number;
        self.window.rewind(number);
        self.heartbeat_unsent = 0;
        self.feed(received);
        Ok(())
    }

    fn check_sent(&self, acknowledged: u64) -> Result<(), Loss> {
        if acknowledged > self.last {
            return Err(Loss::NeverSent {
                acknowledged,
                last: self.last,
            });
        }
        Ok(())
    }

    /// Moves what waits into the window, as far as there is room.
    fn feed(&mut self, received: u64) -> bool {
        if self.backlog.is_empty() && self.goodbye != Goodbye::Due {
            return false;
        }
        let before = self.last;
        while self.feed_one(received) {}
        if self.goodbye == Goodbye::Due
            && self.backlog.is_empty()
            && self.window.fits_beyond_limit(OVERHEAD_BYTES)
        {
            self.put_numbered(Kind::Goodbye, Flags::WHOLE, 0, received);
            self.goodbye = Goodbye::Said;
        }
        self.last != before
    }

    fn feed_one(&mut self, received: u64) -> bool {
        let bytes_max = self.fragment_bytes_max;
        let Some(fragment) = self.backlog.next(bytes_max) else {
            return false;
        };
        let length = OVERHEAD_BYTES + fragment.bytes.len();
        if !self.window.fits(length) {
            return false;
        }
        self.last += 1;
        self.frames += 1;
        let header = Header {
            session: self.session,
            sequence: self.last,
            acknowledged: received,
            kind: Kind::Data,
            flags: Flags::new(fragment.first, fragment.last),
        };
        header.put(fragment.bytes, &mut Slot(self.window.push(length)));
        self.backlog.advance(bytes_max);
        true
    }

    /// Makes the next numbered frame and yields the place of its payload.
    #[inline]
    fn put_numbered(
        &mut self,
        kind: Kind,
        flags: Flags,
        payload: usize,
        received: u64,
    ) -> &mut [u8] {
        self.last += 1;
        self.put_frame(kind, flags, payload, received)
    }

    #[inline]
    fn put_frame(&mut self, kind: Kind, flags: Flags, payload: usize, received: u64) -> &mut [u8] {
        self.frames += 1;
        let header = Header {
            session: self.session,
            sequence: self.last,
            acknowledged: received,
            kind,
            flags,
        };
        let place = self.window.push(OVERHEAD_BYTES + payload);
        let (head, payload_place) = place.split_at_mut(OVERHEAD_BYTES);
        head.copy_from_slice(&header.encode(payload));
        payload_place
    }
}
