//! What an edge says, and what the host does about it.

use std::collections::HashSet;
use std::sync::Arc;

use goblin_protocol::link::message::{
    self, ClientOpen, ClientReply, DeliveryBy, Interest, Message,
};
use goblin_protocol::resp::{OwnedRequest, Version, Writer};
use goblin_protocol::session::{Flow, Publication};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use super::subscriber;
use crate::client::{Caller, Conversation, RemoteClient};
use crate::host::Host;
use crate::publications::Origin;

impl Host {
    pub(super) fn handle_message(&mut self, now: Now, edge: usize, message: Message<'_>) {
        match message {
            Message::Publication(publication) => {
                self.handle_publication(now, edge, publication);
            }
            Message::ClientCommand(command) => {
                let mut request = std::mem::take(&mut self.edges.request);
                request.clear();
                for word in command.arguments.iter() {
                    request.push(word);
                }
                self.execute_remote(now, edge, command.client, command.version, &request);
                self.edges.request = request;
            }
            Message::Interest(interest) => self.handle_interest(now, edge, interest),
            Message::InterestBegin { .. } => {
                if let Some(state) = self.edges.edge_mut(edge) {
                    state.stated = Some(HashSet::new());
                }
            }
            Message::InterestEnd { token, .. } => {
                self.drop_unstated_interest(edge);
                self.edges
                    .send(now, edge, &Message::InterestConfirmed { token });
            }
            Message::ClientOpen(client) => self.open_remote(edge, client),
            Message::ClientClose { client } => {
                if let Some(state) = self.edges.edge_mut(edge) {
                    state.clients.remove(&client);
                }
            }
            Message::Statistics(statistics) => {
                if let Some(state) = self.edges.edge_mut(edge) {
                    state.figures = statistics
                        .iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect();
                }
            }
            Message::InterestConfirmed { .. }
            | Message::PublicationResult { .. }
            | Message::Delivery(_)
            | Message::ClientReply(_)
            | Message::ClientClosed { .. }
            | Message::Rights { .. }
            | Message::RightsBegin
            | Message::RightsEnd
            | Message::RightsGone { .. } => {
                // The session refuses what only a host sends.
            }
        }
    }

    /// Executes what an edge sent while its link was full, as far as there is room now.
    pub(super) fn execute_deferred(&mut self, now: Now, edge: usize) {
        while let Some(state) = self.edges.edge_mut(edge)
            && !state.session.is_full()
            && let Some(bytes) = state.deferred.pop_front()
        {
            state.deferred_bytes -= bytes.len();
            if let Ok(message) = Message::decode(&bytes) {
                self.handle_message(now, edge, message);
            }
        }
    }

    fn handle_publication(&mut self, now: Now, edge: usize, publication: message::Publication<'_>) {
        let origin = match publication.delivery {
            DeliveryBy::Edge => Origin::Edge(edge),
            DeliveryBy::Host => Origin::EdgeHostOrdered(edge),
        };
        let elsewhere = self.deliver(
            now,
            origin,
            Publication {
                kind: publication.kind,
                channel: publication.channel,
                payload: publication.payload,
            },
        );
        let result = Message::PublicationResult {
            id: publication.id,
            deliveries: elsewhere + u64::from(publication.delivered_here),
            refused: "",
        };
        self.edges.send(now, edge, &result);
    }

    /// The edge's statement is complete: what it did not name is gone.
    fn drop_unstated_interest(&mut self, edge: usize) {
        let who = subscriber(edge);
        let Some(stated) = self
            .edges
            .edge_mut(edge)
            .and_then(|state| state.stated.take())
        else {
            return;
        };
        for kind in Kind::ALL {
            let gone: Vec<Box<[u8]>> = self
                .interest
                .names_of(who, kind)
                .map(|name| (kind, name.into()))
                .filter(|stands| !stated.contains(stands))
                .map(|(_, name)| name)
                .collect();
            for name in gone {
                self.interest.unsubscribe(who, kind, &name);
            }
        }
    }

    fn handle_interest(&mut self, now: Now, edge: usize, interest: Interest<'_>) {
        let who = subscriber(edge);
        if let Some(stated) = self
            .edges
            .edge_mut(edge)
            .and_then(|state| state.stated.as_mut())
        {
            stated.insert((interest.kind, interest.name.into()));
        }
        if interest.count == 0 {
            self.interest.unsubscribe(who, interest.kind, interest.name);
        } else {
            self.interest
                .subscribe(who, interest.kind, interest.name, interest.count);
        }
        if interest.token > 0 {
            let token = interest.token;
            self.edges
                .send(now, edge, &Message::InterestConfirmed { token });
        }
    }

    fn open_remote(&mut self, edge: usize, client: ClientOpen<'_>) {
        let user = self.users.get(client.user).map(Arc::clone);
        let conversation = match user {
            Some(user) => Conversation {
                authenticated: true,
                ..Conversation::new(user)
            },
            None => Conversation::new(self.users.default_user()),
        };
        if let Some(state) = self.edges.edge_mut(edge) {
            state.clients.insert(
                client.client,
                RemoteClient {
                    conversation,
                    address: client.address.into(),
                    name: client.name.into(),
                },
            );
        }
    }

    fn execute_remote(
        &mut self,
        now: Now,
        edge: usize,
        client: u64,
        version: Version,
        request: &OwnedRequest,
    ) {
        let mut reply = std::mem::take(&mut self.reply);
        let mut writer = Writer::new(&mut reply, version);
        let caller = Caller::Remote { edge, client };
        let flow = if self.edges.client(edge, client).is_some() && !request.arguments().is_empty() {
            self.dispatch(now, caller, request.arguments(), &mut writer)
        } else {
            writer.error("UPSTREAM the host does not know this client any more");
            Flow::Next
        };
        let message = Message::ClientReply(ClientReply {
            client,
            last: true,
            close: flow == Flow::Close,
            bytes: &reply,
        });
        if !self.edges.send_unless_too_long(now, edge, &message) {
            let refusal = Message::ClientReply(ClientReply {
                client,
                last: true,
                close: flow == Flow::Close,
                bytes: b"-ERR the reply is too long for the link between edge and host\r\n",
            });
            self.edges.send(now, edge, &refusal);
        }
        self.give_back(reply);
    }
}
