//! What can be set about a session, and what the owner tells it about itself.

use std::time::Duration;

use crate::link::frame::PAYLOAD_BYTES_MAX;
use crate::link::handshake::Authentication;

/// Smallest window, in bytes; a smaller setting counts as this.
pub const WINDOW_BYTES_MIN: usize = 4 * 1024;

/// The settings of a session. Both ends may differ in all but the key.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the ends prove who they are.
    pub authentication: Authentication,
    /// Most bytes of frames kept until the peer acknowledges them, and the credit of the sender.
    /// Default 16 MiB.
    pub window_bytes: usize,
    /// Most bytes of messages that may wait behind a full window; one message more ends the session.
    /// Default 16 MiB.
    pub backlog_bytes_max: usize,
    /// Longest message, in bytes, in either direction. Default 1 GiB: Redis's bound for one command.
    pub message_bytes_max: usize,
    /// Silence after which the connection counts as broken; zero for never. Default 3 s.
    pub heartbeat_timeout: Duration,
    /// How long a received frame may wait to be acknowledged by a frame that is sent anyway.
    /// Default 20 ms.
    pub acknowledge_delay: Duration,
    /// How long a handshake may take. Default 5 s.
    pub handshake_timeout: Duration,
    /// How long a session lives without a connection. Default 60 s.
    pub resume_timeout: Duration,
}

impl Config {
    /// The defaults.
    #[must_use]
    pub const fn new(authentication: Authentication) -> Self {
        Self {
            authentication,
            window_bytes: 16 * 1024 * 1024,
            backlog_bytes_max: 16 * 1024 * 1024,
            message_bytes_max: 1024 * 1024 * 1024,
            heartbeat_timeout: Duration::from_secs(3),
            acknowledge_delay: Duration::from_millis(20),
            handshake_timeout: Duration::from_secs(5),
            resume_timeout: Duration::from_secs(60),
        }
    }

    /// For the wire, where 0 is never; at least 1 ms otherwise.
    pub(in crate::link) fn heartbeat_timeout_ms(&self) -> u32 {
        if self.heartbeat_timeout.is_zero() {
            return 0;
        }
        let milliseconds = self.heartbeat_timeout.as_millis();
        u32::try_from(milliseconds).unwrap_or(u32::MAX).max(1)
    }

    pub(super) fn window_bytes(&self) -> usize {
        self.window_bytes.max(WINDOW_BYTES_MIN)
    }

    /// A small window must have room for several fragments, or it would stand still between each and
    /// its acknowledgement.
    pub(super) fn fragment_bytes_max(&self) -> usize {
        (self.window_bytes() / 4).min(PAYLOAD_BYTES_MAX)
    }
}

/// What the host tells an edge about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostIdentity {
    /// The same as long as the host process lives; random.
    pub instance: u64,
    /// The host's number of the edge, from 1.
    pub edge_number: u32,
}
