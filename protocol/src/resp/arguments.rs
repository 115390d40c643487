//! A request's arguments: a view on bytes that stay where they are.

use std::fmt;
use std::ops::Index;

use super::multibulk::SHORT_COUNT_MAX;
use crate::limits;

/// Argument positions that are kept between requests; more give their memory back.
const SPANS_KEPT_MAX: usize = limits::IDLE_BUFFER_BYTES_MAX / size_of::<Span>();

/// Where an argument lies, in bytes from the start of its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    /// What lies there in the request `bytes`.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// Room for parsing, reused from request to request: one per thread serves all its connections.
///
/// While no request is being read, none of its buffers is larger than
/// [`limits::IDLE_BUFFER_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct Spans {
    /// Where the arguments of a request lie that was read the short way.
    pub(super) short: [Span; SHORT_COUNT_MAX],
    /// Where those of any other lie.
    pub(super) positions: Vec<Span>,
    /// The words of an inline request.
    pub(super) words: Vec<u8>,
    /// What an emptied inbox left for the next that needs a buffer.
    pub(super) spare: Vec<u8>,
}

impl Spans {
    /// The arguments that were read from the front of `bytes`: an array's lie there, the words of an
    /// inline request here.
    pub(super) fn arguments_in<'a>(&'a self, bytes: &'a [u8]) -> Arguments<'a> {
        let is_array = bytes.first() == Some(&b'*');
        Arguments::new(if is_array { bytes } else { &self.words }, &self.positions)
    }

    /// The first `count` arguments that were read the short way from the front of `bytes`.
    #[inline]
    pub(super) fn short_arguments_in<'a>(&'a self, bytes: &'a [u8], count: usize) -> Arguments<'a> {
        Arguments::new(bytes, self.short.get(..count).unwrap_or_default())
    }

    /// Gives back what a huge request needed.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.positions.capacity() > SPANS_KEPT_MAX {
            self.positions = Vec::new();
        }
        if self.words.capacity() > limits::IDLE_BUFFER_BYTES_MAX {
            self.words = Vec::new();
        }
    }
}

/// The arguments of one request, the command's name first.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Arguments<'a> {
    /// The arguments that lie at `spans` in `bytes`.
    pub(super) const fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans }
    }

    /// How many there are; at least one in what a [`Feed`](super::Feed) returns.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none, as after [`skip`](Self::skip).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`, `None` beyond the last.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|span| span.of(self.bytes))
    }

    /// All arguments in their order.
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator + Clone + use<'a> {
        let arguments = *self;
        arguments
            .spans
            .iter()
            .map(move |span| span.of(arguments.bytes))
    }

    /// The arguments without the first `count`; empty when there are no more.
    #[must_use]
    pub fn skip(&self, count: usize) -> Self {
        Self {
            bytes: self.bytes,
            spans: self.spans.get(count..).unwrap_or_default(),
        }
    }
}

impl Index<usize> for Arguments<'_> {
    type Output = [u8];

    /// # Panics
    ///
    /// When there is no such argument: for callers that have checked the number.
    fn index(&self, index: usize) -> &[u8] {
        self.spans[index].of(self.bytes)
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self
            .iter()
            .map(|argument| argument.escape_ascii().to_string());
        formatter.debug_list().entries(texts).finish()
    }
}
