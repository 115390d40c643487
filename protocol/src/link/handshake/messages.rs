//! The payloads of hello, challenge, hello-ack and error frames.

use crate::link::codec::{FormatError, Head, Parts, Sink, put_variable};
use crate::link::error::LinkError;
use crate::link::{ProtocolVersion, template};

use super::Nonce;

/// Longest name of an edge, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// Longest text of an error frame, in bytes.
pub const TEXT_BYTES_MAX: usize = 400;

/// The edge introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct Hello<'a> {
    pub(in crate::link) version: ProtocolVersion,
    pub(in crate::link) features: u64,
    pub(in crate::link) nonce: Nonce,
    /// The session that the edge had before this one and has lost; 0 for none.
    pub(in crate::link) previous: u64,
    pub(in crate::link) window_bytes: u64,
    /// 0: the edge does not wait for heartbeats.
    pub(in crate::link) heartbeat_timeout_ms: u32,
    /// The session was never accepted on any connection, as far as the edge knows.
    pub(in crate::link) fresh: bool,
    pub(in crate::link) name: &'a str,
}

impl<'a> Hello<'a> {
    pub(in crate::link) fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::HELLO)
            .u16(self.version.major)
            .u16(self.version.minor)
            .u64(self.features)
            .bytes(self.nonce.0)
            .u64(self.previous)
            .u64(self.window_bytes)
            .u32(self.heartbeat_timeout_ms)
            .u8(u8::from(self.fresh))
            .put(sink);
        put_variable(sink, self.name.as_bytes());
    }

    pub(in crate::link) fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut parts = open(bytes, template::HELLO, 65)?;
        let block = &mut parts.block;
        let hello = Self {
            version: ProtocolVersion {
                major: block.u16()?,
                minor: block.u16()?,
            },
            features: block.u64()?,
            nonce: Nonce(block.array()?),
            previous: block.u64()?,
            window_bytes: block.u64()?,
            heartbeat_timeout_ms: block.u32()?,
            fresh: block.u8()? != 0,
            name: parts.rest.text("name")?,
        };
        parts.finish()?;
        check_length("name", hello.name, NAME_BYTES_MAX)?;
        Ok(hello)
    }
}

/// The host proves itself and asks the edge to do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct Challenge {
    pub(in crate::link) nonce: Nonce,
    pub(in crate::link) proof: [u8; 32],
}

impl Challenge {
    pub(in crate::link) fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::CHALLENGE)
            .bytes(self.nonce.0)
            .bytes(self.proof)
            .put(sink);
    }

    pub(in crate::link) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut parts = open(bytes, template::CHALLENGE, 64)?;
        parts.finish()?;
        Ok(Self {
            nonce: Nonce(parts.block.array()?),
            proof: parts.block.array()?,
        })
    }
}

/// The edge proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct ChallengeAnswer {
    pub(in crate::link) proof: [u8; 32],
}

impl ChallengeAnswer {
    pub(in crate::link) fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::CHALLENGE_ANSWER)
            .bytes(self.proof)
            .put(sink);
    }

    pub(in crate::link) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut parts = open(bytes, template::CHALLENGE_ANSWER, 32)?;
        parts.finish()?;
        Ok(Self {
            proof: parts.block.array()?,
        })
    }
}

/// What the host makes of the session that the edge named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It begins.
    Fresh,
    /// It goes on.
    Resumed,
    /// The host does not know it; the edge must begin another.
    Lost,
}

/// The host accepts the edge, or tells it that its session is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct HelloAck {
    pub(in crate::link) version: ProtocolVersion,
    pub(in crate::link) features: u64,
    /// The same as long as the host process lives.
    pub(in crate::link) instance: u64,
    pub(in crate::link) window_bytes: u64,
    /// 0: the host does not wait for heartbeats.
    pub(in crate::link) heartbeat_timeout_ms: u32,
    pub(in crate::link) edge_number: u32,
    pub(in crate::link) outcome: Outcome,
}

impl HelloAck {
    pub(in crate::link) fn encode_into(&self, sink: &mut impl Sink) {
        let outcome = match self.outcome {
            Outcome::Fresh => 0,
            Outcome::Resumed => 1,
            Outcome::Lost => 2,
        };
        Head::new(template::HELLO_ACK)
            .u16(self.version.major)
            .u16(self.version.minor)
            .u64(self.features)
            .u64(self.instance)
            .u64(self.window_bytes)
            .u32(self.heartbeat_timeout_ms)
            .u32(self.edge_number)
            .u8(outcome)
            .put(sink);
    }

    pub(in crate::link) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut parts = open(bytes, template::HELLO_ACK, 37)?;
        parts.finish()?;
        let block = &mut parts.block;
        Ok(Self {
            version: ProtocolVersion {
                major: block.u16()?,
                minor: block.u16()?,
            },
            features: block.u64()?,
            instance: block.u64()?,
            window_bytes: block.u64()?,
            heartbeat_timeout_ms: block.u32()?,
            edge_number: block.u32()?,
            outcome: match block.u8()? {
                0 => Outcome::Fresh,
                1 => Outcome::Resumed,
                2 => Outcome::Lost,
                code => {
                    return Err(FormatError::Code {
                        field: "outcome",
                        code,
                    });
                }
            },
        })
    }
}

/// Why the sender closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) struct ErrorText<'a> {
    /// The sender has given the session up.
    pub(in crate::link) lost: bool,
    pub(in crate::link) text: &'a str,
}

impl<'a> ErrorText<'a> {
    /// Appends the text of `error`, cut to the bound.
    pub(in crate::link) fn encode_error(error: &LinkError, sink: &mut impl Sink) {
        let text = error.to_string();
        let error = ErrorText {
            lost: matches!(error, LinkError::Lost(_)),
            text: cut(&text, TEXT_BYTES_MAX),
        };
        error.encode_into(sink);
    }

    pub(in crate::link) fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::ERROR).u8(u8::from(self.lost)).put(sink);
        put_variable(sink, self.text.as_bytes());
    }

    pub(in crate::link) fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut parts = open(bytes, template::ERROR, 1)?;
        let error = Self {
            lost: parts.block.u8()? != 0,
            text: parts.rest.text("text")?,
        };
        parts.finish()?;
        check_length("text", error.text, TEXT_BYTES_MAX)?;
        Ok(error)
    }
}

fn open(bytes: &[u8], template: u16, block: usize) -> Result<Parts<'_>, FormatError> {
    let parts = Parts::new(bytes)?;
    if parts.template != template {
        return Err(FormatError::Template {
            template: parts.template,
        });
    }
    parts.expect_block(block)?;
    Ok(parts)
}

fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), FormatError> {
    if text.len() > max {
        return Err(FormatError::TooLong { field, max });
    }
    Ok(())
}

/// The longest beginning of `text` that has at most `max` bytes.
pub(in crate::link) fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
