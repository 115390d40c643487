//! The host's end of a session: how it comes to be and how it comes back.

use std::time::Duration;

use crate::link::Role;
use crate::link::error::Loss;
use crate::link::frame::Kind;
use crate::link::handshake::{Authenticated, Outcome, hello_ack};
use crate::time::Now;

use super::lifetime::State;
use super::{Config, HostIdentity, Peer, Session};

impl Session {
    /// The host's end of a session that begins, on the connection where the edge proved itself.
    #[must_use]
    pub fn accept_fresh(
        config: Config,
        now: Now,
        edge: &Authenticated,
        identity: HostIdentity,
    ) -> Self {
        let mut session = Self::with_role(Role::Host, config, edge.session, &edge.name);
        session.connection += 1;
        let begun = session.begin(now, 0, peer(edge));
        debug_assert_eq!(begun, Ok(()));
        session.put_hello_ack(identity, Outcome::Fresh);
        session
    }

    /// The host's end of a session that goes on, on the connection where the edge proved itself. A
    /// connection that was there before is replaced: the owner closes it without telling the session.
    ///
    /// # Errors
    /// A [`Loss`] when it cannot go on: the session is lost, and the edge is told by
    /// [`HostHandshake::refuse_lost`](super::super::handshake::HostHandshake::refuse_lost).
    pub fn accept_resumed(
        &mut self,
        now: Now,
        edge: &Authenticated,
        identity: HostIdentity,
    ) -> Result<(), Loss> {
        self.handle_disconnected(now);
        match &self.state {
            State::Disconnected => {}
            State::Lost(loss) => return Err(loss.clone()),
            _ => return Err(Loss::Abandoned),
        }
        self.connection += 1;
        if let Err(loss) = self.begin(now, edge.last_received, peer(edge)) {
            self.fail(&loss.clone().into());
            return Err(loss);
        }
        self.put_hello_ack(identity, Outcome::Resumed);
        Ok(())
    }

    fn put_hello_ack(&mut self, identity: HostIdentity, outcome: Outcome) {
        let mut payload = Vec::new();
        hello_ack(&self.config, identity, outcome).encode_into(&mut payload);
        self.control
            .put(self.id, Kind::HelloAck, self.receiving.last, &payload);
    }
}

fn peer(edge: &Authenticated) -> Peer {
    Peer {
        window_bytes: edge.window_bytes,
        heartbeat_interval: Duration::from_millis(edge.heartbeat_timeout_ms.into()) / 3,
    }
}
