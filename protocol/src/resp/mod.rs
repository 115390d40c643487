//! RESP2 and RESP3: requests read in place, replies written, replies read back by clients.
//!
//! * [`Inbox`] is what a connection keeps of requests that are not complete. Opened with newly
//!   received bytes it is a [`Feed`] of [`Arguments`], which borrow the received bytes: nothing is
//!   copied unless a request is cut by the end of what was received.
//! * [`Writer`] appends replies to a byte vector in the version that a client speaks.
//! * [`reply`] reads replies: for measuring programs, tests and demonstrations.
//!
//! Requests follow Redis 7.2 byte for byte, its laxness included: the line feed after a count or a
//! length is skipped without a look, a NUL inside such a line hides the rest of it. One thing is
//! stricter: where Redis's answer depends on how the network cut the bytes, ours is the one that
//! Redis gives when they arrive one at a time. Any cut therefore gives the same requests and the
//! same error.

mod arguments;
mod error;
mod inbox;
mod inline;
mod multibulk;
mod number;
mod owned;
pub mod reply;
#[cfg(test)]
mod tests;
mod writer;

pub use arguments::{Arguments, Spans};
pub use error::{ErrorReply, ProtocolError};
pub use inbox::{Feed, Inbox};
pub use number::{format_double, format_integer, parse_integer};
pub use owned::OwnedRequest;
pub use writer::Writer;

use crate::limits;

/// The version of the protocol that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// What every connection starts with.
    #[default]
    Resp2,
    /// Chosen by `HELLO 3`: maps, sets, doubles, pushes.
    Resp3,
}

/// What a client may ask for at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Most arguments of one request, the command's name included. At
    /// [`limits::UNAUTHENTICATED_ARGUMENTS_MAX`] or below, errors tell the client that it asks for
    /// more than it may before it has authenticated.
    pub arguments_max: usize,
    /// Longest argument, in bytes.
    pub bulk_bytes_max: usize,
    /// Longest request in its encoded form, in bytes; never more than 4 GiB.
    pub query_bytes_max: usize,
}

impl Default for RequestLimits {
    /// Redis's limits for an authenticated client.
    fn default() -> Self {
        Self {
            arguments_max: limits::ARGUMENTS_MAX,
            bulk_bytes_max: limits::BULK_BYTES_MAX,
            query_bytes_max: limits::QUERY_BYTES_MAX,
        }
    }
}

impl RequestLimits {
    /// Redis's limits for a client that must authenticate first.
    pub const UNAUTHENTICATED: Self = Self {
        arguments_max: limits::UNAUTHENTICATED_ARGUMENTS_MAX,
        bulk_bytes_max: limits::UNAUTHENTICATED_BULK_BYTES_MAX,
        query_bytes_max: limits::QUERY_BYTES_MAX,
    };

    const fn are_unauthenticated(&self) -> bool {
        self.arguments_max <= limits::UNAUTHENTICATED_ARGUMENTS_MAX
    }

    /// What a number of arguments above the limit is called.
    const fn count_error(&self, count: usize) -> ProtocolError {
        if self.are_unauthenticated() && count <= limits::ARGUMENTS_MAX {
            ProtocolError::UnauthenticatedCount
        } else {
            ProtocolError::InvalidCount
        }
    }

    /// What a length of an argument above the limit is called.
    const fn length_error(&self, length: usize) -> ProtocolError {
        if self.are_unauthenticated() && length <= limits::BULK_BYTES_MAX {
            ProtocolError::UnauthenticatedLength
        } else {
            ProtocolError::InvalidLength
        }
    }
}

/// Whether a command can only be meant for a web server.
fn is_cross_protocol(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}
