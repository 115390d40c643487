//! What can go wrong on a link: with a connection, with the whole session, with one message.

use std::fmt;
use std::time::Duration;

use super::codec::FormatError;
use super::{ProtocolVersion, Role, frame};

/// Why a connection must be closed. Unless it is [`Lost`](Self::Lost) the session can resume on
/// another connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The peer sent something that is no frame, or no handshake message.
    Format(FormatError),
    /// The peer sent a frame of a kind that has no place at this point.
    Unexpected {
        /// Its kind.
        kind: frame::Kind,
    },
    /// The peer sent a frame of another session.
    WrongSession {
        /// Ours.
        expected: u64,
        /// The frame's.
        received: u64,
    },
    /// Frames are missing, which cannot happen on a stream that works.
    Gap {
        /// The number that was due.
        expected: u64,
        /// The number that came, or that a heartbeat says was sent.
        received: u64,
    },
    /// The two versions do not work together.
    Version {
        /// Ours.
        ours: ProtocolVersion,
        /// The peer's.
        theirs: ProtocolVersion,
    },
    /// The peer holds another key than we do.
    WrongProof {
        /// Which end the peer is.
        peer: Role,
    },
    /// We have a key and the host went on without proving that it has it too.
    ProofMissing,
    /// The host asks for a proof and we have no key.
    KeyMissing,
    /// The peer sent more during the handshake than it can need.
    HandshakeTooLong {
        /// The bound, in bytes.
        bytes_max: usize,
    },
    /// The handshake took too long.
    HandshakeTimeout {
        /// The bound.
        after: Duration,
    },
    /// Nothing was heard from the peer, not even a heartbeat.
    Silence {
        /// The bound.
        after: Duration,
    },
    /// The peer closes the connection and says why. The text is the peer's.
    Peer {
        /// At most [`handshake::TEXT_BYTES_MAX`](super::handshake::TEXT_BYTES_MAX) bytes.
        text: Box<str>,
    },
    /// The session has ended; nobody can know what of it arrived.
    Lost(Loss),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => write!(f, "malformed frame: {error}"),
            Self::Unexpected { kind } => write!(f, "unexpected {kind:?} frame"),
            Self::WrongSession { expected, received } => {
                write!(
                    f,
                    "frame of session {received:016x} on session {expected:016x}"
                )
            }
            Self::Gap { expected, received } => {
                write!(f, "frame {expected} is missing: {received} came")
            }
            Self::Version { ours, theirs } => write!(
                f,
                "protocol version {theirs} of the peer does not work with {ours} of this end"
            ),
            Self::WrongProof { peer } => {
                write!(f, "not authentic: the {peer} does not hold the same key")
            }
            Self::ProofMissing => {
                f.write_str("not authentic: the host did not prove that it holds the key")
            }
            Self::KeyMissing => f.write_str("the host demands a key and none is configured"),
            Self::HandshakeTooLong { bytes_max } => {
                write!(
                    f,
                    "more than {bytes_max} bytes before the handshake was complete"
                )
            }
            Self::HandshakeTimeout { after } => {
                write!(f, "the handshake was not complete after {after:?}")
            }
            Self::Silence { after } => write!(f, "nothing heard for {after:?}"),
            Self::Peer { text } => write!(f, "the peer says: {text}"),
            Self::Lost(loss) => write!(f, "session lost: {loss}"),
        }
    }
}

impl std::error::Error for LinkError {}

impl From<FormatError> for LinkError {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

impl From<Loss> for LinkError {
    fn from(loss: Loss) -> Self {
        Self::Lost(loss)
    }
}

/// Why a session has ended without a goodbye.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The host does not know the session: it restarted, or gave the session up.
    Unknown,
    /// The peer lacks frames that are not kept any more.
    Unreplayable {
        /// The first number that the peer lacks.
        wanted: u64,
        /// The first number that is kept.
        oldest: u64,
    },
    /// The peer acknowledged what was never sent.
    NeverSent {
        /// The number it acknowledged.
        acknowledged: u64,
        /// The number sent last.
        last: u64,
    },
    /// There was no connection for too long.
    ResumeTimeout {
        /// The bound.
        after: Duration,
    },
    /// The peer does not take what is sent to it, or there was no connection: more is waiting behind
    /// a full window than may.
    BacklogFull {
        /// The bound, in bytes.
        bytes_max: usize,
    },
    /// The peer sent a message that cannot be understood. It has a number, so it cannot be skipped.
    Message(FormatError),
    /// The peer sent a message that only the other end sends.
    WrongDirection,
    /// A fragment does not belong to the message that was begun.
    FragmentOrder,
    /// The peer sent a message that is longer than is accepted.
    MessageTooLong {
        /// The bound, in bytes.
        bytes_max: usize,
    },
    /// The owner gave the session up.
    Abandoned,
    /// The peer gave the session up and says why. The text is the peer's.
    ByPeer {
        /// At most [`handshake::TEXT_BYTES_MAX`](super::handshake::TEXT_BYTES_MAX) bytes.
        text: Box<str>,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the host does not know it"),
            Self::Unreplayable { wanted, oldest } => {
                write!(f, "frame {wanted} is wanted, the oldest kept is {oldest}")
            }
            Self::NeverSent { acknowledged, last } => {
                write!(
                    f,
                    "frame {acknowledged} is acknowledged, the last sent is {last}"
                )
            }
            Self::ResumeTimeout { after } => write!(f, "no connection for {after:?}"),
            Self::BacklogFull { bytes_max } => {
                write!(f, "more than {bytes_max} bytes wait behind the full window")
            }
            Self::Message(error) => write!(f, "malformed message: {error}"),
            Self::WrongDirection => f.write_str("a message that only the other end sends"),
            Self::FragmentOrder => f.write_str("a fragment without its message"),
            Self::MessageTooLong { bytes_max } => {
                write!(f, "a message of more than {bytes_max} bytes")
            }
            Self::Abandoned => f.write_str("given up"),
            Self::ByPeer { text } => write!(f, "the peer says: {text}"),
        }
    }
}

/// Why a message was not accepted for sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// It is longer than the peer accepts; nothing else is affected.
    TooLong {
        /// The bound, in bytes.
        bytes_max: usize,
    },
    /// Goodbye was said, by one end or the other.
    Closing,
    /// The session has ended, possibly by this very call.
    Lost(Loss),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes_max } => write!(f, "a message of more than {bytes_max} bytes"),
            Self::Closing => f.write_str("goodbye was said"),
            Self::Lost(loss) => write!(f, "session lost: {loss}"),
        }
    }
}

impl std::error::Error for SendError {}
