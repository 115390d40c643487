//! SBE: the binary format that a client may speak instead of RESP.
//!
//! The schema, `protocol/schema/goblin.xml`, is the source of everything in [`messages`], which the
//! build generates; [`wire`] is what it is generated from. `docs/sbe.md` is for those who write clients.
//!
//! # How a core serves such a client
//!
//! Commands are executed as those of a RESP3 client are; only the ends of the connection differ.
//!
//! ```text
//!            Preamble                Inbox, Feed                        put_reply
//!  received ────┬──── GOBLINS! ────► frames ──► Request ──► words ──► core ──► RESP3 ──► frames
//!               └──── else ────────► resp::Inbox ─────────► Arguments ─┘  └──► RESP
//! ```
//!
//! * A connection for which SBE is enabled starts as a [`Preamble`]. When that decides for RESP, what
//!   it withheld and the rest go to `resp::Inbox`; without SBE there is no preamble at all.
//! * [`Feed`] yields [`Arguments`](crate::resp::Arguments) as `resp::Feed` does, so lookup, arity,
//!   rights, queueing in `MULTI` and execution stay what they are. A template that we do not know is
//!   a failed command, not the end of the connection.
//! * The core writes replies in [`Version::Resp3`](crate::resp::Version). Where a reply is complete,
//!   [`put_reply`] turns it into frames behind the client's output; the host does so for its own
//!   clients and the edge for its own, so nothing on the link changes.
//! * What is sent to many is encoded once as a frame: [`put_framed`] of a
//!   [`MessagePush`](messages::MessagePush) and its like, a third encoding beside those of RESP.
//! * A [`ProtocolError`] is answered by an [`ErrorReply`](messages::ErrorReply) before the connection
//!   is closed.

mod framing;
mod preamble;
mod replies;
mod requests;
#[cfg(test)]
mod tests;
pub mod wire;

pub use framing::{Feed, Inbox, ProtocolError, Received};
pub use preamble::{PREAMBLE, Preamble, Protocol};
pub use replies::{ReplyError, put_reply};
pub use requests::Words;
pub use wire::{Encode, Group, Message};

/// The messages of the schema, generated from it.
pub mod messages {
    use super::wire;
    use crate::link::{FormatError, Sink};

    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// A message of 4 GiB or more, which no frame can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong;

impl std::fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message of 4 GiB or more does not fit into a frame")
    }
}

impl std::error::Error for FrameTooLong {}

/// Appends a frame: `u32` length and message.
///
/// # Errors
/// The message is too long; `out` is as it was.
#[inline]
pub fn put_framed(message: &impl Encode, out: &mut Vec<u8>) -> Result<(), FrameTooLong> {
    let start = begin_frame(out);
    message.write(out);
    end_frame(start, out)
}

/// Makes room for a frame's length, and returns where.
#[inline]
fn begin_frame(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Sets the length of the frame that began at `start` and goes to the end of `out`.
#[inline]
fn end_frame(start: usize, out: &mut Vec<u8>) -> Result<(), FrameTooLong> {
    let Ok(length) = u32::try_from(out.len() - start - 4) else {
        out.truncate(start);
        return Err(FrameTooLong);
    };
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    Ok(())
}
