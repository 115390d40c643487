//! How edge and host come to trust each other and agree on where to go on.
//!
//! ```text
//!  edge                                                        host
//!   | hello: nonce, version, features, name, last received      |
//!   |----------------------------------------------------------->|
//!   |            challenge: nonce, proof that the host has the key|
//!   |<-----------------------------------------------------------|
//!   | challenge: proof that the edge has the key                 |
//!   |----------------------------------------------------------->|
//!   |            hello-ack: fresh, resumed or lost; last received |
//!   |<-----------------------------------------------------------|
//! ```
//!
//! A proof is `HMAC-SHA-256(key, role ‖ edge nonce ‖ host nonce ‖ session)`, the role being the four
//! letters `edge` or `host`: it is good for one end of one connection. The edge says nothing more
//! before it has checked the host. Without authentication the two challenges are left out.
//!
//! The host's side of this is a [`HostHandshake`], because the session is not known before it is
//! over; the edge's side is a part of its [`Session`](super::session::Session).

mod host;
mod messages;
mod proof;
#[cfg(test)]
mod tests;

pub(super) use host::hello_ack;
pub use host::{Authenticated, HostHandshake};
pub(super) use messages::{Challenge, ChallengeAnswer, ErrorText, Hello, HelloAck, cut};
pub use messages::{NAME_BYTES_MAX, Outcome, TEXT_BYTES_MAX};
pub use proof::{Authentication, Key, Nonce};
pub(super) use proof::{is_proof, proof};

/// Most bytes that a peer may send before the handshake is complete: what an unauthenticated peer
/// can make us keep.
pub const HANDSHAKE_BYTES_MAX: usize = 4 * 1024;
/// Longest frame during a handshake.
pub const HANDSHAKE_FRAME_BYTES_MAX: usize = 1024;

const _: () = assert!(2 * HANDSHAKE_FRAME_BYTES_MAX <= HANDSHAKE_BYTES_MAX);
const _: () =
    assert!(super::frame::OVERHEAD_BYTES + 96 + NAME_BYTES_MAX <= HANDSHAKE_FRAME_BYTES_MAX);
const _: () =
    assert!(super::frame::OVERHEAD_BYTES + 96 + TEXT_BYTES_MAX <= HANDSHAKE_FRAME_BYTES_MAX);

/// Capabilities beyond the protocol's version, one bit each. None exists yet; what the peer announces
/// is handed to the owner.
pub const FEATURES: u64 = 0;
