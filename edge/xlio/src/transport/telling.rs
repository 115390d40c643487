//! What the library told, and what becomes of it.

use goblin_protocol::service::{Closed, ConnectionId, Opened};
use goblin_transport::Events;

use super::sockets::{Place, State};
use super::{CLOSING_MAX, Identities, XlioTransport};
use crate::callbacks::{Received, Tag, Told, release_tag};

impl<I: Identities> XlioTransport<I> {
    pub(super) fn tell_ended<E: Events>(&mut self, events: &mut E) -> bool {
        let told = !self.ended.is_empty();
        for (id, why) in self.ended.drain(..) {
            self.identities.release(id);
            events.closed(id, why);
        }
        told
    }

    pub(super) fn end_late_dials<E: Events>(&mut self, events: &mut E) -> bool {
        let mut late = Vec::new();
        self.dials.retain(|dial| {
            let is_late = dial.1 <= self.now;
            if is_late {
                late.push(dial.0);
            }
            !is_late
        });
        for id in &late {
            self.end(*id, Closed::Unreachable(libc::ETIMEDOUT), events);
        }
        !late.is_empty()
    }

    pub(super) fn tell<E: Events>(&mut self, events: &mut E) -> bool {
        let all = self.group.told();
        let mut told = false;
        for it in all {
            told |= self.tell_one(it, events);
        }
        for id in std::mem::take(&mut self.peer_closed) {
            self.end(id, Closed::ByPeer, events);
        }
        told
    }

    fn tell_one<E: Events>(&mut self, told: Told, events: &mut E) -> bool {
        match told {
            Told::Accepted {
                socket,
                listener,
                tag,
            } => self.accepted(socket, listener, tag, events),
            Told::Established(tag) => self.established(tag, events),
            Told::Received(tag, received) => return self.received(tag, &received, events),
            Told::Completed(operation) => self.completed(operation),
            Told::Closed(tag) => {
                if let Some(id) = self.connection(tag) {
                    self.counters.reads_ended += 1;
                    self.peer_closed.push(id);
                }
            }
            Told::Failed(tag, error) => self.failed(tag, error, events),
            Told::Terminated(tag) => {
                self.forget_socket(tag);
                return false;
            }
        }
        true
    }

    /// The connection that a socket is, unless nobody is interested any more.
    fn connection(&mut self, tag: Tag) -> Option<ConnectionId> {
        match self.sockets.get_mut(tag)?.state {
            State::Open(id) | State::Dialing(id) => Some(id),
            State::Listening(_) | State::Closing(_) => None,
        }
    }

    fn accepted<E: Events>(&mut self, socket: usize, listener: Tag, tag: Tag, events: &mut E) {
        self.counters.accept_calls += 1;
        let listener = match self.sockets.get_mut(listener).map(|it| it.state) {
            Some(State::Listening(listener)) if self.accepting => Some(listener),
            _ => None,
        };
        let wanted = listener.filter(|_| self.sockets.len() < self.sockets_max);
        let id = wanted.and_then(|_| self.identities.allocate());
        let (Some(listener), Some(id)) = (wanted, id) else {
            self.counters.accepts_refused += 1;
            self.sockets
                .insert(tag, Place::new(socket, State::Closing(self.now)));
            self.group.make_abortive(socket);
            self.group.destroy(socket);
            return;
        };
        self.counters.accepts += 1;
        self.sockets
            .insert(tag, Place::new(socket, State::Open(id)));
        self.sockets.name(id, tag);
        let text = |address: Option<std::net::SocketAddr>| {
            address.map_or_else(|| "?:0".to_owned(), |it| it.to_string())
        };
        let peer = text(self.group.peer_address(socket));
        let local = text(self.group.local_address(socket));
        let how = Opened::Accepted {
            listener,
            peer: &peer,
            local: &local,
        };
        events.opened(id, how);
    }

    /// Resets a connection that was accepted.
    fn refuse(&mut self, socket: usize, tag: Tag) {
        let closing = State::Closing(self.now);
        self.sockets.insert(tag, Place::new(socket, closing));
        self.group.make_abortive(socket);
        self.group.destroy(socket);
        self.closing.push_back((tag, self.now + CLOSING_MAX));
    }

    fn established<E: Events>(&mut self, tag: Tag, events: &mut E) {
        let Some(id) = self.connection(tag) else {
            return;
        };
        if let Some(place) = self.sockets.get_mut(tag) {
            place.state = State::Open(id);
        }
        self.dials.retain(|dial| dial.0 != id);
        events.opened(id, Opened::Dialed);
    }

    fn received<E: Events>(&mut self, tag: Tag, received: &Received, events: &mut E) -> bool {
        let Some(id) = self.connection(tag) else {
            return false;
        };
        let bytes = received.bytes();
        self.counters.reads += 1;
        self.counters.bytes_in += bytes.len() as u64;
        events.received(id, bytes);
        true
    }

    fn completed(&mut self, operation: usize) {
        let Some(chunk) = operation
            .checked_sub(1)
            .and_then(|it| u32::try_from(it).ok())
        else {
            return;
        };
        let owner = self.memory.owner(chunk);
        self.memory.release(chunk);
        let most = self.options.outstanding_bytes_max;
        let Some(place) = owner.and_then(|tag| self.sockets.get_mut(tag)) else {
            return;
        };
        place.outstanding.complete(chunk);
        let State::Open(id) = place.state else {
            return;
        };
        if place.blocked && place.outstanding.bytes() <= most / 2 {
            self.writable.push(id);
        }
    }

    pub(super) fn tell_writable<E: Events>(&mut self, events: &mut E) -> bool {
        let mut told = false;
        for id in std::mem::take(&mut self.writable) {
            if let Some(place) = self.sockets.of(id)
                && std::mem::replace(&mut place.blocked, false)
            {
                events.writable(id);
                told = true;
            }
        }
        told
    }

    fn failed<E: Events>(&mut self, tag: Tag, error: i32, events: &mut E) {
        let why = match self.sockets.get_mut(tag).map(|it| it.state) {
            Some(State::Dialing(_)) => Closed::Unreachable(error),
            _ => Closed::Failed(error),
        };
        if let Some(id) = self.connection(tag) {
            self.end(id, why, events);
        }
    }

    /// Ends a connection and tells it.
    fn end<E: Events>(&mut self, id: ConnectionId, why: Closed, events: &mut E) {
        if let Some(tag) = self.sockets.forget_name(id) {
            self.forget_id(id);
            self.destroy(tag, why != Closed::ByPeer);
            events.closed(id, why);
        }
    }

    /// Ends a connection outside of `poll`; the next tells it.
    pub(super) fn fail(&mut self, id: ConnectionId, why: Closed) {
        if let Some(tag) = self.sockets.forget_name(id) {
            self.destroy(tag, true);
            self.ended.push((id, why));
        }
    }

    pub(super) fn forget_id(&mut self, id: ConnectionId) {
        self.dials.retain(|dial| dial.0 != id);
        self.identities.release(id);
    }

    /// Asks for a socket's end, once.
    pub(super) fn destroy(&mut self, tag: Tag, abortive: bool) {
        let Some(place) = self.sockets.get_mut(tag) else {
            return;
        };
        if matches!(place.state, State::Closing(_)) {
            return;
        }
        place.state = State::Closing(self.now);
        let socket = place.socket;
        if abortive {
            self.group.make_abortive(socket);
        }
        self.group.destroy(socket);
        self.closing.push_back((tag, self.now + CLOSING_MAX));
    }

    fn forget_socket(&mut self, tag: Tag) {
        if self.sockets.remove(tag).is_some() {
            release_tag(tag);
        }
    }

    /// Sockets whose `TERMINATED` does not come.
    pub(super) fn forget_late_closing(&mut self) {
        while let Some((tag, _)) = self.closing.front().copied().filter(|it| it.1 <= self.now) {
            self.closing.pop_front();
            self.forget_socket(tag);
        }
    }

    /// While the transport is dropped.
    pub(super) fn take_terminated(&mut self) {
        for told in self.group.told() {
            match told {
                Told::Terminated(tag) => self.forget_socket(tag),
                Told::Completed(operation) => self.completed(operation),
                Told::Accepted { socket, tag, .. } => self.refuse(socket, tag),
                Told::Established(_) | Told::Received(..) | Told::Closed(_) | Told::Failed(..) => {}
            }
        }
    }
}
