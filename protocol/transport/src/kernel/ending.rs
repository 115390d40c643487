//! Writes that fall short or fail, and the end of connections.

use goblin_protocol::service::{Closed, ConnectionId};
use rustix::io::Errno;

use super::KernelTransport;
use super::connection::State;
use super::poller::{Interest, Token};
use crate::transport::Events;

impl KernelTransport {
    /// A write fell short: nothing is written until room is reported.
    pub(super) fn block(&mut self, id: ConnectionId) {
        self.counters.writes_short += 1;
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.blocked = true;
        if connection.watches_room {
            return;
        }
        connection.watches_room = true;
        self.counters.interest_changes += 1;
        let changed = self.poller.change(
            &connection.socket,
            Token::Connection(id),
            Interest::ReadAndWrite,
        );
        if let Err(cause) = changed {
            self.fail(id, cause);
        }
    }

    /// A write failed: what the peer sent before is still told, unless the core does not want it.
    pub(super) fn fail(&mut self, id: ConnectionId, cause: Errno) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.blocked = true;
        connection.readable = true;
        connection.ending = true;
        connection.failed = Some(cause);
        if connection.paused {
            self.connections.remove(id);
            self.ended.push((id, Closed::Failed(cause.raw_os_error())));
        } else {
            self.queue(id);
        }
    }

    /// Forgets a connection and tells its end.
    pub(super) fn end<E: Events>(&mut self, id: ConnectionId, why: Closed, events: &mut E) {
        self.forget(id);
        events.closed(id, why);
    }

    pub(super) fn forget(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.remove(id) {
            if connection.state == State::Dialing {
                self.dials.retain(|dial| dial.0 != id);
            }
            self.hot.remove(id);
            self.identities.release(id);
        }
    }

    pub(super) fn tell_ended<E: Events>(&mut self, events: &mut E) -> bool {
        let told = !self.ended.is_empty();
        for (id, why) in self.ended.drain(..) {
            self.identities.release(id);
            events.closed(id, why);
        }
        told
    }
}
