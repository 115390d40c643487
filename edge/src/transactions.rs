//! Transactions: queued and executed by the host, except for what concerns the connection itself.
//!
//! `SUBSCRIBE` and its like and `CLIENT` are the edge's even between `MULTI` and `EXEC`. The host queues
//! them like everything else, which keeps the checks and the places in the reply, and answers `OK` for
//! each when it executes; the edge then executes them and puts their replies in those places. The whole
//! reply waits until new interest is confirmed, as a `SUBSCRIBE` alone would.
//!
//! A transaction that publishes is delivered by the host. What its client sends next waits until it has
//! been executed: a publication of its own would be delivered here before those of the transaction.
//!
//! What the edge itself refuses between the two, the host does not know of: the transaction has failed,
//! and `EXEC` makes the host discard it.

use goblin_protocol::command::{self, Command, CommandError};
use goblin_protocol::resp::{Arguments, OwnedRequest, Writer, reply};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{Awaited, Flow};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::client::{Exchange, Execution, Transaction};
use crate::edge::Edge;

/// Whether the edge executes the command itself inside a transaction.
fn is_own(command: Command) -> bool {
    subscription_of(command).is_some()
        || matches!(
            command,
            Command::ClientId
                | Command::ClientSetName
                | Command::ClientGetName
                | Command::ClientSetInfo
                | Command::ClientList
                | Command::ClientInfo
                | Command::ClientKill
                | Command::ClientReply
        )
}

/// Whether a command subscribes (true) or unsubscribes, and to what.
fn subscription_of(command: Command) -> Option<(bool, Kind)> {
    match command {
        Command::Subscribe => Some((true, Kind::Channel)),
        Command::PSubscribe => Some((true, Kind::Pattern)),
        Command::SSubscribe => Some((true, Kind::Shard)),
        Command::Unsubscribe => Some((false, Kind::Channel)),
        Command::PUnsubscribe => Some((false, Kind::Pattern)),
        Command::SUnsubscribe => Some((false, Kind::Shard)),
        _ => None,
    }
}

impl Edge {
    /// `MULTI` outside a transaction.
    pub(crate) fn begin_transaction(
        &mut self,
        now: Now,
        id: ConnectionId,
        request: Arguments<'_>,
    ) -> Flow {
        if let Err(flow) = self.ask_host(now, id, request) {
            return flow;
        }
        if let Some(client) = self.clients.get_mut(id) {
            client.transaction = Some(Transaction::default());
        }
        Flow::Next
    }

    /// Any request between `MULTI` and `EXEC`; `command` is `None` for one that cannot be queued.
    pub(crate) fn dispatch_in_transaction(
        &mut self,
        now: Now,
        id: ConnectionId,
        command: Option<Command>,
        request: Arguments<'_>,
    ) -> Flow {
        match command {
            Some(Command::Quit) => self.quit(id),
            Some(Command::Reset) => self.reset(now, id),
            Some(Command::Exec) => self.execute_transaction(now, id, request),
            // The edge would not learn the outcome before it is too late.
            Some(Command::Auth | Command::Hello) => self.reject(id, CommandError::NotInTransaction),
            _ => self.queue(now, id, command, request),
        }
    }

    fn queue(
        &mut self,
        now: Now,
        id: ConnectionId,
        command: Option<Command>,
        request: Arguments<'_>,
    ) -> Flow {
        if let Err(flow) = self.ask_host(now, id, request) {
            return match command {
                Some(Command::Discard) => self.leave_transaction_open(id, flow),
                _ => flow,
            };
        }
        let Some(client) = self.clients.get_mut(id) else {
            return Flow::Close;
        };
        match (command, &mut client.transaction) {
            (Some(Command::Discard), transaction) => *transaction = None,
            (Some(Command::Multi) | None, _) | (_, None) => {}
            (Some(command), Some(transaction)) => {
                transaction.publishes |= matches!(command, Command::Publish | Command::SPublish);
                if is_own(command) {
                    let own = (transaction.queued, OwnedRequest::from(request));
                    transaction.own.push(own);
                }
                transaction.queued += 1;
            }
        }
        Flow::Next
    }

    /// The end of a transaction did not reach the host, where it stays open. If the client has been told
    /// so, it goes: its next commands must not be queued.
    fn leave_transaction_open(&mut self, id: ConnectionId, flow: Flow) -> Flow {
        if flow == Flow::Stall {
            return flow;
        }
        if let Some(client) = self.clients.get_mut(id) {
            client.session.closing = true;
        }
        Flow::Close
    }

    fn execute_transaction(&mut self, now: Now, id: ConnectionId, request: Arguments<'_>) -> Flow {
        let (failed, holds_up) = self
            .clients
            .get(id)
            .and_then(|client| client.transaction.as_ref())
            .map_or((false, false), |transaction| {
                let holds_up = transaction.publishes || !transaction.own.is_empty();
                (transaction.failed, holds_up)
            });
        if (failed || holds_up) && self.is_owed_replies(id) {
            return self.wait_for_replies(id);
        }
        let discard = OwnedRequest::from_words([b"DISCARD".as_slice()]);
        let request = if failed { discard.arguments() } else { request };
        if let Err(flow) = self.ask_host(now, id, request) {
            return self.leave_transaction_open(id, flow);
        }
        if let Some(client) = self.clients.get_mut(id)
            && let Some(transaction) = client.transaction.take()
        {
            let exchange = match (failed, holds_up) {
                (true, _) => Some(Exchange::Abortion),
                (false, true) => Some(Exchange::Execution(Execution {
                    transaction,
                    executed: None,
                })),
                (false, false) => None,
            };
            client.exchange = exchange.map(Box::new);
        }
        Flow::Next
    }

    /// The host has executed its part.
    pub(crate) fn finish_execution(
        &mut self,
        now: Now,
        id: ConnectionId,
        mut execution: Execution,
        reply: &[u8],
    ) {
        let parts = elements(reply, execution.transaction.queued);
        let mut token = 0;
        if let Some(parts) = parts {
            // What may not run any more has an error in its place.
            let own = &mut execution.transaction.own;
            own.retain(|(place, _)| parts.get(*place) == Some(&b"+OK\r\n".as_slice()));
            for (_, own) in &execution.transaction.own {
                let request = own.arguments();
                if let Ok((command, _)) = command::resolve(request)
                    && let Some((true, kind)) = subscription_of(command)
                {
                    let names = request.skip(1);
                    token = token.max(self.request_subscriptions(now, id, kind, names, false));
                }
            }
        } else {
            execution.transaction.own.clear();
        }
        execution.executed = Some((reply.to_vec(), token));
        if token > 0 {
            self.await_confirmation(token, id);
        }
        if let Some(client) = self.clients.get_mut(id) {
            client.exchange = Some(Box::new(Exchange::Execution(execution)));
        }
        self.settle_execution(now, id);
    }

    /// Completes a transaction whose confirmation has come.
    pub(crate) fn settle_execution(&mut self, now: Now, id: ConnectionId) {
        let Some(client) = self.clients.get(id) else {
            return;
        };
        match client.exchange.as_deref() {
            Some(Exchange::Execution(Execution {
                executed: Some((_, token)),
                ..
            })) if self.is_confirmed(*token) => {}
            _ => return,
        }
        let taken = self
            .clients
            .get_mut(id)
            .and_then(|client| client.exchange.take());
        let Some(Exchange::Execution(execution)) = taken.map(|exchange| *exchange) else {
            return;
        };
        let reply = self.complete(now, id, &execution);
        if let Some(client) = self.clients.get_mut(id) {
            client.fulfil(Awaited::Command, |writer| writer.raw(&reply));
        }
    }

    /// The host's reply with the edge's own parts in their places.
    fn complete(&mut self, now: Now, id: ConnectionId, execution: &Execution) -> Vec<u8> {
        let Some((executed, _)) = &execution.executed else {
            return Vec::new();
        };
        let transaction = &execution.transaction;
        let Some(parts) =
            elements(executed, transaction.queued).filter(|_| !transaction.own.is_empty())
        else {
            return executed.clone();
        };
        let mut own = transaction.own.iter().peekable();
        let mut out = format!("*{}\r\n", parts.len()).into_bytes();
        for (place, part) in parts.into_iter().enumerate() {
            match own.next_if(|(own_place, _)| *own_place == place) {
                Some((_, request)) => self.execute_own(now, id, request.arguments(), &mut out),
                None => out.extend_from_slice(part),
            }
        }
        out
    }

    fn execute_own(
        &mut self,
        now: Now,
        id: ConnectionId,
        request: Arguments<'_>,
        out: &mut Vec<u8>,
    ) {
        let Ok((command, _)) = command::resolve(request) else {
            return;
        };
        match subscription_of(command) {
            Some((true, _)) => self.confirm_into(now, id, request.len() - 1, out),
            Some((false, kind)) => self.unsubscribe_into(now, id, kind, request.skip(1), out),
            None => {
                if let Some(client) = self.clients.get(id) {
                    let version = client.session.version;
                    self.client_into(now, id, command, request, &mut Writer::new(out, version));
                }
            }
        }
    }
}

/// The elements of an array reply that has exactly `count` of them; `None` for any other reply, as
/// when the transaction was discarded.
fn elements(bytes: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let head = format!("*{count}\r\n");
    let mut rest = bytes.strip_prefix(head.as_bytes())?;
    let mut elements = Vec::with_capacity(count);
    while !rest.is_empty() {
        let length = reply::complete_len(rest).ok()??;
        let (element, behind) = rest.split_at_checked(length)?;
        elements.push(element);
        rest = behind;
    }
    (elements.len() == count).then_some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_taken_apart_only_when_it_has_the_right_number() {
        let reply = b"*2\r\n+OK\r\n*1\r\n$1\r\na\r\n";
        let parts = elements(reply, 2).unwrap();
        assert_eq!(parts, [b"+OK\r\n".as_slice(), b"*1\r\n$1\r\na\r\n"]);
        assert!(elements(reply, 1).is_none());
        assert!(elements(b"-EXECABORT x\r\n", 2).is_none());
        assert!(elements(b"*2\r\n+OK\r\n", 2).is_none());
        assert_eq!(elements(b"*0\r\n", 0), Some(vec![]));
    }
}
