//! How connections come to be: accepted and dialed.

use goblin_protocol::service::{Closed, ConnectionId, ListenerId, Opened};
use rustix::io::Errno;
use rustix::net::sockopt;

use super::connection::{Connection, State};
use super::listener::Accepted;
use super::poller::{Interest, Report, Token};
use super::{KernelTransport, socket, stream_options};
use crate::transport::Events;

impl KernelTransport {
    pub(super) fn accept<E: Events>(&mut self, listener: ListenerId, events: &mut E) {
        let accepted = self
            .listeners
            .accept(listener, self.now, &self.poller, &mut self.counters);
        let Some(Accepted {
            socket,
            listener,
            peer,
            local,
        }) = accepted
        else {
            return;
        };
        let Some(id) = self.identities.allocate() else {
            return;
        };
        if let Err(cause) = self
            .poller
            .add(&socket, Token::Connection(id), Interest::Read)
        {
            tracing::warn!(%peer, %cause, "cannot watch an accepted connection");
            self.identities.release(id);
            return;
        }
        self.counters.accepts += 1;
        self.connections
            .insert(id, Connection::new(socket, State::Open));
        let (peer, local) = (&peer, &local);
        events.opened(
            id,
            Opened::Accepted {
                listener,
                peer,
                local,
            },
        );
    }

    pub(super) fn start_dial(&mut self, id: ConnectionId) -> Result<(), Errno> {
        let upstream = &self.options.upstream;
        let position = self.dialed.checked_rem(upstream.len()).unwrap_or(0);
        self.dialed = self.dialed.wrapping_add(1);
        let address = upstream.get(position).ok_or(Errno::DESTADDRREQ)?;
        let socket = socket::dial(address, stream_options(&self.options))?;
        self.poller
            .add(&socket, Token::Connection(id), Interest::ReadAndWrite)?;
        self.connections
            .insert(id, Connection::new(socket, State::Dialing));
        self.dials.push((id, self.now + self.options.dial_timeout));
        Ok(())
    }

    pub(super) fn finish_dial<E: Events>(
        &mut self,
        id: ConnectionId,
        report: Report,
        events: &mut E,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else {
            return false;
        };
        if !report.writable {
            return false;
        }
        if let Err(cause) = sockopt::socket_error(&connection.socket).and_then(|result| result) {
            self.end(id, Closed::Unreachable(cause.raw_os_error()), events);
            return true;
        }
        connection.state = State::Open;
        self.counters.interest_changes += 1;
        // Tells again what is readable already. If it cannot be changed, room is reported needlessly.
        let _ = self
            .poller
            .change(&connection.socket, Token::Connection(id), Interest::Read);
        self.dials.retain(|dial| dial.0 != id);
        events.opened(id, Opened::Dialed);
        true
    }

    pub(super) fn end_late_dials<E: Events>(&mut self, events: &mut E) {
        while let Some(&(id, _)) = self.dials.iter().find(|dial| dial.1 <= self.now) {
            let cause = Errno::TIMEDOUT.raw_os_error();
            self.end(id, Closed::Unreachable(cause), events);
        }
    }
}
