//! The parts that every SBE message on the link is made of.
//!
//! ```text
//!  0        2           4         6        8
//!  +--------+-----------+---------+--------+---------------------+-------------------------+
//!  | block  | template  | schema  | version| block: fixed fields | variable parts, each    |
//!  | length | id        | id      |        | of `block length`   | u32 length and bytes    |
//!  +--------+-----------+---------+--------+---------------------+-------------------------+
//! ```
//!
//! A block longer than the fields we know is from a newer minor version: the rest is skipped. So
//! are variable parts behind the last one we know, if the version says that there can be some.

use std::fmt;

use super::{ProtocolVersion, SCHEMA_ID};

/// Bytes of an SBE message header.
pub(super) const HEADER_BYTES: usize = 8;

/// Longest header and block of any message that we write.
const HEAD_BYTES_MAX: usize = 112;

/// Why bytes from the peer are not what they must be. All of these are the peer's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The message ends before its block or one of its variable parts does.
    Truncated,
    /// The message goes on behind its last part.
    TrailingBytes {
        /// How many bytes too many.
        excess: usize,
    },
    /// A frame announces a length outside what its kind may have.
    FrameLength {
        /// What it announces.
        length: usize,
        /// The most that is accepted at this point.
        max: usize,
    },
    /// Another schema id than the link's.
    Schema {
        /// The id found.
        schema: u16,
    },
    /// A template id that has no meaning here.
    Template {
        /// The id found.
        template: u16,
    },
    /// A block shorter than the first version of the template had.
    Block {
        /// The template.
        template: u16,
        /// The block's length.
        length: u16,
    },
    /// A code outside those of its field.
    Code {
        /// The field.
        field: &'static str,
        /// The code found.
        code: u8,
    },
    /// A field that must be UTF-8 and is not.
    Text {
        /// The field.
        field: &'static str,
    },
    /// A field that is longer, or a list that has more entries, than is accepted.
    TooLong {
        /// The field.
        field: &'static str,
        /// The most that is accepted.
        max: usize,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("a message ends before its last part"),
            Self::TrailingBytes { excess } => {
                write!(f, "a message has {excess} bytes behind its last part")
            }
            Self::FrameLength { length, max } => write!(
                f,
                "a frame announces {length} bytes, which is too short for a frame or over {max}"
            ),
            Self::Schema { schema } => write!(f, "schema id {schema} is not {SCHEMA_ID}"),
            Self::Template { template } => write!(f, "template id {template} has no meaning here"),
            Self::Block { template, length } => write!(
                f,
                "a block of {length} bytes is too short for template {template}"
            ),
            Self::Code { field, code } => write!(f, "{code} is no code of field {field}"),
            Self::Text { field } => write!(f, "field {field} is not UTF-8"),
            Self::TooLong { field, max } => write!(f, "field {field} is over {max}"),
        }
    }
}

impl std::error::Error for FormatError {}

/// Where encoded bytes go, piece by piece.
pub trait Sink {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Measures an encoding.
#[derive(Default)]
pub(super) struct Length(pub(super) usize);

impl Sink for Length {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// Fills a place whose size was measured before.
pub(super) struct Slot<'a>(pub(super) &'a mut [u8]);

impl Sink for Slot<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let place = std::mem::take(&mut self.0);
        let (now, later) = place.split_at_mut(bytes.len());
        now.copy_from_slice(bytes);
        self.0 = later;
    }
}

/// Appends a variable part. One of 4 GiB or more would not fit its length; a session refuses such a
/// message before it encodes it.
#[inline]
pub(super) fn put_variable(sink: &mut impl Sink, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    sink.put(&length.to_le_bytes());
    sink.put(bytes);
}

/// A message's header and block under construction.
pub(super) struct Head {
    bytes: [u8; HEAD_BYTES_MAX],
    length: usize,
}

impl Head {
    #[inline]
    pub(super) fn new(template: u16) -> Self {
        let head = Self {
            bytes: [0; HEAD_BYTES_MAX],
            length: 0,
        };
        head.u16(0)
            .u16(template)
            .u16(SCHEMA_ID)
            .u16(ProtocolVersion::CURRENT.minor)
    }

    #[inline]
    pub(super) fn bytes<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.bytes[self.length..self.length + N].copy_from_slice(&bytes);
        self.length += N;
        self
    }

    #[inline]
    pub(super) fn u8(self, value: u8) -> Self {
        self.bytes([value])
    }

    #[inline]
    pub(super) fn u16(self, value: u16) -> Self {
        self.bytes(value.to_le_bytes())
    }

    #[inline]
    pub(super) fn u32(self, value: u32) -> Self {
        self.bytes(value.to_le_bytes())
    }

    #[inline]
    pub(super) fn u64(self, value: u64) -> Self {
        self.bytes(value.to_le_bytes())
    }

    /// Completes the block length and appends all of it.
    #[inline]
    pub(super) fn put(mut self, sink: &mut impl Sink) {
        let block = (self.length - HEADER_BYTES) as u16;
        self.bytes[..2].copy_from_slice(&block.to_le_bytes());
        sink.put(&self.bytes[..self.length]);
    }
}

/// Takes bytes from the front; refuses to take what is not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (now, later) = self.0.split_first_chunk().ok_or(FormatError::Truncated)?;
        self.0 = later;
        Ok(*now)
    }

    #[inline]
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], FormatError> {
        let (now, later) = self
            .0
            .split_at_checked(length)
            .ok_or(FormatError::Truncated)?;
        self.0 = later;
        Ok(now)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, FormatError> {
        self.array().map(u8::from_le_bytes)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, FormatError> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A variable part.
    #[inline]
    pub(super) fn variable(&mut self) -> Result<&'a [u8], FormatError> {
        let length = self.u32()? as usize;
        self.bytes(length)
    }

    /// A variable part that is UTF-8.
    pub(super) fn text(&mut self, field: &'static str) -> Result<&'a str, FormatError> {
        let bytes = self.variable()?;
        std::str::from_utf8(bytes).map_err(|_| FormatError::Text { field })
    }
}

/// A message taken apart: which, the fixed fields, the variable parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) template: u16,
    version: u16,
    pub(super) block: Reader<'a>,
    pub(super) rest: Reader<'a>,
}

impl<'a> Parts<'a> {
    /// Reads a message's header.
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut reader = Reader(bytes);
        let length = reader.u16()?;
        let template = reader.u16()?;
        let schema = reader.u16()?;
        let version = reader.u16()?;
        if schema != SCHEMA_ID {
            return Err(FormatError::Schema { schema });
        }
        Ok(Self {
            template,
            version,
            block: Reader(reader.bytes(usize::from(length))?),
            rest: reader,
        })
    }

    /// Checks that the block has the `length` bytes that the first version of the template had.
    #[inline]
    pub(super) fn expect_block(&self, length: usize) -> Result<(), FormatError> {
        if self.block.0.len() < length {
            return Err(FormatError::Block {
                template: self.template,
                length: self.block.0.len() as u16,
            });
        }
        Ok(())
    }

    /// Checks, when all known parts were read, that nothing is left that a newer version would not
    /// explain.
    #[inline]
    pub(super) fn finish(&self) -> Result<(), FormatError> {
        let excess = self.rest.0.len();
        let is_newer = self.version > ProtocolVersion::CURRENT.minor;
        if excess > 0 && !is_newer {
            return Err(FormatError::TrailingBytes { excess });
        }
        Ok(())
    }
}
