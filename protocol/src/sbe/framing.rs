//! Received bytes in, requests out: `u32` length, message, and so on.
//!
//! As in [`resp`](crate::resp), an [`Inbox`] belongs to its connection and usually keeps nothing; a
//! [`Feed`] reads frames where they were received, and when it is dropped the inbox keeps a copy of
//! what was not used. Any cut gives the same requests and the same error.
//!
//! A length is believed within the bound that the limits give, and memory is reserved for it only as
//! bytes arrive: at most twice those, and never more than announced.

use std::fmt;
use std::mem;

use super::messages::Request;
use super::requests::Words;
use super::wire::HEADER_BYTES;
use crate::limits;
use crate::link::FormatError;
use crate::resp::{Arguments, RequestLimits};

/// Bytes of the length before a frame.
const LENGTH_BYTES: usize = 4;
/// Least capacity of a buffer that keeps bytes.
const KEPT_CAPACITY_MIN: usize = 256;
/// What a frame may have beside its words, and for each of them, in bytes: header, block and lengths,
/// with room for what newer versions append.
const FRAME_OVERHEAD_BYTES: usize = 1024;
const WORD_OVERHEAD_BYTES: usize = 64;

/// Why a connection must be closed: its bytes are no request, or one beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// A frame announces a length shorter than a header or above the limit.
    FrameLength {
        /// What it announces.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// A frame is not a message of the schema.
    Format(FormatError),
    /// A request of more words than the client may send.
    TooManyWords {
        /// The limit.
        max: usize,
    },
    /// A request with a longer word than the client may send.
    WordTooLong {
        /// The limit, in bytes.
        max: usize,
    },
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        match self {
            Self::FrameLength { length, max } => {
                write!(
                    f,
                    "a frame announces {length} bytes, not {HEADER_BYTES} to {max}"
                )
            }
            Self::Format(error) => write!(f, "{error}"),
            Self::TooManyWords { max } => write!(f, "a request of more than {max} words"),
            Self::WordTooLong { max } => write!(f, "a word of more than {max} bytes"),
        }
    }
}

impl std::error::Error for ProtocolError {}

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug)]
pub enum Received<'a> {
    /// A request as its words, the command's name first; there may be none.
    Request(Arguments<'a>),
    /// A template that is no request here, such as one that a newer version brought: to be answered
    /// by an error.
    Unknown {
        /// Its id.
        template: u16,
    },
}

/// What a connection keeps between two receives.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes at the front that were used.
    used: usize,
}

impl Inbox {
    /// An inbox that keeps nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            used: 0,
        }
    }

    /// Whether nothing is kept.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes kept.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Takes `received`, which may be empty, behind what is kept, and yields the requests in both.
    pub fn open<'a>(&'a mut self, received: &'a [u8], words: &'a mut Words) -> Feed<'a> {
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
            words,
        }
    }

    fn append(&mut self, received: &[u8]) {
        if self.used >= self.len() {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
        let needed = self.bytes.len() + received.len();
        if needed > self.bytes.capacity() {
            let doubled = (self.bytes.capacity() * 2).max(KEPT_CAPACITY_MIN);
            let kept = self.bytes.get(self.used..).unwrap_or_default();
            let announced = announced(kept).unwrap_or(0).saturating_add(self.used);
            let capacity = if announced > needed {
                doubled.min(announced)
            } else {
                doubled
            };
            let more = capacity.max(needed) - self.bytes.len();
            self.bytes.reserve_exact(more);
        }
        self.bytes.extend_from_slice(received);
    }

    /// Gives back memory that the kept bytes do not need; a buffer to the next inbox that needs one.
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

/// The length of the frame that `bytes` begin with, its length field included.
fn announced(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    Some((length as usize).saturating_add(LENGTH_BYTES))
}

/// Longest frame of a client with these limits, its length field included, in bytes.
fn frame_bytes_max(limits: &RequestLimits) -> usize {
    let word = limits.bulk_bytes_max.saturating_add(WORD_OVERHEAD_BYTES);
    let words = limits.arguments_max.saturating_mul(word);
    words
        .saturating_add(FRAME_OVERHEAD_BYTES)
        .min(limits.query_bytes_max)
}

/// The requests in what was received and kept, in their order.
///
/// Dropped, it leaves what was not used in its [`Inbox`].
#[derive(Debug)]
pub struct Feed<'a> {
    inbox: &'a mut Inbox,
    received: &'a [u8],
    words: &'a mut Words,
    /// Whether frames are read from `received`, or from the inbox, which has it then.
    in_place: bool,
    /// Where the next frame begins.
    start: usize,
    /// Where the frame last returned began.
    last: Option<usize>,
}

impl Feed<'_> {
    /// The next request; `None` when the rest is incomplete or nothing.
    ///
    /// # Errors
    ///
    /// What is wrong with the next frame. Nothing is read after it: everything left is dropped.
    pub fn next(&mut self, limits: &RequestLimits) -> Result<Option<Received<'_>>, ProtocolError> {
        match self.read(limits) {
            Ok(None) => Ok(None),
            Ok(Some(None)) => Ok(Some(Received::Request(self.words.arguments()))),
            Ok(Some(Some(template))) => Ok(Some(Received::Unknown { template })),
            Err(error) => {
                self.drop_rest();
                Err(error)
            }
        }
    }

    /// Takes back the request last returned: it is the next one again.
    pub fn unread(&mut self) {
        if let Some(start) = self.last.take() {
            self.start = start;
        }
    }

    /// Drops everything left: the connection is closing.
    pub fn discard(mut self) {
        self.drop_rest();
    }

    fn drop_rest(&mut self) {
        self.start += self.rest().len();
        self.last = None;
    }

    fn rest(&self) -> &[u8] {
        let source = if self.in_place {
            self.received
        } else {
            &self.inbox.bytes
        };
        source.get(self.start..).unwrap_or_default()
    }

    /// Reads a frame's request into the words, or returns its template when that is unknown.
    fn read(&mut self, limits: &RequestLimits) -> Result<Option<Option<u16>>, ProtocolError> {
        let source = if self.in_place {
            self.received
        } else {
            &self.inbox.bytes
        };
        let rest = source.get(self.start..).unwrap_or_default();
        let Some(length) = announced(rest) else {
            return Ok(None);
        };
        let max = frame_bytes_max(limits);
        if length < LENGTH_BYTES + HEADER_BYTES || length > max {
            return Err(ProtocolError::FrameLength {
                length: length - LENGTH_BYTES,
                max: max.saturating_sub(LENGTH_BYTES),
            });
        }
        let Some(message) = rest.get(LENGTH_BYTES..length) else {
            return Ok(None);
        };
        let unknown = match Request::decode(message) {
            Ok(request) => {
                self.words.fill(&request);
                check(self.words.arguments(), limits)?;
                None
            }
            Err(FormatError::Template { template }) => Some(template),
            Err(error) => return Err(ProtocolError::Format(error)),
        };
        self.last = Some(self.start);
        self.start += length;
        Ok(Some(unknown))
    }
}

/// Checks a request's words against the limits.
fn check(words: Arguments<'_>, limits: &RequestLimits) -> Result<(), ProtocolError> {
    if words.len() > limits.arguments_max {
        let max = limits.arguments_max;
        return Err(ProtocolError::TooManyWords { max });
    }
    if words.iter().any(|word| word.len() > limits.bulk_bytes_max) {
        let max = limits.bulk_bytes_max;
        return Err(ProtocolError::WordTooLong { max });
    }
    Ok(())
}

impl Drop for Feed<'_> {
    fn drop(&mut self) {
        if self.in_place {
            let rest = self.received.get(self.start..).unwrap_or_default();
            if !rest.is_empty() {
                self.inbox.bytes = mem::take(&mut self.words.spare);
                self.inbox.append(rest);
            }
        } else {
            self.inbox.used = self.start;
            self.inbox.settle(&mut self.words.spare);
        }
        self.words.settle();
    }
}
