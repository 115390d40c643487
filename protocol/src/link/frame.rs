//! Frames: what the link sends over a byte stream.
//!
//! ```text
//!   0  u32 length of all that follows
//!   4  u16 block length = 26    u16 template = 1    u16 schema    u16 version
//!  12  u64 session              chosen by the edge, the same for all its connections
//!  20  u64 sequence             data, goodbye: their own number, from 1 without gaps
//!                               heartbeat: the number sent last; others: 0
//!  28  u64 acknowledged         highest contiguous number received from the other side
//!  36  u8 kind   u8 flags       1 first fragment, 2 last fragment
//!  38  u32 payload length
//!  42  payload
//! ```
//!
//! A length is believed only within the bound that the receiver names; nothing is allocated for it
//! before that.

use super::codec::{FormatError, HEADER_BYTES, Head, Parts, Sink};
use super::template;

/// Bytes of a frame around its payload, as we write it.
pub const OVERHEAD_BYTES: usize = 4 + HEADER_BYTES + BLOCK_BYTES + 4;
/// Longest payload of a frame; a longer message goes in fragments. Short enough that one client's
/// huge reply does not keep the others' messages waiting behind one write.
pub const PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Longest frame that is accepted, its length field included: room for fields that a newer minor
/// version appends.
pub const FRAME_BYTES_MAX: usize = OVERHEAD_BYTES + PAYLOAD_BYTES_MAX + 1024;

/// Bytes of the block: session, sequence, acknowledged, kind, flags.
const BLOCK_BYTES: usize = 26;
/// Where the sequence is in a frame that we wrote.
const SEQUENCE_OFFSET: usize = 20;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The edge introduces itself.
    Hello = 1,
    /// The host accepts the edge, or says that it does not know the session.
    HelloAck = 2,
    /// The host's proof and challenge; the edge's answer.
    Challenge = 3,
    /// A message or a fragment of one.
    Data = 4,
    /// Says that the sender lives, what it has received and what it has sent.
    Heartbeat = 5,
    /// The sender will send nothing more, in order behind its data.
    Goodbye = 6,
    /// The sender is about to close the connection; the payload says why.
    Error = 7,
}

impl Kind {
    const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Hello,
            2 => Self::HelloAck,
            3 => Self::Challenge,
            4 => Self::Data,
            5 => Self::Heartbeat,
            6 => Self::Goodbye,
            7 => Self::Error,
            _ => return None,
        })
    }
}

/// Which part of a message a frame carries. Bits of newer versions are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The first fragment of a message.
    pub const FIRST: Self = Self(1);
    /// The last fragment of a message.
    pub const LAST: Self = Self(2);
    /// A whole message.
    pub const WHOLE: Self = Self(3);

    /// The flags of a fragment.
    #[must_use]
    pub const fn new(first: bool, last: bool) -> Self {
        Self(first as u8 | (last as u8) << 1)
    }

    /// Whether a message begins with this frame.
    #[must_use]
    pub const fn is_first(self) -> bool {
        self.0 & Self::FIRST.0 != 0
    }

    /// Whether a message ends with this frame.
    #[must_use]
    pub const fn is_last(self) -> bool {
        self.0 & Self::LAST.0 != 0
    }
}

/// The fixed fields of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session that the frame belongs to.
    pub session: u64,
    /// Its number; see the module for the kinds that have none of their own.
    pub sequence: u64,
    /// Highest contiguous number received from the other side.
    pub acknowledged: u64,
    /// What it is for.
    pub kind: Kind,
    /// Which part of a message it carries.
    pub flags: Flags,
}

impl Header {
    /// The bytes before a payload of `payload` bytes.
    ///
    /// `payload` must be at most [`PAYLOAD_BYTES_MAX`].
    #[inline]
    #[must_use]
    pub fn encode(&self, payload: usize) -> [u8; OVERHEAD_BYTES] {
        debug_assert!(payload <= PAYLOAD_BYTES_MAX);
        let mut bytes = [0; OVERHEAD_BYTES];
        let (prefix, message) = bytes.split_at_mut(4);
        prefix.copy_from_slice(&((OVERHEAD_BYTES - 4 + payload) as u32).to_le_bytes());
        let (head, length) = message.split_at_mut(HEADER_BYTES + BLOCK_BYTES);
        Head::new(template::FRAME)
            .u64(self.session)
            .u64(self.sequence)
            .u64(self.acknowledged)
            .u8(self.kind as u8)
            .u8(self.flags.0)
            .put(&mut super::codec::Slot(head));
        length.copy_from_slice(&(payload as u32).to_le_bytes());
        bytes
    }

    /// Appends a whole frame.
    pub fn put(&self, payload: &[u8], sink: &mut impl Sink) {
        sink.put(&self.encode(payload.len()));
        sink.put(payload);
    }
}

/// A frame, borrowed from where it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its fixed fields.
    pub header: Header,
    /// What it carries.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Decodes one whole frame, its length field included.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are not exactly one frame.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let message = bytes.get(4..).ok_or(FormatError::Truncated)?;
        let mut parts = Parts::new(message)?;
        if parts.template != template::FRAME {
            return Err(FormatError::Template {
                template: parts.template,
            });
        }
        parts.expect_block(BLOCK_BYTES)?;
        let block = &mut parts.block;
        let session = block.u64()?;
        let sequence = block.u64()?;
        let acknowledged = block.u64()?;
        let code = block.u8()?;
        let flags = Flags(block.u8()?);
        let payload = parts.rest.variable()?;
        parts.finish()?;
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(FormatError::TooLong {
                field: "payload",
                max: PAYLOAD_BYTES_MAX,
            });
        }
        let kind = Kind::from_code(code).ok_or(FormatError::Code {
            field: "kind",
            code,
        })?;
        Ok(Self {
            header: Header {
                session,
                sequence,
                acknowledged,
                kind,
                flags,
            },
            payload,
        })
    }
}

/// The length of the frame that `bytes` begin with, its length field included; `None` when there are
/// fewer than four bytes.
///
/// # Errors
/// [`FormatError::FrameLength`] if that is shorter than any frame or longer than `max`.
#[inline]
pub fn length(bytes: &[u8], max: usize) -> Result<Option<usize>, FormatError> {
    let Some(prefix) = bytes.first_chunk() else {
        return Ok(None);
    };
    let length = (u32::from_le_bytes(*prefix) as usize).saturating_add(4);
    if length < OVERHEAD_BYTES || length > max {
        return Err(FormatError::FrameLength { length, max });
    }
    Ok(Some(length))
}

/// Where the payload begins in a whole frame that was decoded.
#[inline]
pub(super) fn payload_offset(frame: &[u8]) -> usize {
    let block = frame.get(4..).and_then(<[u8]>::first_chunk);
    let block = block.map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)));
    4 + HEADER_BYTES + block + 4
}

/// The sequence in a frame that we wrote; 0 if `frame` is shorter than one.
#[inline]
pub(super) fn written_sequence(frame: &[u8]) -> u64 {
    let field = frame.get(SEQUENCE_OFFSET..).and_then(<[u8]>::first_chunk);
    field.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The length of a frame that we wrote, its length field included; 0 if `frame` has no length field.
#[inline]
pub(super) fn written_length(frame: &[u8]) -> usize {
    let field = frame.first_chunk();
    field.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize + 4)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::ProtocolVersion;

    const KINDS: [Kind; 7] = [
        Kind::Hello,
        Kind::HelloAck,
        Kind::Challenge,
        Kind::Data,
        Kind::Heartbeat,
        Kind::Goodbye,
        Kind::Error,
    ];

    fn header() -> impl Strategy<Value = Header> {
        (any::<[u64; 3]>(), 0..KINDS.len(), any::<u8>()).prop_map(|(numbers, kind, flags)| Header {
            session: numbers[0],
            sequence: numbers[1],
            acknowledged: numbers[2],
            kind: KINDS[kind],
            flags: Flags(flags),
        })
    }

    fn encoded(header: &Header, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.put(payload, &mut bytes);
        bytes
    }

    /// The frame as a newer minor version could write it.
    fn appended(frame: &[u8], block: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut bytes = frame.to_vec();
        bytes.splice(38..38, block.iter().copied());
        bytes.extend_from_slice(rest);
        bytes[4..6].copy_from_slice(&(26 + block.len() as u16).to_le_bytes());
        bytes[10..12].copy_from_slice(&(ProtocolVersion::CURRENT.minor + 1).to_le_bytes());
        let length = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(header in header(), payload: Vec<u8>) {
            let bytes = encoded(&header, &payload);
            prop_assert_eq!(length(&bytes, FRAME_BYTES_MAX), Ok(Some(bytes.len())));
            let expected = Frame { header, payload: &payload };
            prop_assert_eq!(Frame::decode(&bytes), Ok(expected));
            prop_assert_eq!(written_sequence(&bytes), header.sequence);
            prop_assert_eq!(written_length(&bytes), bytes.len());
            prop_assert_eq!(&bytes[payload_offset(&bytes)..], &payload[..]);
        }

        #[test]
        fn what_a_newer_version_appends_is_skipped(
            header in header(),
            payload: Vec<u8>,
            block in prop::collection::vec(any::<u8>(), 0..40),
            rest in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let bytes = appended(&encoded(&header, &payload), &block, &rest);
            prop_assert_eq!(Frame::decode(&bytes), Ok(Frame { header, payload: &payload }));
            let offset = payload_offset(&bytes);
            prop_assert_eq!(&bytes[offset..offset + payload.len()], &payload[..]);
        }

        #[test]
        fn a_frame_that_is_cut_or_too_long_is_refused(header in header(), payload: Vec<u8>) {
            let mut bytes = encoded(&header, &payload);
            for end in 0..bytes.len() {
                prop_assert!(Frame::decode(&bytes[..end]).is_err(), "{} bytes", end);
            }
            bytes.push(0);
            let excess = FormatError::TrailingBytes { excess: 1 };
            prop_assert_eq!(Frame::decode(&bytes), Err(excess));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let _ = Frame::decode(&bytes);
            let _ = payload_offset(&bytes);
        }
    }

    #[test]
    fn a_length_outside_the_bound_is_refused_before_the_frame_is_there() {
        for announced in [
            0,
            1,
            OVERHEAD_BYTES - 5,
            FRAME_BYTES_MAX - 3,
            u32::MAX as usize,
        ] {
            let prefix = (announced as u32).to_le_bytes();
            let result = length(&prefix, FRAME_BYTES_MAX);
            assert!(
                matches!(result, Err(FormatError::FrameLength { .. })),
                "{announced}"
            );
        }
        for accepted in [OVERHEAD_BYTES, FRAME_BYTES_MAX] {
            let prefix = (accepted as u32 - 4).to_le_bytes();
            assert_eq!(length(&prefix, FRAME_BYTES_MAX), Ok(Some(accepted)));
        }
        assert_eq!(length(&[255; 3], FRAME_BYTES_MAX), Ok(None));
    }

    #[test]
    fn a_heartbeat_looks_like_this() {
        let header = Header {
            session: 0x0102_0304_0506_0708,
            sequence: 9,
            acknowledged: 10,
            kind: Kind::Heartbeat,
            flags: Flags::WHOLE,
        };
        let expected = [
            38, 0, 0, 0, 26, 0, 1, 0, 0x47, 0x4C, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0,
            0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 5, 3, 0, 0, 0, 0,
        ];
        assert_eq!(header.encode(0), expected);
    }
}
