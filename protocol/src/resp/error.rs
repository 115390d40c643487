//! What is wrong with a request, in Redis's words.

use std::error::Error;
use std::fmt;

/// Why a connection must be closed: its bytes are no request, or one beyond a limit.
///
/// `Display` gives what follows `-ERR ` in the reply. Whether the client is told at all says
/// [`reply`](Self::reply).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The line that announces the number of arguments does not end within 64 KiB.
    CountLineTooLong,
    /// The number of arguments is not an integer, or above the limit.
    InvalidCount,
    /// More arguments than a client may send before it has authenticated.
    UnauthenticatedCount,
    /// The line that announces the length of an argument does not end within 64 KiB.
    LengthLineTooLong,
    /// An argument begins with this byte instead of `$`.
    ExpectedDollar(u8),
    /// The length of an argument is not an integer, negative, or above the limit.
    InvalidLength,
    /// A longer argument than a client may send before it has authenticated.
    UnauthenticatedLength,
    /// An inline request whose quotes do not match.
    UnbalancedQuotes,
    /// An inline request that does not end within 64 KiB.
    InlineTooLong,
    /// A request longer than the query buffer may be.
    QueryTooLong,
    /// `POST` or `Host:` as the command: a browser was made to talk to this port.
    CrossProtocol,
}

impl ProtocolError {
    /// What the client is told before the connection closes, for
    /// [`Writer::error`](super::Writer::error); `None` when it is closed without a word, as Redis
    /// does.
    #[must_use]
    pub fn reply(self) -> Option<ErrorReply> {
        match self {
            Self::QueryTooLong | Self::CrossProtocol => None,
            told => Some(ErrorReply(told)),
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::CountLineTooLong => "Protocol error: too big mbulk count string",
            Self::InvalidCount => "Protocol error: invalid multibulk length",
            Self::UnauthenticatedCount => "Protocol error: unauthenticated multibulk length",
            Self::LengthLineTooLong => "Protocol error: too big bulk count string",
            Self::ExpectedDollar(byte) => {
                let got = char::from(byte);
                return write!(formatter, "Protocol error: expected '$', got '{got}'");
            }
            Self::InvalidLength => "Protocol error: invalid bulk length",
            Self::UnauthenticatedLength => "Protocol error: unauthenticated bulk length",
            Self::UnbalancedQuotes => "Protocol error: unbalanced quotes in request",
            Self::InlineTooLong => "Protocol error: too big inline request",
            Self::QueryTooLong => "Protocol error: query buffer limit exceeded",
            Self::CrossProtocol => "Protocol error: POST or Host: as a command",
        };
        formatter.write_str(text)
    }
}

impl Error for ProtocolError {}

/// A [`ProtocolError`] as the text of an error reply: `ERR ` and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorReply(ProtocolError);

impl fmt::Display for ErrorReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ERR {}", self.0)
    }
}
