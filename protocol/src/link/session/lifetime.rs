//! The states of a session and what moves it from one to the next.

use std::io::IoSlice;

use crate::link::error::{LinkError, Loss};
use crate::link::frame::{Flags, Header, Kind};
use crate::link::handshake::{
    Authentication, ErrorText, FEATURES, Hello, NAME_BYTES_MAX, Nonce, cut,
};
use crate::link::{ProtocolVersion, Role};
use crate::time::{Now, Time};

use super::sending::Sending;
use super::{Receiving, Session};

/// What the session waits for.
#[derive(Debug)]
pub(super) enum State {
    /// A connection.
    Disconnected,
    /// The host's part of the handshake, at the edge.
    Handshaking(Handshaking),
    /// Nothing; it works.
    Connected,
    /// The owner to close the connection. Then the session is lost, or waits for another connection.
    Breaking {
        loss: Option<Loss>,
        /// What is left of a frame that is handed over in part: the parting frame goes behind it.
        window_bytes: usize,
        parting: Control,
    },
    /// The owner to restart it or let go of it.
    Lost(Loss),
    /// The owner to let go of it.
    Closed,
}

/// The edge's side of a handshake.
#[derive(Debug)]
pub(super) struct Handshaking {
    pub(super) nonce: Nonce,
    pub(super) deadline: Time,
    /// The host is who it must be: it proved itself, or nothing has to be proved.
    pub(super) host_is_known: bool,
}

/// Whole frames that are sent once, and not again on another connection.
#[derive(Debug, Default)]
pub(super) struct Control {
    bytes: Vec<u8>,
    written: usize,
}

impl Control {
    pub(super) const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            written: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    pub(super) fn put(&mut self, session: u64, kind: Kind, acknowledged: u64, payload: &[u8]) {
        let header = Header {
            session,
            sequence: 0,
            acknowledged,
            kind,
            flags: Flags::WHOLE,
        };
        header.put(payload, &mut self.bytes);
    }

    pub(super) fn has_output(&self) -> bool {
        self.written < self.bytes.len()
    }

    pub(super) fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let waiting = self.bytes.get(self.written..).unwrap_or_default();
        match slices.first_mut() {
            Some(slice) if !waiting.is_empty() => {
                *slice = IoSlice::new(waiting);
                1
            }
            _ => 0,
        }
    }

    /// The next `bytes` bytes were handed over; yields how many of them were not from here.
    pub(super) fn consume(&mut self, bytes: usize) -> usize {
        let ours = bytes.min(self.bytes.len() - self.written);
        self.written += ours;
        bytes - ours
    }
}

impl Session {
    /// At the edge: a connection to the host is there. `nonce` must be random and new. A connection
    /// that was there before counts as gone.
    pub fn handle_connected(&mut self, now: Now, nonce: Nonce) {
        debug_assert_eq!(self.role, Role::Edge);
        self.handle_disconnected(now);
        if !matches!(self.state, State::Disconnected) {
            return;
        }
        self.connection += 1;
        self.state = State::Handshaking(Handshaking {
            nonce,
            deadline: now.monotonic + self.config.handshake_timeout,
            host_is_known: matches!(self.config.authentication, Authentication::Off),
        });
        let hello = Hello {
            version: ProtocolVersion::CURRENT,
            features: FEATURES,
            nonce,
            previous: self.previous,
            window_bytes: self.config.window_bytes() as u64,
            heartbeat_timeout_ms: self.config.heartbeat_timeout_ms(),
            fresh: !self.established,
            name: cut(&self.name, NAME_BYTES_MAX),
        };
        let mut payload = Vec::new();
        hello.encode_into(&mut payload);
        self.control
            .put(self.id, Kind::Hello, self.receiving.last, &payload);
    }

    /// The connection is gone, or was closed. The session waits for another one, unless it was lost or
    /// goodbye was said. Calling it without a connection does nothing.
    pub fn handle_disconnected(&mut self, now: Now) {
        if !self.has_connection() {
            return;
        }
        let loss = match std::mem::replace(&mut self.state, State::Disconnected) {
            State::Breaking { loss, .. } => loss,
            _ => None,
        };
        self.control.clear();
        self.receiving.inbox.forget_partial();
        if let Some(loss) = loss {
            self.state = State::Lost(loss);
        } else if self.receiving.goodbye || self.is_drained() {
            self.state = State::Closed;
        } else if self.established {
            self.timing.note_down(now.monotonic);
        }
    }

    /// At the edge, after a loss: begins a new session. `id` must be random and not 0. Whatever the
    /// lost session still had to say is gone.
    pub fn restart(&mut self, id: u64) {
        debug_assert_eq!(self.role, Role::Edge);
        let frames = self.sending.frames;
        self.previous = self.id;
        self.id = id;
        self.established = false;
        self.state = State::Disconnected;
        self.control.clear();
        self.sending = Sending::new(&self.config, id);
        self.sending.frames = frames;
        self.receiving = Receiving::default();
        self.timing.forget_down();
        // An input of the lost session that is still open must not give its inbox back.
        self.connection += 1;
    }

    /// Gives the session up; the peer is told if there is a connection.
    pub fn abandon(&mut self) {
        if self.loss().is_none() && !self.is_closed() {
            self.fail(&LinkError::Lost(Loss::Abandoned));
        }
    }

    /// Ends the connection, and the session if that is what `error` says.
    pub(super) fn fail(&mut self, error: &LinkError) {
        let loss = match error {
            LinkError::Lost(loss) => Some(loss.clone()),
            _ => None,
        };
        if loss.is_some() && self.loss().is_none() {
            self.counters.losses += 1;
        }
        match &mut self.state {
            State::Handshaking(_) | State::Connected => {
                let window_bytes = match self.state {
                    State::Connected => self.sending.window.rest_of_partial(),
                    _ => 0,
                };
                self.state = State::Breaking {
                    loss,
                    window_bytes,
                    parting: self.parting_words(error),
                };
            }
            State::Breaking { loss: known, .. } => {
                if known.is_none() {
                    *known = loss;
                }
            }
            State::Disconnected => {
                if let Some(loss) = loss {
                    self.state = State::Lost(loss);
                }
            }
            State::Lost(_) | State::Closed => {}
        }
    }

    /// What the peer is told; nothing if it was the peer who told us.
    fn parting_words(&self, error: &LinkError) -> Control {
        let mut parting = Control::new();
        if !matches!(
            error,
            LinkError::Peer { .. } | LinkError::Lost(Loss::ByPeer { .. } | Loss::Unknown)
        ) {
            let mut payload = Vec::new();
            ErrorText::encode_error(error, &mut payload);
            parting.put(self.id, Kind::Error, self.receiving.last, &payload);
        }
        parting
    }
}
