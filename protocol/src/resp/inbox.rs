//! Received bytes in, requests out.
//!
//! # Ownership
//!
//! An [`Inbox`] belongs to its connection and is usually empty, without heap memory. The bytes of a
//! receive call belong to the caller; a [`Feed`] reads requests out of them where they are, and when
//! it is dropped the inbox keeps a copy of what was not used. While it keeps something, newly
//! received bytes are appended to that and read there.
//!
//! # Cost
//!
//! Proportional to the bytes received, however they are cut: a request is looked at again only from
//! where the last look ended, once more when it is complete; kept bytes move to the front only when
//! those used before them are at least as many. Memory is at most twice the bytes kept, or the
//! length that they announce if that is less, plus [`limits::IDLE_BUFFER_BYTES_MAX`].

use std::mem;

use super::arguments::{Arguments, Spans};
use super::multibulk::Progress;
use super::{ProtocolError, RequestLimits, inline, is_cross_protocol, multibulk};
use crate::limits;

/// Least capacity of a buffer that keeps bytes.
const KEPT_CAPACITY_MIN: usize = 256;

/// What a connection keeps between two receives: an incomplete request, or requests that had to
/// wait.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes at the front that were used.
    used: usize,
    /// About the request that follows them.
    progress: Progress,
}

const _: () = assert!(size_of::<Inbox>() <= 64);

impl Inbox {
    /// An inbox that keeps nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            used: 0,
            progress: Progress::START,
        }
    }

    /// Whether nothing is kept.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes kept. A client that is made to wait counts them against its query buffer limit: the
    /// limit in [`RequestLimits`] is for a single request.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Takes `received`, which may be empty, behind what is kept, and yields the requests in both.
    pub fn open<'a>(&'a mut self, received: &'a [u8], spans: &'a mut Spans) -> Feed<'a> {
        let in_place = self.is_empty();
        if !in_place {
            self.append(received);
        }
        Feed {
            start: self.used,
            last: None,
            in_place,
            received,
            inbox: self,
            spans,
        }
    }

    fn append(&mut self, received: &[u8]) {
        if self.used >= self.len() {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
        let needed = self.bytes.len() + received.len();
        if needed > self.bytes.capacity() {
            let announced = self.used.saturating_add(self.progress.needed());
            let doubled = (self.bytes.capacity() * 2).max(KEPT_CAPACITY_MIN);
            let capacity = if announced > needed {
                doubled.min(announced)
            } else {
                doubled
            };
            self.bytes
                .reserve_exact(capacity.max(needed) - self.bytes.len());
        }
        self.bytes.extend_from_slice(received);
    }

    /// Keeps `rest` in a buffer that had nothing, the spare one if there is one.
    fn keep(&mut self, rest: &[u8], spare: &mut Vec<u8>) {
        if self.bytes.capacity() == 0 {
            self.bytes = mem::take(spare);
        }
        self.bytes.clear();
        self.used = 0;
        self.append(rest);
    }

    /// Gives back memory that the kept bytes do not need.
    fn settle(&mut self, spare: &mut Vec<u8>) {
        if self.is_empty() {
            let mut emptied = mem::take(self).bytes;
            if (spare.capacity()..=limits::IDLE_BUFFER_BYTES_MAX).contains(&emptied.capacity()) {
                emptied.clear();
                *spare = emptied;
            }
        } else if self.bytes.capacity() > limits::IDLE_BUFFER_BYTES_MAX
            && self.bytes.capacity() / 4 > self.len()
        {
            self.bytes.drain(..self.used);
            self.used = 0;
            self.bytes.shrink_to(self.bytes.len() * 2);
        }
    }
}

/// The requests in what was received and kept, in their order.
///
/// Dropped, it leaves what was not used in its [`Inbox`].
#[derive(Debug)]
pub struct Feed<'a> {
    inbox: &'a mut Inbox,
    received: &'a [u8],
    spans: &'a mut Spans,
    /// Whether the requests are read from `received`, or from the inbox, which has it then.
    in_place: bool,
    /// Where the next request begins.
    start: usize,
    /// Where the request last returned began.
    last: Option<usize>,
}

impl Feed<'_> {
    /// The next request; `None` when the rest is incomplete or nothing. Empty requests (`*0`, an
    /// empty line) are passed over.
    ///
    /// # Errors
    ///
    /// What is wrong with the next request. Nothing is read after it: everything left is dropped.
    #[inline]
    pub fn next(&mut self, limits: &RequestLimits) -> Result<Option<Arguments<'_>>, ProtocolError> {
        let start = self.start;
        let source = if self.in_place {
            self.received
        } else {
            &self.inbox.bytes
        };
        let Some(rest @ [_, ..]) = source.get(start..) else {
            return Ok(None);
        };
        let (count, length) = multibulk::read_short(rest, limits, &mut self.spans.short);
        if count == 0 {
            return self.next_of_any_form(limits);
        }
        self.last = Some(start);
        self.start = start + length;
        self.inbox.progress = Progress::START;
        Ok(Some(
            self.spans.short_arguments_in(self.rest_from(start), count),
        ))
    }

    /// Takes back the request last returned: it is the next one again.
    pub fn unread(&mut self) {
        if let Some(start) = self.last.take() {
            self.start = start;
            self.inbox.progress = Progress::START;
        }
    }

    /// Drops everything left: the connection is closing.
    pub fn discard(mut self) {
        self.drop_rest();
    }

    fn drop_rest(&mut self) {
        self.start += self.rest_from(self.start).len();
        self.last = None;
        self.inbox.progress = Progress::START;
    }

    #[inline]
    fn rest_from(&self, start: usize) -> &[u8] {
        let source = if self.in_place {
            self.received
        } else {
            &self.inbox.bytes
        };
        source.get(start..).unwrap_or_default()
    }

    #[inline(never)]
    fn next_of_any_form(
        &mut self,
        limits: &RequestLimits,
    ) -> Result<Option<Arguments<'_>>, ProtocolError> {
        let start = match self.read(limits) {
            Ok(Some(start)) => start,
            Ok(None) => return Ok(None),
            Err(error) => {
                self.drop_rest();
                return Err(error);
            }
        };
        self.last = Some(start);
        Ok(Some(self.spans.arguments_in(self.rest_from(start))))
    }

    /// Reads on to a request with arguments, and returns where it begins.
    fn read(&mut self, limits: &RequestLimits) -> Result<Option<usize>, ProtocolError> {
        let limit = limits.query_bytes_max.min(u32::MAX as usize);
        loop {
            let Inbox {
                bytes, progress, ..
            } = &mut *self.inbox;
            let source = if self.in_place { self.received } else { bytes };
            let start = self.start;
            let rest = source.get(start..).unwrap_or_default();
            let shown = rest.get(..limit).unwrap_or(rest);
            let read = match rest.first() {
                None => return Ok(None),
                Some(b'*') => read_multibulk(shown, progress, limits, self.spans)?,
                Some(_) => inline::read(shown, progress, self.spans)?,
            };
            let Some(length) = read else {
                return if rest.len() > limit {
                    Err(ProtocolError::QueryTooLong)
                } else {
                    Ok(None)
                };
            };
            *progress = Progress::START;
            self.start = start + length;
            match self.spans.arguments_in(rest).get(0) {
                None => {}
                Some(name) if is_cross_protocol(name) => return Err(ProtocolError::CrossProtocol),
                Some(_) => return Ok(Some(start)),
            }
        }
    }
}

impl Drop for Feed<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.in_place {
            match self.received.get(self.start..) {
                Some(rest) if !rest.is_empty() => self.inbox.keep(rest, &mut self.spans.spare),
                _ => {}
            }
        } else {
            self.inbox.used = self.start;
            self.inbox.settle(&mut self.spans.spare);
        }
        self.spans.settle();
    }
}

/// Reads a request that may have been begun in an earlier look: then on from there, and when that
/// completes it, once more as a whole, now with its arguments.
#[inline]
fn read_multibulk(
    bytes: &[u8],
    progress: &mut Progress,
    limits: &RequestLimits,
    spans: &mut Spans,
) -> Result<Option<usize>, ProtocolError> {
    if progress.is_among_arguments() {
        if bytes.len() < progress.needed()
            || multibulk::read(bytes, progress, limits, |_| {})?.is_none()
        {
            return Ok(None);
        }
        *progress = Progress::START;
    }
    spans.positions.clear();
    multibulk::read(bytes, progress, limits, |span| spans.positions.push(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RequestLimits = RequestLimits {
        arguments_max: limits::ARGUMENTS_MAX,
        bulk_bytes_max: limits::BULK_BYTES_MAX,
        query_bytes_max: limits::QUERY_BYTES_MAX,
    };

    /// Feeds `received` and returns the number of arguments of the requests in it.
    fn feed(inbox: &mut Inbox, received: &[u8], spans: &mut Spans) -> Vec<usize> {
        let mut feed = inbox.open(received, spans);
        let mut counts = Vec::new();
        while let Some(arguments) = feed.next(&LIMITS).unwrap() {
            counts.push(arguments.len());
        }
        counts
    }

    #[test]
    fn an_empty_inbox_has_no_heap_memory() {
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        assert_eq!(feed(&mut inbox, b"PING\r\n", &mut spans), [1]);
        assert_eq!(inbox.bytes.capacity(), 0);
        assert_eq!(feed(&mut inbox, b"PI", &mut spans), []);
        assert!(inbox.bytes.capacity() > 0);
        assert_eq!(feed(&mut inbox, b"NG\r\n", &mut spans), [1]);
        assert_eq!(inbox.bytes.capacity(), 0);
    }

    #[test]
    fn a_buffer_goes_from_the_emptied_inbox_to_the_next() {
        let (mut first, mut second) = (Inbox::new(), Inbox::new());
        let mut spans = Spans::default();
        feed(&mut first, b"PI", &mut spans);
        let buffer = first.bytes.as_ptr();
        feed(&mut first, b"NG\r\n", &mut spans);
        feed(&mut second, b"PI", &mut spans);
        assert_eq!(second.bytes.as_ptr(), buffer);
        assert_eq!(second.len(), 2);
    }

    #[test]
    fn a_lying_length_costs_what_was_sent() {
        for lie in [
            "*1048576\r\n$536870912\r\n",
            "*1048576\r\n",
            "*1\r\n$536870912\r\nabc",
        ] {
            let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
            feed(&mut inbox, lie.as_bytes(), &mut spans);
            assert!(inbox.bytes.capacity() <= KEPT_CAPACITY_MIN);
            assert!(spans.positions.capacity() <= 8);
        }
    }

    #[test]
    fn a_large_argument_needs_at_most_twice_its_bytes_and_never_more_than_announced() {
        let length = 5_000_000;
        let mut stream = format!("*2\r\n$4\r\nECHO\r\n${length}\r\n").into_bytes();
        stream.resize(stream.len() + length, b'a');
        stream.extend_from_slice(b"\r\n");
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        let mut received = 0;
        for piece in stream.chunks(16 * 1024) {
            received += piece.len();
            let counts = feed(&mut inbox, piece, &mut spans);
            if received < stream.len() {
                let most = (received * 2).min(stream.len());
                assert!(inbox.bytes.capacity() <= most, "at {received}");
                assert_eq!((counts.len(), inbox.len()), (0, received));
            } else {
                assert_eq!(counts, [2]);
            }
        }
        assert_eq!((inbox.bytes.capacity(), spans.spare.capacity()), (0, 0));
    }

    #[test]
    fn most_arguments_in_small_pieces_are_read_in_one_pass() {
        let count = limits::ARGUMENTS_MAX;
        let mut stream = format!("*{count}\r\n").into_bytes();
        stream.extend_from_slice(&b"$1\r\na\r\n".repeat(count));
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        let (last, pieces) = (stream.len() - 1, 100);
        // Quadratic work would be a terabyte here.
        for piece in stream[..last].chunks(pieces) {
            assert_eq!(feed(&mut inbox, piece, &mut spans), []);
        }
        assert_eq!(feed(&mut inbox, &stream[last..], &mut spans), [count]);
        assert_eq!(
            spans.positions.capacity(),
            0,
            "a huge request's memory is given back"
        );
    }

    #[test]
    fn a_line_that_arrives_byte_by_byte_is_not_searched_again() {
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        for byte in [b'A'; 1000] {
            feed(&mut inbox, &[byte], &mut spans);
            assert_eq!(inbox.progress.scanned as usize, inbox.len());
        }
    }

    #[test]
    fn waiting_requests_are_not_moved_for_each_that_is_used() {
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        let request = b"*2\r\n$4\r\nECHO\r\n$16\r\nsixteen bytes ok\r\n";
        drop(inbox.open(&request.repeat(100_000), &mut spans));
        let (mut moves, mut used) = (0, 0);
        for left in (0..100_000).rev() {
            let mut feed = inbox.open(&[], &mut spans);
            assert_eq!(
                feed.next(&LIMITS).unwrap().map(|arguments| arguments.len()),
                Some(2)
            );
            drop(feed);
            assert_eq!(inbox.len(), left * request.len());
            moves += usize::from(inbox.used <= used);
            used = inbox.used;
        }
        assert!(moves < 40, "{moves} moves");
        assert_eq!(inbox.bytes.capacity(), 0);
    }

    #[test]
    fn a_backlog_that_is_used_up_gives_memory_back_before_it_is_empty() {
        let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
        let mut backlog = b"PING\r\n".repeat(100_000);
        backlog.extend_from_slice(b"PI");
        drop(inbox.open(&backlog, &mut spans));
        assert_eq!(feed(&mut inbox, b"", &mut spans).len(), 100_000);
        assert_eq!(inbox.len(), 2);
        assert!(inbox.bytes.capacity() <= limits::IDLE_BUFFER_BYTES_MAX);
    }
}
