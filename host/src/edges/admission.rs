//! How an edge comes in: its handshake, and whether its session goes on, begins, or is lost.

use std::collections::{HashMap, VecDeque};

use goblin_protocol::link::LinkError;
use goblin_protocol::link::handshake::Authenticated;
use goblin_protocol::link::message::Message;
use goblin_protocol::link::session::{HostIdentity, Session};
use goblin_protocol::service::{Action, ConnectionId};
use goblin_protocol::time::Now;
use tracing::{info, warn};

use super::{EDGES_MAX, Edge, Place};
use crate::host::Host;

impl Host {
    pub(super) fn receive_handshake(&mut self, now: Now, id: ConnectionId, bytes: &[u8]) {
        let Some(handshake) = self.edges.handshake_mut(id) else {
            return;
        };
        if handshake.parting {
            return;
        }
        match handshake.state.handle_received(bytes) {
            Ok(None) => self.edges.actions.push_back(Action::Flush(id)),
            Ok(Some(edge)) => self.admit(now, id, &edge),
            Err(error) => self.end_handshake(now, id, &error),
        }
    }

    fn end_handshake(&mut self, now: Now, id: ConnectionId, error: &LinkError) {
        if let Some(handshake) = self.edges.handshake_mut(id) {
            if let Some(held_back) = self.edges_refused.pass(now) {
                warn!(address = %handshake.address, %error, held_back, "an edge was refused");
            }
            handshake.parting = true;
            self.edges.flush_and_close(id);
        }
    }

    /// An edge has proved itself: its session goes on, begins, or is lost.
    fn admit(&mut self, now: Now, id: ConnectionId, authenticated: &Authenticated) {
        if let Some(previous) = authenticated.previous
            && let Some(edge) = self.edges.by_session.get(&previous).copied()
        {
            self.lose_edge(edge, "the edge gave its session up");
        }
        match self.edges.by_session.get(&authenticated.session).copied() {
            Some(edge) => self.resume_edge(now, id, edge, authenticated),
            None if authenticated.fresh => self.begin_edge(now, id, authenticated),
            None => self.refuse_lost(id, 0, authenticated),
        }
    }

    fn resume_edge(
        &mut self,
        now: Now,
        id: ConnectionId,
        edge: usize,
        authenticated: &Authenticated,
    ) {
        let identity = self.identity(edge);
        let Some(state) = self.edges.edge_mut(edge) else {
            return;
        };
        let before = state.connection.take();
        state.parting = false;
        match state.session.accept_resumed(now, authenticated, identity) {
            Ok(()) => {
                state.connection = Some(id);
                info!(edge = state.session.name(), "link resumed");
                self.edges.set_place(id, Some(Place::Edge(edge)));
                self.edges.mark_unflushed(edge);
            }
            Err(loss) => {
                self.lose_edge(edge, &loss.to_string());
                self.refuse_lost(id, edge, authenticated);
            }
        }
        if let Some(before) = before {
            self.edges.set_place(before, None);
            self.edges.actions.push_back(Action::Close(before));
        }
    }

    fn refuse_lost(&mut self, id: ConnectionId, edge: usize, authenticated: &Authenticated) {
        let identity = self.identity(edge);
        if let Some(handshake) = self.edges.handshake_mut(id) {
            info!(edge = %authenticated.name, "an edge's session is not known here: it begins anew");
            handshake.state.refuse_lost(authenticated, identity);
            handshake.parting = true;
            self.edges.flush_and_close(id);
        }
    }

    fn identity(&self, edge: usize) -> HostIdentity {
        HostIdentity {
            instance: self.edges.instance,
            edge_number: self.edges.number(edge),
        }
    }

    fn begin_edge(&mut self, now: Now, id: ConnectionId, authenticated: &Authenticated) {
        let free = self.edges.edges.iter().position(Option::is_none);
        let edge = free.unwrap_or(self.edges.edges.len());
        if edge >= EDGES_MAX {
            if let Some(held_back) = self.edges_refused.pass(now) {
                warn!(edge = %authenticated.name, held_back, "too many edges");
            }
            return self.refuse_lost(id, 0, authenticated);
        }
        if free.is_none() {
            self.edges.edges.push(None);
        }
        let address = self
            .edges
            .handshake_mut(id)
            .map(|handshake| std::mem::take(&mut handshake.address))
            .unwrap_or_default();
        info!(edge = %authenticated.name, %address, "link up");
        let session = Session::accept_fresh(
            self.edges.config.clone(),
            now,
            authenticated,
            self.identity(edge),
        );
        self.edges.by_session.insert(authenticated.session, edge);
        self.edges.sessions_begun += 1;
        self.edges.edges[edge] = Some(Edge {
            session,
            connection: Some(id),
            address,
            clients: HashMap::new(),
            stated: None,
            figures: Vec::new(),
            deferred: VecDeque::new(),
            deferred_bytes: 0,
            parting: false,
            flush_pending: false,
        });
        self.edges.set_place(id, Some(Place::Edge(edge)));
        self.tell_all_users(now, edge);
        self.edges.mark_unflushed(edge);
    }

    fn tell_all_users(&mut self, now: Now, edge: usize) {
        self.edges.send(now, edge, &Message::RightsBegin);
        for (user, rules) in self.users.snapshot() {
            let message = Message::Rights {
                user,
                rules: &rules,
            };
            self.edges.send(now, edge, &message);
        }
        self.edges.send(now, edge, &Message::RightsEnd);
    }

    pub(super) fn time_out_handshakes(&mut self, now: Now) {
        let mut late = Vec::new();
        for (id, place) in self.edges.places.iter_mut().flatten() {
            if let Place::Handshake(handshake) = place
                && !handshake.parting
                && let Err(error) = handshake.state.handle_time(now)
            {
                late.push((*id, error));
            }
        }
        for (id, error) in late {
            self.end_handshake(now, id, &error);
        }
    }
}
