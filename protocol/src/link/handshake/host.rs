//! The host's side of the handshake, before it is known which session the connection belongs to.

use std::io::IoSlice;

use crate::link::error::LinkError;
use crate::link::frame::{self, Flags, Frame, Header, Kind};
use crate::link::session::{Config, HostIdentity};
use crate::link::{ProtocolVersion, Role};
use crate::time::{Now, Time};

use super::{
    Authentication, Challenge, ChallengeAnswer, ErrorText, FEATURES, HANDSHAKE_BYTES_MAX,
    HANDSHAKE_FRAME_BYTES_MAX, Hello, HelloAck, Nonce, Outcome, is_proof, proof,
};

/// An edge that has proved itself, and what it wants. Only a [`HostHandshake`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authenticated {
    /// The session that the connection belongs to.
    pub session: u64,
    /// The edge never heard that the session was accepted. If the host does not know it, it begins.
    pub fresh: bool,
    /// The highest contiguous number that the edge has received in this session.
    pub last_received: u64,
    /// A session that the edge had before and has given up: the host drops it.
    pub previous: Option<u64>,
    /// The edge's name, for people.
    pub name: Box<str>,
    /// The version that the edge speaks.
    pub version: ProtocolVersion,
    /// The features that it announces.
    pub features: u64,
    /// The most it keeps unacknowledged, in bytes.
    pub window_bytes: u64,
    /// How long it endures silence; 0 for ever.
    pub heartbeat_timeout_ms: u32,
}

/// One connection from an edge, until the edge is known. States: waiting for the hello, waiting for
/// the proof, over. Costs at most [`HANDSHAKE_BYTES_MAX`] bytes of received data.
///
/// What to do with an [`Authenticated`] edge:
/// * the session is known: [`Session::accept_resumed`](super::super::session::Session::accept_resumed),
///   whether or not it still has a connection, which is closed. If that fails the session is gone and
///   the edge gets [`refuse_lost`](Self::refuse_lost);
/// * it is not known and `fresh`: [`Session::accept_fresh`](super::super::session::Session::accept_fresh);
/// * it is not known otherwise: [`refuse_lost`](Self::refuse_lost), flush, close.
///
/// After an error: flush once, close.
#[derive(Debug)]
pub struct HostHandshake {
    config: Config,
    nonce: Nonce,
    deadline: Time,
    step: Step,
    received: Vec<u8>,
    received_total: usize,
    output: Vec<u8>,
    written: usize,
    session: u64,
}

#[derive(Debug)]
enum Step {
    Hello,
    Answer {
        edge: Box<Authenticated>,
        proof: [u8; 32],
    },
    Over,
}

impl HostHandshake {
    /// A connection was accepted. `nonce` must be random and new.
    #[must_use]
    pub fn new(config: &Config, now: Now, nonce: Nonce) -> Self {
        Self {
            config: config.clone(),
            nonce,
            deadline: now.monotonic + config.handshake_timeout,
            step: Step::Hello,
            received: Vec::new(),
            received_total: 0,
            output: Vec::new(),
            written: 0,
            session: 0,
        }
    }

    /// Bytes arrived. Yields the edge when it is authenticated.
    ///
    /// # Errors
    /// Any [`LinkError`] but a loss: flush once and close.
    pub fn handle_received(&mut self, bytes: &[u8]) -> Result<Option<Authenticated>, LinkError> {
        self.receive(bytes).inspect_err(|error| self.fail(error))
    }

    /// Time has passed.
    ///
    /// # Errors
    /// [`LinkError::HandshakeTimeout`]: flush once and close.
    pub fn handle_time(&mut self, now: Now) -> Result<(), LinkError> {
        if matches!(self.step, Step::Over) || now.monotonic < self.deadline {
            return Ok(());
        }
        let error = LinkError::HandshakeTimeout {
            after: self.config.handshake_timeout,
        };
        self.fail(&error);
        Err(error)
    }

    /// When [`handle_time`](Self::handle_time) must be called; `None` when the handshake is over.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        (!matches!(self.step, Step::Over)).then_some(self.deadline)
    }

    /// Tells the edge that its session is lost. Flush once and close; the edge comes back with
    /// another session.
    pub fn refuse_lost(&mut self, edge: &Authenticated, identity: HostIdentity) {
        let mut payload = Vec::new();
        hello_ack(&self.config, identity, Outcome::Lost).encode_into(&mut payload);
        let header = Header {
            session: edge.session,
            sequence: 0,
            acknowledged: 0,
            kind: Kind::HelloAck,
            flags: Flags::WHOLE,
        };
        header.put(&payload, &mut self.output);
    }

    /// Whether something waits to be written.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.written < self.output.len()
    }

    /// Fills `slices` with what waits to be written and returns how many it filled.
    pub fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let waiting = self.output.get(self.written..).unwrap_or_default();
        match slices.first_mut() {
            Some(slice) if !waiting.is_empty() => {
                *slice = IoSlice::new(waiting);
                1
            }
            _ => 0,
        }
    }

    /// The first `bytes` bytes of the output were handed to the transport.
    pub fn handle_written(&mut self, bytes: usize) {
        self.written = (self.written + bytes).min(self.output.len());
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<Option<Authenticated>, LinkError> {
        self.received_total = self.received_total.saturating_add(bytes.len());
        if self.received_total > HANDSHAKE_BYTES_MAX {
            return Err(LinkError::HandshakeTooLong {
                bytes_max: HANDSHAKE_BYTES_MAX,
            });
        }
        self.received.extend_from_slice(bytes);
        loop {
            let Some(length) = frame::length(&self.received, HANDSHAKE_FRAME_BYTES_MAX)? else {
                return Ok(None);
            };
            if self.received.len() < length {
                return Ok(None);
            }
            let later = self.received.split_off(length);
            let current = std::mem::replace(&mut self.received, later);
            if let Some(edge) = self.receive_frame(&Frame::decode(&current)?)? {
                return self.finish(edge).map(Some);
            }
        }
    }

    /// The edge has to wait for the hello-ack before it says more.
    fn finish(&mut self, edge: Authenticated) -> Result<Authenticated, LinkError> {
        if !self.received.is_empty() {
            return Err(LinkError::Unexpected { kind: Kind::Data });
        }
        Ok(edge)
    }

    fn receive_frame(&mut self, frame: &Frame<'_>) -> Result<Option<Authenticated>, LinkError> {
        let kind = frame.header.kind;
        if kind == Kind::Error {
            let text = ErrorText::decode(frame.payload)?.text.into();
            return Err(LinkError::Peer { text });
        }
        match (std::mem::replace(&mut self.step, Step::Over), kind) {
            (Step::Hello, Kind::Hello) => self.receive_hello(frame),
            (Step::Answer { edge, proof }, Kind::Challenge) => {
                if frame.header.session != edge.session {
                    return Err(LinkError::WrongSession {
                        expected: edge.session,
                        received: frame.header.session,
                    });
                }
                let answer = ChallengeAnswer::decode(frame.payload)?;
                if !is_proof(&proof, &answer.proof) {
                    return Err(LinkError::WrongProof { peer: Role::Edge });
                }
                Ok(Some(*edge))
            }
            (_, kind) => Err(LinkError::Unexpected { kind }),
        }
    }

    fn receive_hello(&mut self, frame: &Frame<'_>) -> Result<Option<Authenticated>, LinkError> {
        let hello = Hello::decode(frame.payload)?;
        let ours = ProtocolVersion::CURRENT;
        if !ours.works_with(hello.version) {
            return Err(LinkError::Version {
                ours,
                theirs: hello.version,
            });
        }
        self.session = frame.header.session;
        let edge = Authenticated {
            session: frame.header.session,
            fresh: hello.fresh,
            last_received: frame.header.acknowledged,
            previous: (hello.previous != 0).then_some(hello.previous),
            name: hello.name.into(),
            version: hello.version,
            features: hello.features,
            window_bytes: hello.window_bytes,
            heartbeat_timeout_ms: hello.heartbeat_timeout_ms,
        };
        let Authentication::SharedKey(key) = &self.config.authentication else {
            return Ok(Some(edge));
        };
        let challenge = Challenge {
            nonce: self.nonce,
            proof: proof(key, Role::Host, &hello.nonce, &self.nonce, edge.session),
        };
        let answer = proof(key, Role::Edge, &hello.nonce, &self.nonce, edge.session);
        self.step = Step::Answer {
            edge: Box::new(edge),
            proof: answer,
        };
        let mut payload = Vec::new();
        challenge.encode_into(&mut payload);
        self.put(Kind::Challenge, &payload);
        Ok(None)
    }

    /// Tells the peer what is wrong, unless it was the peer who said so.
    fn fail(&mut self, error: &LinkError) {
        self.step = Step::Over;
        self.received = Vec::new();
        if !matches!(error, LinkError::Peer { .. }) {
            let mut payload = Vec::new();
            ErrorText::encode_error(error, &mut payload);
            self.put(Kind::Error, &payload);
        }
    }

    fn put(&mut self, kind: Kind, payload: &[u8]) {
        let header = Header {
            session: self.session,
            sequence: 0,
            acknowledged: 0,
            kind,
            flags: Flags::WHOLE,
        };
        header.put(payload, &mut self.output);
    }
}

/// The host's answer to an edge whose session had this `outcome`.
pub(in crate::link) fn hello_ack(
    config: &Config,
    identity: HostIdentity,
    outcome: Outcome,
) -> HelloAck {
    HelloAck {
        version: ProtocolVersion::CURRENT,
        features: FEATURES,
        instance: identity.instance,
        window_bytes: config.window_bytes as u64,
        heartbeat_timeout_ms: config.heartbeat_timeout_ms(),
        edge_number: identity.edge_number,
        outcome,
    }
}
