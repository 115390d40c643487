//! Which command is answered here, which by the host, and which has to wait.

use std::rc::Rc;

use goblin_protocol::command::{self, Command, CommandError, Flags};
use goblin_protocol::link::message::{ClientOpen, Message};
use goblin_protocol::resp::{
    Arguments, OwnedRequest, ProtocolError, RequestLimits, Version, Writer,
};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{
    Awaited, ClientFilter, Flow, Hello, KillRequest, Requests, client_command, write_hello,
    write_pong,
};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::client::{Authentication, Exchange, Stall};
use crate::edge::Edge;
use crate::publications::pack;
use crate::upstream::Gate;

/// A client may have this many replies outstanding at the host; further requests wait.
const AWAITED_REPLIES_MAX: usize = 16_384;

impl Requests for Edge {
    type Client = ConnectionId;

    fn limits(&self, id: ConnectionId) -> RequestLimits {
        let authenticated = self
            .clients
            .get(id)
            .is_some_and(|client| client.authenticated);
        self.clients.limits().requests(authenticated)
    }

    fn execute(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        if !self.users.are_known() && !self.stand_in_for_host(id) {
            return self.wait_for_link(now, id);
        }
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        if client.exchange.is_some() {
            client.stall = Some(Stall::Exchange);
            return Flow::Stall;
        }
        client.session.active = now.monotonic;
        let flow = self.dispatch(now, id, request);
        if flow == Flow::Next {
            self.statistics.commands += 1;
            if let Some(client) = self.clients.get_mut(id) {
                client.session.finish_command();
            }
        }
        flow
    }

    fn refuse(&mut self, now: Now, id: ConnectionId, error: ProtocolError) {
        self.statistics.protocol_errors += 1;
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        if let Some(text) = error.reply() {
            client.session.reply(|reply| reply.error(text));
        }
        client.session.closing = true;
        self.settle(now, id);
    }
}

impl Edge {
    /// Answers the command being executed.
    pub(crate) fn reply(&mut self, id: ConnectionId, write: impl FnOnce(&mut Writer<'_>)) {
        if let Some(client) = self.clients.get_mut(id) {
            client.session.reply(write);
        }
    }

    /// Answers with a push, which `CLIENT REPLY OFF` does not suppress.
    pub(crate) fn push(&mut self, id: ConnectionId, write: impl FnOnce(&mut Writer<'_>)) {
        if let Some(client) = self.clients.get_mut(id) {
            let session = &mut client.session;
            let version = session.version;
            session.replies.write(&mut session.outbox, |out| {
                write(&mut Writer::new(out, version));
            });
        }
    }

    pub(crate) fn reject(&mut self, id: ConnectionId, error: impl std::fmt::Display) -> Flow {
        self.statistics.errors += 1;
        self.reply(id, |reply| reply.error(error));
        if let Some(client) = self.clients.get_mut(id) {
            client.fail_transaction();
        }
        Flow::Next
    }

    fn dispatch(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        let found = command::resolve(request);
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        if client.session.replies.awaited() >= AWAITED_REPLIES_MAX {
            return self.wait_for_replies(id);
        }
        if client.transaction.is_some() {
            let command = found.ok().map(|(command, _)| command);
            return self.dispatch_in_transaction(now, id, command, request);
        }
        let (command, record) = match found {
            Ok(found) => found,
            // The host may be newer than this edge and know it.
            Err(CommandError::UnknownCommand(_) | CommandError::UnknownSubcommand { .. })
                if client.authenticated =>
            {
                return self.forward(now, id, request);
            }
            Err(error) => return self.reject(id, error),
        };
        if !client.authenticated && !record.flags.contains(Flags::NO_AUTH) {
            return self.reject(id, CommandError::NotAuthenticated);
        }
        if !client.user.account.rights.is_unrestricted() {
            let user = Rc::clone(&client.user);
            if let Err(denied) = user.check(record, request) {
                return self.reject(id, denied);
            }
        }
        if client.is_in_subscribed_mode() && !command.is_allowed_while_subscribed() {
            return self.reject(id, CommandError::Subscribed(record));
        }
        client.session.last_command = record.name;
        self.dispatch_permitted(now, id, command, request)
    }

    fn dispatch_permitted(
        &mut self,
        now: Now,
        id: ConnectionId,
        command: Command,
        request: Arguments<'_>,
    ) -> Flow {
        match command {
            Command::Publish => self.publish(now, id, Kind::Channel, request),
            Command::SPublish => self.publish(now, id, Kind::Shard, request),
            Command::Ping => self.ping(id, request),
            Command::Echo => {
                self.reply(id, |reply| reply.bulk(&request[1]));
                Flow::Next
            }
            Command::Subscribe => self.subscribe(now, id, Kind::Channel, request),
            Command::PSubscribe => self.subscribe(now, id, Kind::Pattern, request),
            Command::SSubscribe => self.subscribe(now, id, Kind::Shard, request),
            Command::Unsubscribe => self.unsubscribe(now, id, Kind::Channel, request),
            Command::PUnsubscribe => self.unsubscribe(now, id, Kind::Pattern, request),
            Command::SUnsubscribe => self.unsubscribe(now, id, Kind::Shard, request),
            Command::Hello => self.hello(now, id, request),
            Command::Auth => self.authenticate(now, id, request),
            Command::Quit => self.quit(id),
            Command::Reset => self.reset(now, id),
            Command::Info => self.info(now, id, request),
            Command::ClientId
            | Command::ClientSetName
            | Command::ClientGetName
            | Command::ClientSetInfo
            | Command::ClientList
            | Command::ClientInfo
            | Command::ClientKill
            | Command::ClientReply => self.client(now, id, command, request),
            Command::Multi => self.begin_transaction(now, id, request),
            _ => self.forward(now, id, request),
        }
    }

    /// Passes a request through to the host.
    pub(crate) fn forward(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        match self.ask_host(now, id, request) {
            Ok(()) => Flow::Next,
            Err(flow) => flow,
        }
    }

    /// Passes a request through to the host, which owes the reply from here on. If that is not possible
    /// the request waits or is answered with an error; then this is what becomes of it.
    pub(crate) fn ask_host(
        &mut self,
        now: Now,
        id: ConnectionId,
        request: Arguments<'_>,
    ) -> Result<(), Flow> {
        if self.upstream.gate() != Gate::Open {
            return Err(self.wait_for_link(now, id));
        }
        let Some(client) = self.clients.get_mut(id) else {
            return Err(Flow::Close);
        };
        if !client.open_upstream {
            client.open_upstream = true;
            let session = &client.session;
            self.upstream.send(
                now,
                &Message::ClientOpen(ClientOpen {
                    client: pack(id),
                    user: if client.authenticated {
                        &client.user.name
                    } else {
                        b""
                    },
                    address: &session.peer,
                    local_address: &session.local,
                    name: &session.name,
                }),
            );
        }
        let version = client.session.version;
        if !self.upstream.send_command(now, pack(id), version, request) {
            return Err(self.reject(id, "ERR the command is too long for the link to the host"));
        }
        let muted = client.session.is_muted();
        client.session.replies.expect(Awaited::Command, muted);
        self.statistics.commands_forwarded += 1;
        Ok(())
    }

    /// The request needs the link and the link cannot take it. The client waits, unless it has done
    /// so long enough.
    pub(crate) fn wait_for_link(&mut self, now: Now, id: ConnectionId) -> Flow {
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        if client.gave_up {
            self.statistics.upstream_errors += 1;
            return self.reject(id, "UPSTREAM the host cannot be reached");
        }
        if !matches!(client.stall, Some(Stall::Link { .. })) {
            client.stall = Some(Stall::Link {
                since: now.monotonic,
            });
            self.note_waiting(now, id);
        }
        Flow::Stall
    }

    /// Puts a client at the end of those that wait for the link. Those that have gone since are dropped
    /// once they are the greater part.
    fn note_waiting(&mut self, now: Now, id: ConnectionId) {
        if self.waiting_for_link.len() > 2 * self.clients.len() {
            let clients = &self.clients;
            self.waiting_for_link.retain(|(since, id)| {
                clients
                    .get(*id)
                    .is_some_and(|client| client.stall == Some(Stall::Link { since: *since }))
            });
        }
        self.waiting_for_link.push_back((now.monotonic, id));
    }

    /// The request must not run before everything so far is answered.
    pub(crate) fn wait_for_replies(&mut self, id: ConnectionId) -> Flow {
        if let Some(client) = self.clients.get_mut(id) {
            client.stall = Some(Stall::Replies);
        }
        Flow::Stall
    }

    pub(crate) fn is_owed_replies(&self, id: ConnectionId) -> bool {
        self.clients
            .get(id)
            .is_some_and(|client| !client.session.replies.is_empty())
    }

    fn ping(&mut self, id: ConnectionId, request: Arguments<'_>) -> Flow {
        if let Some(client) = self.clients.get_mut(id) {
            let subscribed = client.is_in_subscribed_mode();
            client
                .session
                .reply(|reply| write_pong(subscribed, request, reply));
        }
        Flow::Next
    }

    fn hello(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        if self.is_owed_replies(id) {
            return self.wait_for_replies(id);
        }
        let hello = match Hello::parse(request) {
            Ok(hello) => hello,
            Err(error) => return self.reject(id, error),
        };
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        let version = hello.version.unwrap_or(client.session.version);
        let Some((user, password)) = hello.credentials else {
            if !client.authenticated {
                return self.reject(id, CommandError::HelloNotAuthenticated);
            }
            self.say_hello(id, version, hello.name);
            return Flow::Next;
        };
        let rest = Authentication {
            user: user.into(),
            hello: Some((version, hello.name.map(Box::from))),
        };
        let request = OwnedRequest::from_words([b"AUTH".as_slice(), user, password]);
        self.ask_host_to_authenticate(now, id, rest, request.arguments())
    }

    fn say_hello(&mut self, id: ConnectionId, version: Version, name: Option<&[u8]>) {
        if let Some(client) = self.clients.get_mut(id) {
            client.session.version = version;
            if let Some(name) = name {
                client.session.name = name.into();
            }
            let number = client.session.id;
            client.session.reply(|reply| write_hello(reply, number));
        }
    }

    fn authenticate(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        if self.is_owed_replies(id) {
            return self.wait_for_replies(id);
        }
        let user = if request.len() > 2 {
            &request[1]
        } else {
            b"default".as_slice()
        };
        let authentication = Authentication {
            user: user.into(),
            hello: None,
        };
        self.ask_host_to_authenticate(now, id, authentication, request)
    }

    fn ask_host_to_authenticate(
        &mut self,
        now: Now,
        id: ConnectionId,
        authentication: Authentication,
        request: Arguments<'_>,
    ) -> Flow {
        if let Err(flow) = self.ask_host(now, id, request) {
            return flow;
        }
        if let Some(client) = self.clients.get_mut(id) {
            client.exchange = Some(Box::new(Exchange::Authentication(authentication)));
        }
        Flow::Next
    }

    /// The host has answered an `AUTH` with `reply`.
    pub(crate) fn finish_authentication(
        &mut self,
        id: ConnectionId,
        authentication: Authentication,
        reply: &[u8],
    ) {
        let Some(user) = self
            .users
            .find(&authentication.user)
            .filter(|_| reply.starts_with(b"+OK"))
        else {
            if let Some(client) = self.clients.get_mut(id) {
                let outbox = &mut client.session.outbox;
                client
                    .session
                    .replies
                    .fulfil(outbox, |out| out.extend_from_slice(reply));
            }
            return;
        };
        let Some(client) = self.clients.get_mut(id) else {
            return;
        };
        client.user = user;
        client.authenticated = true;
        let session = &mut client.session;
        if let Some((version, name)) = authentication.hello {
            session.version = version;
            if let Some(name) = name {
                session.name = name;
            }
            let number = session.id;
            session.replies.fulfil(&mut session.outbox, |out| {
                write_hello(&mut Writer::new(out, version), number);
            });
        } else {
            session
                .replies
                .fulfil(&mut session.outbox, |out| out.extend_from_slice(reply));
        }
    }

    pub(crate) fn quit(&mut self, id: ConnectionId) -> Flow {
        if let Some(client) = self.clients.get_mut(id) {
            client.session.reply(|reply| reply.simple("OK"));
            client.session.closing = true;
        }
        Flow::Close
    }

    pub(crate) fn reset(&mut self, now: Now, id: ConnectionId) -> Flow {
        if self.is_owed_replies(id) {
            return self.wait_for_replies(id);
        }
        let default_user = self.users.default_user();
        self.drop_subscriptions(now, id);
        self.close_upstream(now, id);
        if let Some(client) = self.clients.get_mut(id) {
            client.session.reset();
            client.transaction = None;
            client.authenticated = default_user.needs_no_password();
            client.user = default_user;
            client.session.reply(|reply| reply.simple("RESET"));
        }
        Flow::Next
    }

    fn client(
        &mut self,
        now: Now,
        id: ConnectionId,
        command: Command,
        request: Arguments<'_>,
    ) -> Flow {
        let Some(client) = self.clients.get(id) else {
            return Flow::Close;
        };
        let version = client.session.version;
        let mut out = Vec::new();
        let flow = self.client_into(
            now,
            id,
            command,
            request,
            &mut Writer::new(&mut out, version),
        );
        self.reply(id, |reply| reply.raw(&out));
        flow
    }

    /// Executes a subcommand of `CLIENT` and writes the reply.
    pub(crate) fn client_into(
        &mut self,
        now: Now,
        id: ConnectionId,
        command: Command,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) -> Flow {
        match command {
            Command::ClientList => self.client_list(now, request, reply),
            Command::ClientInfo => reply.verbatim(b"txt", self.describe(now, id).as_bytes()),
            Command::ClientKill => return self.client_kill(now, id, request, reply),
            _ => {
                if let Some(client) = self.clients.get_mut(id)
                    && let Err(error) = client_command(&mut client.session, command, request, reply)
                {
                    self.statistics.errors += 1;
                    reply.error(error);
                }
            }
        }
        Flow::Next
    }

    fn describe(&self, now: Now, id: ConnectionId) -> String {
        self.clients
            .get(id)
            .map(|client| format!("{}\n", self.description(now, client)))
            .unwrap_or_default()
    }

    fn client_list(&self, now: Now, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let filter = match ClientFilter::parse_list(request.skip(2)) {
            Ok(filter) => filter,
            Err(error) => return reply.error(error),
        };
        let lines: String = self
            .clients
            .iter()
            .map(|client| self.description(now, client))
            .filter(|client| filter.matches(client))
            .map(|client| format!("{client}\n"))
            .collect();
        reply.verbatim(b"txt", lines.as_bytes());
    }

    fn client_kill(
        &mut self,
        now: Now,
        id: ConnectionId,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) -> Flow {
        let kill = match KillRequest::parse(request.skip(2)) {
            Ok(kill) => kill,
            Err(error) => {
                reply.error(error);
                return Flow::Next;
            }
        };
        let victims = self.clients.ids(|client| {
            !(kill.skips_caller() && client.session.connection == id)
                && kill.filter().matches(&self.description(now, client))
        });
        kill.write_reply(victims.len(), reply);
        let mut flow = Flow::Next;
        for victim in victims {
            if victim == id {
                // It is told, and then closed.
                if let Some(client) = self.clients.get_mut(id) {
                    client.session.closing = true;
                }
                flow = Flow::Close;
            } else {
                self.close(now, victim, "CLIENT KILL");
            }
        }
        flow
    }
}
