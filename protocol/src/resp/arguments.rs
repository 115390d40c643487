//! A request's arguments: a view on bytes that stay where they are.

use std::fmt;
use std::ops::Index;

use crate::limits;

/// Argument positions that are kept between requests; more give their memory back.
const SPANS_KEPT_MAX: usize = limits::IDLE_BUFFER_BYTES_MAX / size_of::<Span>();

/// Where an argument lies, in bytes from the start of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Room for parsing, reused from request to request: one per thread serves all its connections.
///
/// Holds the positions of the arguments, the words of an inline request, and one byte buffer that
/// an emptied [`Inbox`](super::Inbox) left for the next that needs one. Each is bounded by
/// [`limits::IDLE_BUFFER_BYTES_MAX`] while no request is being read.
#[derive(Debug, Default)]
pub struct Spans {
    pub(super) positions: Vec<Span>,
    pub(super) words: Vec<u8>,
    pub(super) spare: Vec<u8>,
}

impl Spans {
    /// Gives back what a huge request needed.
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
        self.spans.get(index).map(|&span| self.at(span))
    }

    /// All arguments in their order.
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator + Clone + use<'a> {
        let arguments = *self;
        arguments.spans.iter().map(move |&span| arguments.at(span))
    }

    /// The arguments without the first `count`; empty when there are no more.
    #[must_use]
    pub fn skip(&self, count: usize) -> Self {
        Self {
            bytes: self.bytes,
            spans: self.spans.get(count..).unwrap_or_default(),
        }
    }

    fn at(&self, span: Span) -> &'a [u8] {
        self.bytes
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }
}

impl Index<usize> for Arguments<'_> {
    type Output = [u8];

    /// # Panics
    ///
    /// When there is no such argument: for callers that have checked the number.
    fn index(&self, index: usize) -> &[u8] {
        self.at(self.spans[index])
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
