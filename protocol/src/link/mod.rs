//! The link between an edge and the host: one session that outlives the connections carrying it.
//!
//! * [`frame`]: what goes over a byte stream. Every frame names the session, its own number and the
//!   number up to which the other side has been heard.
//! * [`message`]: what the payload of the data frames says.
//! * [`handshake`]: how the two prove to each other that they hold the same key, and agree on where
//!   to go on.
//! * [`session`]: numbering, acknowledgement, replay, heartbeats and the end.
//!
//! Everything on the wire is SBE, little-endian, under one schema id. Template ids are listed in
//! [`template`] and never used for anything else. A field is only ever appended to a block, a
//! variable part only after the last one: whoever decodes skips what it does not know.

mod codec;
mod error;
pub mod frame;
pub mod handshake;
pub mod message;
pub mod session;

pub use codec::{FormatError, Sink};
pub use error::{LinkError, Loss, SendError};

use std::fmt;

/// The SBE schema id of all that travels on the link; `GL` when seen as text.
pub const SCHEMA_ID: u16 = 0x4C47;

/// The template ids of the link. An id that is retired stays retired.
pub mod template {
    /// The frame itself.
    pub const FRAME: u16 = 1;
    /// Payload of a hello frame.
    pub const HELLO: u16 = 2;
    /// Payload of a challenge frame from the host.
    pub const CHALLENGE: u16 = 3;
    /// Payload of a challenge frame from the edge.
    pub const CHALLENGE_ANSWER: u16 = 4;
    /// Payload of a hello-ack frame.
    pub const HELLO_ACK: u16 = 5;
    /// Payload of an error frame.
    pub const ERROR: u16 = 6;

    /// Edge to host: how many subscriptions a name has on the edge.
    pub const INTEREST: u16 = 16;
    /// Edge to host: a statement of the whole interest begins.
    pub const INTEREST_BEGIN: u16 = 17;
    /// Edge to host: it is complete.
    pub const INTEREST_END: u16 = 18;
    /// Edge to host: a publication.
    pub const PUBLICATION: u16 = 19;
    /// Edge to host: a client whose commands will be passed through.
    pub const CLIENT_OPEN: u16 = 20;
    /// Edge to host: a command that is passed through.
    pub const CLIENT_COMMAND: u16 = 21;
    /// Edge to host: the client is gone.
    pub const CLIENT_CLOSE: u16 = 22;
    /// Edge to host: figures about the edge.
    pub const STATISTICS: u16 = 23;

    /// Host to edge: an interest counts from now on.
    pub const INTEREST_CONFIRMED: u16 = 48;
    /// Host to edge: the outcome of a publication.
    pub const PUBLICATION_RESULT: u16 = 49;
    /// Host to edge: a publication for the edge's subscribers.
    pub const DELIVERY: u16 = 50;
    /// Host to edge: bytes for a client.
    pub const CLIENT_REPLY: u16 = 51;
    /// Host to edge: the host has closed a client.
    pub const CLIENT_CLOSED: u16 = 52;
    /// Host to edge: a user's rights.
    pub const RIGHTS: u16 = 53;
    /// Host to edge: a statement of all users' rights begins.
    pub const RIGHTS_BEGIN: u16 = 54;
    /// Host to edge: it is complete.
    pub const RIGHTS_END: u16 = 55;
    /// Host to edge: a user is gone.
    pub const RIGHTS_GONE: u16 = 56;
}

/// One end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Dials, and chooses the session.
    Edge,
    /// Accepts, and has the last word.
    Host,
}

impl Role {
    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Edge => Self::Host,
            Self::Host => Self::Edge,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edge => "edge",
            Self::Host => "host",
        })
    }
}

/// A version of the link's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProtocolVersion {
    /// Changes when the two can no longer understand each other.
    pub major: u16,
    /// Changes when something was appended; also the SBE schema version.
    pub minor: u16,
}

impl ProtocolVersion {
    /// What this build speaks.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };

    /// Whether the two work together: the same major version, and minor versions that differ by one
    /// at most.
    #[must_use]
    pub const fn works_with(self, other: Self) -> bool {
        self.major == other.major && self.minor.abs_diff(other.minor) <= 1
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
