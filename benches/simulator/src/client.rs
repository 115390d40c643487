//! A scripted client: sends commands, reads replies and deliveries, and writes all of it down.
//!
//! It knows as little as a client library does: a reply belongs to the oldest command without one; a
//! delivery is what says so. Whether it is the right reply is for the checkers to find out.

use std::collections::VecDeque;

use goblin_protocol::resp::reply::Value;
use goblin_protocol::table::Kind;
use goblin_protocol::time::Time;
use goblin_transport::simulated;

use crate::history::Subscription;
use crate::history::{Ask, Command, Connection, Delivery, History, Oddity, Outcome, Publication};
use crate::names::Name;
use crate::request;

/// One connection of the script.
#[derive(Debug)]
pub(crate) struct Client {
    /// None once the client has left.
    pub(crate) network: Option<simulated::Client>,
    /// Its number in the history.
    pub(crate) number: usize,
    /// Whether it takes what arrives.
    pub(crate) reads: bool,
    /// Commands without all of their replies, oldest first.
    awaiting: VecDeque<usize>,
    received: Vec<u8>,
    /// Requests that go out together.
    unsent: Vec<u8>,
    version: u64,
}

impl Client {
    pub(crate) fn new(network: simulated::Client, history: &mut History, seen: Connection) -> Self {
        history.connections.push(seen);
        Self {
            network: Some(network),
            number: history.connections.len() - 1,
            reads: true,
            awaiting: VecDeque::new(),
            received: Vec::new(),
            unsent: Vec::new(),
            version: 0,
        }
    }

    /// Whether every command is answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.awaiting.is_empty()
    }

    /// Prepares a command.
    pub(crate) fn ask(&mut self, history: &mut History, now: Time, ask: Ask) {
        request::write_plain(&mut self.unsent, self.number, &ask);
        for subscription in &mut history.connections[self.number].subscriptions {
            if ends(&ask, subscription.name) {
                subscription.leaving.get_or_insert(now);
            }
        }
        self.note(history, now, ask);
    }

    /// Prepares a `SET` of its own key and returns the version that it sets.
    pub(crate) fn set(&mut self, history: &mut History, now: Time) -> u64 {
        self.version += 1;
        let version = self.version;
        self.ask(history, now, Ask::Set { version });
        version
    }

    /// Prepares a subscription to names of one kind.
    pub(crate) fn subscribe(&mut self, history: &mut History, now: Time, names: &[Name]) {
        let Some(kind) = names.first().map(|name| name.kind) else {
            return;
        };
        let mut words = vec![request::subscribing(kind).0.as_bytes()];
        words.extend(names.iter().map(|name| name.text.as_bytes()));
        request::write(&mut self.unsent, &words);
        let subscriptions = &mut history.connections[self.number].subscriptions;
        let first = subscriptions.len();
        subscriptions.extend(names.iter().map(|name| Subscription {
            name: *name,
            sent: now,
            confirmed: None,
            refused: None,
            leaving: None,
            ended: None,
        }));
        let count = names.len();
        self.note(history, now, Ask::Subscribe { first, count });
    }

    /// Prepares a publication and returns its number.
    pub(crate) fn publish(
        &mut self,
        history: &mut History,
        now: Time,
        name: Name,
        bytes: usize,
        tells: Option<u64>,
    ) -> usize {
        let publication = history.publications.len();
        let payload = request::payload(publication, tells, bytes);
        history.publications.push(Publication {
            publisher: self.number,
            name,
            sent: now,
            in_transaction: false,
            undelayed: self.awaiting.is_empty(),
            payload_bytes: payload.len(),
            tells,
            outcome: Outcome::Unknown,
            answered: None,
        });
        let word: &[u8] = match name.kind {
            Kind::Shard => b"SPUBLISH",
            _ => b"PUBLISH",
        };
        request::write(&mut self.unsent, &[word, name.text.as_bytes(), &payload]);
        self.note(history, now, Ask::Publish(publication));
        publication
    }

    fn note(&mut self, history: &mut History, now: Time, ask: Ask) {
        let commands = &mut history.connections[self.number].commands;
        self.awaiting.push_back(commands.len());
        commands.push(Command {
            sent: now,
            ask,
            replies: Vec::new(),
            answered: None,
        });
    }

    /// Sends what was prepared, as one piece.
    pub(crate) fn flush(&mut self) {
        if let Some(network) = &self.network
            && !self.unsent.is_empty()
        {
            network.send(&self.unsent);
        }
        self.unsent.clear();
    }

    /// Reads what has arrived. Returns how many bytes that was.
    pub(crate) fn poll(&mut self, history: &mut History, now: Time) -> usize {
        let Some(network) = self.network.as_ref().filter(|_| self.reads) else {
            return 0;
        };
        let bytes = network.receive();
        let closed = network.closed();
        if !bytes.is_empty() {
            history.digest.add(now, self.number, &bytes);
            self.received.extend_from_slice(&bytes);
            self.read_values(history, now);
            self.flush();
        }
        if let Some(why) = closed {
            history.connections[self.number].closed = Some((now, why));
            self.network = None;
        }
        bytes.len()
    }

    fn read_values(&mut self, history: &mut History, now: Time) {
        let mut read = 0;
        loop {
            match Value::parse(&self.received[read..]) {
                Ok(Some((value, length))) => {
                    read += length;
                    self.handle_value(history, now, value);
                }
                Ok(None) => break,
                Err(error) => {
                    let text = format!("received what is no reply: {error}");
                    self.find_odd(history, now, "P4", &text);
                    read = self.received.len();
                    break;
                }
            }
        }
        self.received.drain(..read);
    }

    fn find_odd(&self, history: &mut History, at: Time, promise: &'static str, text: &str) {
        let text = format!("connection {}: {text}", self.number);
        history.oddities.push(Oddity { at, promise, text });
    }

    fn handle_value(&mut self, history: &mut History, now: Time, value: Value) {
        let resp3 = history.connections[self.number].resp3;
        let words = match &value {
            Value::Push(words) => Some(words),
            Value::Array(words) if !resp3 => Some(words),
            _ => None,
        };
        match words.map(|words| read_delivery(words)) {
            Some(Read::Delivery(via, publication)) if publication < history.publications.len() => {
                self.handle_delivery(history, now, via, publication);
            }
            Some(Read::Delivery(..) | Read::Garbled) => {
                let text = format!("received a delivery of nothing: {value:?}");
                self.find_odd(history, now, "P5", &text);
            }
            Some(Read::Other) | None => self.handle_reply(history, now, value),
        }
    }

    fn handle_delivery(&mut self, history: &mut History, now: Time, via: Name, publication: usize) {
        let connection = &mut history.connections[self.number];
        connection.deliveries.push(Delivery {
            at: now,
            via,
            publication,
        });
        let told = &history.publications[publication];
        if told.tells.is_some() && connection.resp3 {
            let owner = told.publisher;
            let told_by = publication;
            self.ask(history, now, Ask::Get { owner, told_by });
        }
    }

    fn handle_reply(&mut self, history: &mut History, now: Time, value: Value) {
        let Some(index) = self.awaiting.front().copied() else {
            let text = format!("received a reply to nothing: {value:?}");
            return self.find_odd(history, now, "P4", &text);
        };
        let connection = &mut history.connections[self.number];
        let command = &mut connection.commands[index];
        let is_error = matches!(value, Value::Error(_));
        let nth = command.replies.len();
        command.replies.push(value);
        let expected = match &command.ask {
            Ask::Subscribe { count, .. } if !is_error => *count,
            Ask::UnsubscribeAll { held, .. } if !is_error => (*held).max(1),
            _ => 1,
        };
        let done = command.replies.len() >= expected;
        if done {
            command.answered = Some(now);
            self.awaiting.pop_front();
        }
        match command.ask.clone() {
            Ask::Subscribe { first, count } => {
                let asked = &mut connection.subscriptions[first..first + count];
                if is_error {
                    for subscription in asked {
                        subscription.refused = Some(now);
                    }
                } else if let Some(subscription) = asked.get_mut(nth) {
                    subscription.confirmed = Some(now);
                }
            }
            Ask::Unsubscribe(_) | Ask::UnsubscribeAll { .. } | Ask::Reset if !is_error => {
                // Those that were asked for after this command stay.
                let (sent, ask) = (command.sent, &command.ask);
                for subscription in &mut connection.subscriptions {
                    if ends(ask, subscription.name) && subscription.leaving == Some(sent) {
                        subscription.ended = Some(now);
                    }
                }
            }
            _ => self.note_outcomes(history, now, index),
        }
    }

    /// What a reply says about publications.
    fn note_outcomes(&self, history: &mut History, now: Time, index: usize) {
        let command = &history.connections[self.number].commands[index];
        let Some(reply) = command.replies.last() else {
            return;
        };
        let mut outcomes = Vec::new();
        match &command.ask {
            Ask::Publish(publication) => {
                let executed = matches!(reply, Value::Integer(_));
                history.publications[*publication].in_transaction &= !executed;
                outcomes.push((*publication, outcome(reply)));
            }
            Ask::Exec(publications) => match reply {
                Value::Array(replies) => {
                    let each = publications.iter().zip(replies);
                    outcomes
                        .extend(each.map(|(publication, reply)| (*publication, outcome(reply))));
                }
                Value::Error(text) if !text.starts_with(b"UPSTREAM") => {
                    let each = publications.iter();
                    outcomes.extend(each.map(|publication| (*publication, Outcome::Refused)));
                }
                _ => {}
            },
            Ask::Discard(publications) if matches!(reply, Value::Simple(_)) => {
                let each = publications.iter();
                outcomes.extend(each.map(|publication| (*publication, Outcome::Refused)));
            }
            _ => {}
        }
        for (publication, outcome) in outcomes {
            let publication = &mut history.publications[publication];
            if outcome != Outcome::Unknown && publication.outcome == Outcome::Unknown {
                publication.outcome = outcome;
                publication.answered = Some(now);
            }
        }
    }
}

/// Whether a command ends subscriptions to a name.
fn ends(ask: &Ask, name: Name) -> bool {
    match ask {
        Ask::Unsubscribe(ended) => *ended == name,
        Ask::UnsubscribeAll { kind, .. } => *kind == name.kind,
        Ask::Reset => true,
        _ => false,
    }
}

/// What the reply to a publication says. `QUEUED` says nothing yet, nor does an error that says that
/// nobody knows.
fn outcome(reply: &Value) -> Outcome {
    match reply {
        Value::Integer(count) => Outcome::Delivered(*count),
        Value::Error(text) if text.ends_with(b"outcome is unknown") => Outcome::Unknown,
        Value::Error(text) => match delivered_here(text) {
            Some(count) => Outcome::Lost(count),
            None => Outcome::Refused,
        },
        _ => Outcome::Unknown,
    }
}

/// The number in `UPSTREAM delivered to N here, unknown elsewhere: …`.
fn delivered_here(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let rest = text.strip_prefix("UPSTREAM delivered to ")?;
    rest.split(' ').next()?.parse().ok()
}

enum Read {
    Delivery(Name, usize),
    /// It begins like a delivery.
    Garbled,
    Other,
}

fn read_delivery(words: &[Value]) -> Read {
    let bulk = |index: usize| match words.get(index) {
        Some(Value::Bulk(bytes)) => bytes.as_slice(),
        _ => b"",
    };
    let (kind, payload) = match (bulk(0), words.len()) {
        (b"message", 3) => (Kind::Channel, 2),
        (b"smessage", 3) => (Kind::Shard, 2),
        (b"pmessage", 4) => (Kind::Pattern, 3),
        (b"message" | b"smessage" | b"pmessage", _) => return Read::Garbled,
        _ => return Read::Other,
    };
    match (
        Name::find(kind, bulk(1)),
        request::publication(bulk(payload)),
    ) {
        (Some(via), Some(publication)) => Read::Delivery(via, publication),
        _ => Read::Garbled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_publication_tells_how_often_it_was_delivered() {
        let reply = b"UPSTREAM delivered to 12 here, unknown elsewhere: the session was lost";
        assert_eq!(outcome(&Value::Error(reply.to_vec())), Outcome::Lost(12));
        let reply = b"UPSTREAM the host cannot be reached";
        assert_eq!(outcome(&Value::Error(reply.to_vec())), Outcome::Refused);
        let reply = b"UPSTREAM the host cannot be reached; the outcome is unknown";
        assert_eq!(outcome(&Value::Error(reply.to_vec())), Outcome::Unknown);
        assert_eq!(outcome(&Value::Integer(3)), Outcome::Delivered(3));
        assert_eq!(
            outcome(&Value::Simple(b"QUEUED".to_vec())),
            Outcome::Unknown
        );
    }
}
