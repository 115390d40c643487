//! What a request does: whether it may run, whether it is queued, and who executes it.
//!
//! The same path serves clients that are connected here and clients behind an edge. A reply is
//! written into one buffer: the client's outbox at once, or, while a transaction executes, the
//! transaction's own reply, so that nothing can come between its parts.

use std::sync::Arc;

use goblin_protocol::command::{self, Command, CommandError, Flags, Record};
use goblin_protocol::limits::IDLE_BUFFER_BYTES_MAX;
use goblin_protocol::resp::{
    Arguments, OwnedRequest, ProtocolError, RequestLimits, Writer, parse_integer,
};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{
    ClientFilter, Flow, Hello, KillRequest, Publication, Requests, client_command, write_hello,
    write_pong,
};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::client::{Caller, Conversation, Transaction};
use crate::data;
use crate::host::Host;
use crate::publications::Origin;
use crate::users::DEFAULT_USER;

/// A reply of at least this many bytes becomes the client's outbox instead of being copied into it.
const SWAPPED_REPLY_BYTES_MIN: usize = 16 * 1024;

/// The reply to what the edge of the caller executes itself: inside a transaction it holds the place
/// of the edge's own reply.
const PLACE_OF_THE_EDGE: &str = "OK";

impl Requests for Host {
    type Client = ConnectionId;

    fn limits(&self, id: ConnectionId) -> RequestLimits {
        let authenticated = self
            .clients
            .get(id)
            .is_some_and(|client| client.conversation.authenticated);
        self.clients.limits().requests(authenticated)
    }

    fn execute(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        client.session.active = now.monotonic;
        let version = client.session.version;
        let mut reply = std::mem::take(&mut self.reply);
        self.publications.begin_command(id);
        let mut writer = Writer::new(&mut reply, version);
        let flow = self.dispatch(now, Caller::Direct(id), request, &mut writer);
        if flow == Flow::Stall {
            self.publications.put_off_command();
        } else {
            self.finish(id, &mut reply, flow);
        }
        self.give_back(reply);
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

impl Host {
    /// Hands the reply of a command to its client, and behind it what the command published to it.
    fn finish(&mut self, id: ConnectionId, reply: &mut Vec<u8>, flow: Flow) {
        if let Some(client) = self.clients.get_mut(id) {
            let session = &mut client.session;
            if session.is_muted() {
                reply.clear();
            }
            if reply.len() >= SWAPPED_REPLY_BYTES_MIN && session.outbox.is_empty() {
                std::mem::swap(session.outbox.tail(), reply);
            } else {
                session.outbox.tail().extend_from_slice(reply);
            }
            self.publications.end_command(&mut session.outbox);
            session.finish_command();
            session.closing |= flow == Flow::Close;
        }
    }

    /// Keeps the buffer of a reply for the next one, unless it has become large.
    pub(crate) fn give_back(&mut self, mut reply: Vec<u8>) {
        if reply.capacity() <= IDLE_BUFFER_BYTES_MAX {
            reply.clear();
            self.reply = reply;
        }
    }

    pub(crate) fn conversation(&mut self, caller: Caller) -> Option<&mut Conversation> {
        match caller {
            Caller::Direct(id) => Some(&mut self.clients.get_mut(id)?.conversation),
            Caller::Remote { edge, client } => {
                Some(&mut self.edges.client_mut(edge, client)?.conversation)
            }
        }
    }

    /// Checks, queues or executes one request and writes its reply.
    pub(crate) fn dispatch(
        &mut self,
        now: Now,
        caller: Caller,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) -> Flow {
        self.statistics.commands += 1;
        let (command, record) = match self.permit(caller, request) {
            Ok(permitted) => permitted,
            Err(refused) => {
                reply.error(refused);
                self.statistics.errors += 1;
                self.fail_transaction(caller);
                return Flow::Next;
            }
        };
        if let Caller::Direct(id) = caller
            && let Some(client) = self.clients.get_mut(id)
        {
            client.session.last_command = record.name;
        }
        let immediate = matches!(
            command,
            Command::Multi | Command::Exec | Command::Discard | Command::Quit | Command::Reset
        );
        let bytes_max = self.clients.limits().query_bytes_max;
        if !immediate
            && let Some(conversation) = self.conversation(caller)
            && let Some(transaction) = &mut conversation.transaction
        {
            return queue(transaction, request, bytes_max, reply);
        }
        self.run(now, caller, command, request, reply)
    }

    /// Whether the request may run: it exists, has the right number of words, and its client the
    /// right to it.
    fn permit<'a>(
        &'a self,
        caller: Caller,
        request: Arguments<'a>,
    ) -> Result<(Command, &'static Record), CommandError<'a>> {
        let (command, record) = command::resolve(request)?;
        let conversation = match caller {
            Caller::Direct(id) => self.clients.get(id).map(|client| &client.conversation),
            Caller::Remote { edge, client } => self
                .edges
                .client(edge, client)
                .map(|client| &client.conversation),
        };
        let Some(conversation) = conversation else {
            return Err(CommandError::NotAuthenticated);
        };
        if !conversation.authenticated && !record.flags.contains(Flags::NO_AUTH) {
            return Err(CommandError::NotAuthenticated);
        }
        let user = &conversation.user;
        user.account.rights.check(&user.name, record, request)?;
        if let Caller::Direct(id) = caller
            && !command.is_allowed_while_subscribed()
            && self.is_in_subscribed_mode(id)
        {
            return Err(CommandError::Subscribed(record));
        }
        Ok((command, record))
    }

    fn fail_transaction(&mut self, caller: Caller) {
        if let Some(conversation) = self.conversation(caller)
            && let Some(transaction) = &mut conversation.transaction
        {
            transaction.failed = true;
        }
    }

    fn run(
        &mut self,
        now: Now,
        caller: Caller,
        command: Command,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) -> Flow {
        match command {
            Command::Publish => self.publish(now, Kind::Channel, request, reply),
            Command::SPublish => self.publish(now, Kind::Shard, request, reply),
            Command::Ping => self.ping(caller, request, reply),
            Command::Echo => reply.bulk(&request[1]),
            Command::Multi => self.begin_transaction(caller, reply),
            Command::Exec => self.execute_transaction(now, caller, reply),
            Command::Discard => self.discard_transaction(caller, reply),
            Command::Subscribe | Command::PSubscribe | Command::SSubscribe => {
                self.subscribe_for(caller, kind_of(command), request, reply);
            }
            Command::Unsubscribe | Command::PUnsubscribe | Command::SUnsubscribe => {
                self.unsubscribe_for(caller, kind_of(command), request, reply);
            }
            Command::PubSubChannels
            | Command::PubSubNumSub
            | Command::PubSubNumPat
            | Command::PubSubShardChannels
            | Command::PubSubShardNumSub => self.pubsub(command, request.skip(2), reply),
            Command::Hello => self.hello(caller, request, reply),
            Command::Auth => self.authenticate(caller, request, reply),
            Command::Quit => {
                reply.simple("OK");
                return Flow::Close;
            }
            Command::Reset => self.reset(caller, reply),
            Command::Select => select(request, reply),
            Command::Time => write_time(now, reply),
            Command::Info => return self.info(now, caller, request, reply),
            Command::ClientId
            | Command::ClientSetName
            | Command::ClientGetName
            | Command::ClientSetInfo
            | Command::ClientReply
            | Command::ClientInfo => self.client_own(now, caller, command, request, reply),
            Command::ClientList | Command::ClientKill
                if matches!(caller, Caller::Remote { .. }) =>
            {
                reply.simple(PLACE_OF_THE_EDGE);
            }
            Command::ClientList => self.client_list(now, request, reply),
            Command::ClientKill => return self.client_kill(now, caller, request, reply),
            Command::ConfigGet => self.config_get(request.skip(2), reply),
            Command::ConfigSet => self.config_set(request.skip(2), reply),
            Command::AclSetUser
            | Command::AclGetUser
            | Command::AclDelUser
            | Command::AclList
            | Command::AclUsers
            | Command::AclWhoAmI
            | Command::AclCat => self.acl(caller, command, request, reply),
            Command::Command
            | Command::CommandCount
            | Command::CommandDocs
            | Command::CommandGetKeys
            | Command::CommandGetKeysAndFlags
            | Command::CommandInfo
            | Command::CommandList => command::reply::write(command, request, reply),
            Command::ClientHelp
            | Command::ConfigHelp
            | Command::AclHelp
            | Command::CommandHelp
            | Command::PubSubHelp => command::reply::help(command, reply),
            _ => data::execute(command, request, &mut self.store, now, reply),
        }
        Flow::Next
    }

    fn publish(&mut self, now: Now, kind: Kind, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let publication = Publication {
            kind,
            channel: &request[1],
            payload: &request[2],
        };
        let delivered = self.deliver(now, Origin::Host, publication);
        reply.integer(i64::try_from(delivered).unwrap_or(i64::MAX));
    }

    fn ping(&self, caller: Caller, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let subscribed = match caller {
            Caller::Direct(id) => self.is_in_subscribed_mode(id),
            Caller::Remote { .. } => false,
        };
        write_pong(subscribed, request, reply);
    }

    fn begin_transaction(&mut self, caller: Caller, reply: &mut Writer<'_>) {
        let Some(conversation) = self.conversation(caller) else {
            return;
        };
        if conversation.transaction.is_some() {
            return reply.error("ERR MULTI calls can not be nested");
        }
        conversation.transaction = Some(Transaction::default());
        reply.simple("OK");
    }

    fn take_transaction(&mut self, caller: Caller) -> Option<Transaction> {
        self.conversation(caller)?.transaction.take()
    }

    fn discard_transaction(&mut self, caller: Caller, reply: &mut Writer<'_>) {
        match self.take_transaction(caller) {
            Some(_) => reply.simple("OK"),
            None => reply.error("ERR DISCARD without MULTI"),
        }
    }

    fn execute_transaction(&mut self, now: Now, caller: Caller, reply: &mut Writer<'_>) {
        let Some(transaction) = self.take_transaction(caller) else {
            return reply.error("ERR EXEC without MULTI");
        };
        if transaction.failed {
            return reply.error("EXECABORT Transaction discarded because of previous errors.");
        }
        reply.array(transaction.queued.len());
        self.executes_transaction = true;
        for request in &transaction.queued {
            let request = request.arguments();
            match self.permit(caller, request) {
                Ok((command, _)) => {
                    self.run(now, caller, command, request, reply);
                }
                Err(refused) => reply.error(refused),
            }
        }
        self.executes_transaction = false;
    }

    fn subscribe_for(
        &mut self,
        caller: Caller,
        kind: Kind,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        match caller {
            Caller::Direct(id) => self.subscribe(id, kind, request.skip(1), reply),
            Caller::Remote { .. } => reply.simple(PLACE_OF_THE_EDGE),
        }
    }

    fn unsubscribe_for(
        &mut self,
        caller: Caller,
        kind: Kind,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        match caller {
            Caller::Direct(id) => self.unsubscribe(id, kind, request.skip(1), reply),
            Caller::Remote { .. } => reply.simple(PLACE_OF_THE_EDGE),
        }
    }

    fn hello(&mut self, caller: Caller, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let hello = match Hello::parse(request) {
            Ok(hello) => hello,
            Err(error) => return reply.error(error),
        };
        if let Some((user, password)) = hello.credentials
            && let Err(error) = self.log_in(caller, user, password)
        {
            return reply.error(error);
        }
        if self
            .conversation(caller)
            .is_none_or(|conversation| !conversation.authenticated)
        {
            return reply.error(CommandError::HelloNotAuthenticated);
        }
        let version = hello.version.unwrap_or(reply.version());
        let mut number = 0;
        match caller {
            Caller::Direct(id) => {
                if let Some(client) = self.clients.get_mut(id) {
                    client.session.version = version;
                    if let Some(name) = hello.name {
                        client.session.name = name.into();
                    }
                    number = client.session.id;
                }
            }
            // Only inside a transaction: the edge answers it otherwise.
            Caller::Remote { client, .. } => number = client,
        }
        write_hello(&mut reply.in_version(version), number);
    }

    fn authenticate(&mut self, caller: Caller, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let (user, password): (&[u8], &[u8]) = match request.len() {
            2 if self.users.default_needs_no_password() => {
                return reply.error(
                    "ERR AUTH <password> called without any password configured for the default \
                     user. Are you sure your configuration is correct?",
                );
            }
            2 => (DEFAULT_USER, &request[1]),
            3 => (&request[1], &request[2]),
            _ => return reply.error(CommandError::Syntax),
        };
        match self.log_in(caller, user, password) {
            Ok(()) => reply.simple("OK"),
            Err(error) => reply.error(error),
        }
    }

    fn log_in(
        &mut self,
        caller: Caller,
        name: &[u8],
        password: &[u8],
    ) -> Result<(), CommandError<'static>> {
        let Some(user) = self.users.authenticate(name, password) else {
            self.statistics.logins_refused += 1;
            return Err(CommandError::WrongPassword);
        };
        if let Some(conversation) = self.conversation(caller) {
            conversation.user = user;
            conversation.authenticated = true;
        }
        Ok(())
    }

    fn reset(&mut self, caller: Caller, reply: &mut Writer<'_>) {
        let conversation = Conversation::new(self.users.default_user());
        if let Caller::Direct(id) = caller {
            self.drop_subscriptions(id);
            if let Some(client) = self.clients.get_mut(id) {
                client.session.reset();
            }
        }
        if let Some(slot) = self.conversation(caller) {
            *slot = conversation;
        }
        reply.simple("RESET");
    }

    fn acl(
        &mut self,
        caller: Caller,
        command: Command,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        if let Some(conversation) = self.conversation(caller) {
            let me = Arc::clone(&conversation.user);
            self.users.answer(command, request, &me, reply);
        }
    }

    fn client_own(
        &mut self,
        now: Now,
        caller: Caller,
        command: Command,
        request: Arguments<'_>,
        reply: &mut Writer<'_>,
    ) {
        let id = match caller {
            Caller::Direct(id) => id,
            Caller::Remote { .. } => return reply.simple(PLACE_OF_THE_EDGE),
        };
        if command == Command::ClientInfo {
            let line = self
                .clients
                .get(id)
                .map(|client| format!("{}\n", self.description(now, client)))
                .unwrap_or_default();
            return reply.verbatim(b"txt", line.as_bytes());
        }
        if let Some(client) = self.clients.get_mut(id)
            && let Err(error) = client_command(&mut client.session, command, request, reply)
        {
            reply.error(error);
        }
    }

    fn client_list(&self, now: Now, request: Arguments<'_>, reply: &mut Writer<'_>) {
        let filter = match ClientFilter::parse_list(request.skip(2)) {
            Ok(filter) => filter,
            Err(error) => return reply.error(error),
        };
        let mut lines: String = self
            .clients
            .iter()
            .map(|client| self.description(now, client))
            .filter(|client| filter.matches(client))
            .map(|client| format!("{client}\n"))
            .collect();
        if filter.is_everybody() {
            self.edges.list_clients(&mut lines);
        }
        reply.verbatim(b"txt", lines.as_bytes());
    }

    fn client_kill(
        &mut self,
        now: Now,
        caller: Caller,
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
        let is_caller = |id| caller == Caller::Direct(id);
        let victims = self.clients.ids(|client| {
            !(kill.skips_caller() && is_caller(client.session.connection))
                && kill.filter().matches(&self.description(now, client))
        });
        kill.write_reply(victims.len(), reply);
        let mut flow = Flow::Next;
        for victim in victims {
            if is_caller(victim) {
                // It is told, and then closed, also at the end of a transaction.
                if let Some(client) = self.clients.get_mut(victim) {
                    client.session.closing = true;
                }
                flow = Flow::Close;
            } else {
                self.close(victim, "CLIENT KILL");
            }
        }
        flow
    }
}

/// Queues a request; a client that queues more than a request may take is closed.
fn queue(
    transaction: &mut Transaction,
    request: Arguments<'_>,
    bytes_max: usize,
    reply: &mut Writer<'_>,
) -> Flow {
    let request = OwnedRequest::from(request);
    transaction.bytes += request.memory();
    if transaction.bytes > bytes_max {
        reply.error("ERR the transaction exceeds client-query-buffer-limit");
        return Flow::Close;
    }
    transaction.queued.push(request);
    reply.simple("QUEUED");
    Flow::Next
}

fn kind_of(command: Command) -> Kind {
    match command {
        Command::PSubscribe | Command::PUnsubscribe => Kind::Pattern,
        Command::SSubscribe | Command::SUnsubscribe => Kind::Shard,
        _ => Kind::Channel,
    }
}

fn select(request: Arguments<'_>, reply: &mut Writer<'_>) {
    match parse_integer(&request[1]) {
        Some(0) => reply.simple("OK"),
        Some(_) => reply.error("ERR DB index is out of range"),
        None => reply.error(CommandError::NotAnInteger),
    }
}

fn write_time(now: Now, reply: &mut Writer<'_>) {
    reply.array(2);
    reply.bulk((now.unix_us / 1_000_000).to_string().as_bytes());
    reply.bulk((now.unix_us % 1_000_000).to_string().as_bytes());
}
