//! What a received frame does to a session.

use std::time::Duration;

use crate::link::error::{LinkError, Loss};
use crate::link::frame::{FRAME_BYTES_MAX, Frame, Kind};
use crate::link::handshake::{
    Authentication, Challenge, ChallengeAnswer, ErrorText, HANDSHAKE_FRAME_BYTES_MAX, HelloAck,
    Outcome, is_proof, proof,
};
use crate::link::{ProtocolVersion, Role};
use crate::time::Now;

use super::lifetime::State;
use super::{Connected, HostIdentity, Peer, Session};

/// What is left to be done about a frame.
#[derive(Debug)]
pub(super) enum Received {
    /// Nothing.
    Nothing,
    /// Its payload is the next part of a message.
    Data,
    /// The owner must know that the connection works.
    Connected(Connected),
    /// The owner must know that nothing more comes.
    Goodbye,
}

impl Session {
    /// The longest frame that the peer may send now.
    #[inline]
    pub(super) fn frame_bytes_max(&self) -> usize {
        match self.state {
            State::Connected => FRAME_BYTES_MAX,
            _ => HANDSHAKE_FRAME_BYTES_MAX,
        }
    }

    #[inline]
    pub(super) fn note_heard(&mut self, now: Now) {
        self.timing.note_heard(now.monotonic);
    }

    /// Handles a frame that is `length` bytes long.
    #[inline]
    pub(super) fn receive(
        &mut self,
        now: Now,
        frame: &Frame<'_>,
        length: usize,
    ) -> Result<Received, LinkError> {
        match &self.state {
            State::Connected => self.receive_connected(now, frame, length),
            State::Handshaking(_) => self.receive_handshake(now, frame),
            _ => Ok(Received::Nothing),
        }
    }

    #[inline]
    fn receive_connected(
        &mut self,
        now: Now,
        frame: &Frame<'_>,
        length: usize,
    ) -> Result<Received, LinkError> {
        let header = &frame.header;
        self.check_session(header.session)?;
        self.counters.frames_received += 1;
        let received = match header.kind {
            Kind::Data | Kind::Goodbye if self.receiving.goodbye => {
                return Err(LinkError::Unexpected { kind: header.kind });
            }
            Kind::Data if self.take_number(header.sequence)? => Received::Data,
            Kind::Goodbye if self.take_number(header.sequence)? => {
                self.receiving.goodbye = true;
                Received::Goodbye
            }
            Kind::Data | Kind::Goodbye => Received::Nothing,
            Kind::Heartbeat => {
                self.check_gap(header.sequence, self.receiving.last)?;
                Received::Nothing
            }
            Kind::Error => return Err(peer_error(frame, true)?),
            kind => return Err(LinkError::Unexpected { kind }),
        };
        let acknowledged = self
            .sending
            .acknowledge(header.acknowledged, self.receiving.last);
        let wrote = acknowledged.map_err(LinkError::Lost)?;
        self.note_frames(now, wrote);
        if !matches!(header.kind, Kind::Heartbeat) {
            self.note_numbered(now, length);
        }
        Ok(received)
    }

    /// Whether the number is the next one; otherwise it was seen before.
    #[inline]
    fn take_number(&mut self, sequence: u64) -> Result<bool, LinkError> {
        let expected = self.receiving.last + 1;
        if sequence == expected {
            self.receiving.last = sequence;
            self.counters.in_order += 1;
            return Ok(true);
        }
        self.check_gap(sequence, expected)?;
        self.counters.duplicate += 1;
        Ok(false)
    }

    #[inline]
    fn check_gap(&mut self, received: u64, highest: u64) -> Result<(), LinkError> {
        if received > highest {
            self.counters.gap += 1;
            return Err(LinkError::Gap {
                expected: self.receiving.last + 1,
                received,
            });
        }
        Ok(())
    }

    fn check_session(&self, received: u64) -> Result<(), LinkError> {
        if received != self.id {
            return Err(LinkError::WrongSession {
                expected: self.id,
                received,
            });
        }
        Ok(())
    }

    /// A numbered frame came; a duplicate shows that the peer does not know that we have it.
    #[inline]
    fn note_numbered(&mut self, now: Now, length: usize) {
        let bytes_max = usize::try_from(self.peer.window_bytes / 4).unwrap_or(usize::MAX);
        self.timing.note_received(
            now.monotonic,
            length,
            bytes_max,
            self.config.acknowledge_delay,
        );
        if self.receiving.goodbye {
            self.timing.acknowledge_now(now.monotonic);
        }
        self.acknowledge_if_due(now);
    }

    fn receive_handshake(&mut self, now: Now, frame: &Frame<'_>) -> Result<Received, LinkError> {
        let State::Handshaking(handshaking) = &self.state else {
            return Ok(Received::Nothing);
        };
        let host_is_known = handshaking.host_is_known;
        match frame.header.kind {
            Kind::Error => Err(peer_error(frame, host_is_known)?),
            Kind::Challenge => {
                self.check_session(frame.header.session)?;
                self.receive_challenge(&Challenge::decode(frame.payload)?)?;
                Ok(Received::Nothing)
            }
            Kind::HelloAck => {
                self.check_session(frame.header.session)?;
                if !host_is_known {
                    return Err(LinkError::ProofMissing);
                }
                let ack = HelloAck::decode(frame.payload)?;
                self.receive_hello_ack(now, &ack, frame.header.acknowledged)
            }
            kind => Err(LinkError::Unexpected { kind }),
        }
    }

    /// Checks the host, and only then proves that this is the edge.
    fn receive_challenge(&mut self, challenge: &Challenge) -> Result<(), LinkError> {
        let Authentication::SharedKey(key) = &self.config.authentication else {
            return Err(LinkError::KeyMissing);
        };
        let State::Handshaking(handshaking) = &mut self.state else {
            return Ok(());
        };
        if handshaking.host_is_known {
            return Err(LinkError::Unexpected {
                kind: Kind::Challenge,
            });
        }
        let (ours, theirs) = (&handshaking.nonce, &challenge.nonce);
        if !is_proof(
            &proof(key, Role::Host, ours, theirs, self.id),
            &challenge.proof,
        ) {
            return Err(LinkError::WrongProof { peer: Role::Host });
        }
        let answer = ChallengeAnswer {
            proof: proof(key, Role::Edge, ours, theirs, self.id),
        };
        handshaking.host_is_known = true;
        let mut payload = Vec::new();
        answer.encode_into(&mut payload);
        self.control
            .put(self.id, Kind::Challenge, self.receiving.last, &payload);
        Ok(())
    }

    fn receive_hello_ack(
        &mut self,
        now: Now,
        ack: &HelloAck,
        received_by_host: u64,
    ) -> Result<Received, LinkError> {
        let ours = ProtocolVersion::CURRENT;
        if !ours.works_with(ack.version) {
            return Err(LinkError::Version {
                ours,
                theirs: ack.version,
            });
        }
        let resumed = match ack.outcome {
            Outcome::Resumed => true,
            Outcome::Fresh => false,
            Outcome::Lost => return Err(Loss::Unknown.into()),
        };
        if self.established && !resumed {
            return Err(Loss::Unknown.into());
        }
        // A host that resumes what the edge never heard of had accepted it on a connection that broke
        // too early.
        let resumed = self.established;
        let peer = Peer {
            window_bytes: ack.window_bytes,
            heartbeat_interval: Duration::from_millis(ack.heartbeat_timeout_ms.into()) / 3,
        };
        self.begin(now, received_by_host, peer)?;
        Ok(Received::Connected(Connected {
            resumed,
            host: HostIdentity {
                instance: ack.instance,
                edge_number: ack.edge_number,
            },
            version: ack.version,
            features: ack.features,
        }))
    }

    /// The connection is accepted; the peer has received everything up to `received_by_peer`.
    pub(super) fn begin(
        &mut self,
        now: Now,
        received_by_peer: u64,
        peer: Peer,
    ) -> Result<(), Loss> {
        self.sending.resume(received_by_peer, self.receiving.last)?;
        self.state = State::Connected;
        self.peer = peer;
        self.timing.note_up(now.monotonic);
        if self.established {
            self.counters.resumes += 1;
        }
        self.accepted += 1;
        self.established = true;
        Ok(())
    }
}

/// What the peer says is wrong. A peer that did not prove itself cannot end the session.
fn peer_error(frame: &Frame<'_>, is_known: bool) -> Result<LinkError, LinkError> {
    let error = ErrorText::decode(frame.payload)?;
    let text = error.text.into();
    Ok(if error.lost && is_known {
        LinkError::Lost(Loss::ByPeer { text })
    } else {
        LinkError::Peer { text }
    })
}
