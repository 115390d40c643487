//! P4, of replies: replies to one client come in the order of its commands, whatever was answered
//! locally and whatever was passed through. A push is never inside another reply.
//!
//! Checked: every reply is one that its command can have; many carry a token of their own, on the edge
//! (`ECHO`) and on the host (`COMMAND GETKEYS`).

use goblin_protocol::resp::reply::Value;
use goblin_protocol::table::Kind;

use super::Case;
use crate::history::{Ask, Command, Connection};
use crate::names::Name;
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (number, connection) in case.history.connections.iter().enumerate() {
        for command in &connection.commands {
            for (nth, reply) in command.replies.iter().enumerate() {
                if has_push_inside(reply) {
                    findings.report(
                        "P4",
                        format!(
                            "{} connection {number} got a push inside the reply to {:?}: {reply:?}",
                            at(command.sent),
                            command.ask,
                        ),
                    );
                } else if !is_error(reply) && !fits(connection, command, nth, reply) {
                    findings.report(
                        "P4",
                        format!(
                            "{} connection {number} asked {:?} and got {reply:?}",
                            at(command.sent),
                            command.ask,
                        ),
                    );
                } else if let Value::Error(text) = reply
                    && !is_expected_error(text)
                {
                    findings.report(
                        "P4",
                        format!(
                            "{} connection {number} asked {:?} and got an error that nothing here \
                             calls for: {}",
                            at(command.sent),
                            command.ask,
                            String::from_utf8_lossy(text),
                        ),
                    );
                }
            }
        }
    }
}

fn is_error(reply: &Value) -> bool {
    matches!(reply, Value::Error(_))
}

/// Errors because of the link, and what they make of a transaction.
fn is_expected_error(text: &[u8]) -> bool {
    let begins: [&[u8]; 4] = [
        b"UPSTREAM ",
        b"EXECABORT ",
        b"ERR EXEC without MULTI",
        b"ERR DISCARD without MULTI",
    ];
    begins.iter().any(|begin| text.starts_with(begin))
}

/// Whether the command can have this reply.
fn fits(connection: &Connection, command: &Command, nth: usize, reply: &Value) -> bool {
    match (&command.ask, reply) {
        (Ask::Hello, Value::Map(_)) => true,
        (Ask::Ping, Value::Simple(text)) => text == b"PONG",
        (Ask::Ping, Value::Array(words)) => words.first() == Some(&Value::Bulk(b"pong".to_vec())),
        (Ask::Echo(token), Value::Bulk(bytes)) => *bytes == token.to_string().into_bytes(),
        (Ask::Token(token), Value::Array(words)) => {
            *words == [Value::Bulk(token.to_string().into_bytes())]
        }
        (Ask::Set { .. } | Ask::Multi | Ask::Discard(_) | Ask::SetUser(_), Value::Simple(text)) => {
            text == b"OK"
        }
        (Ask::Quit, Value::Simple(text)) => text == b"OK",
        (Ask::Reset, Value::Simple(text)) => text == b"RESET",
        (Ask::UnsubscribeAll { kind, held }, Value::Push(words) | Value::Array(words)) => {
            is_end_of_one(words, *kind, *held)
        }
        (Ask::Get { .. }, Value::Bulk(_) | Value::Null) => true,
        (Ask::Publish(_), Value::Integer(count)) => *count >= 0,
        (Ask::Publish(_), Value::Simple(text)) => text == b"QUEUED",
        (Ask::Exec(publications), Value::Array(replies)) => {
            // Those that could not be queued have failed the transaction.
            replies.len() == publications.len()
                && replies
                    .iter()
                    .all(|reply| matches!(reply, Value::Integer(_)))
        }
        (Ask::NumSub(name), Value::Array(words)) => {
            words.first() == Some(&Value::Bulk(name.text.as_bytes().to_vec()))
        }
        (Ask::Subscribe { first, .. }, Value::Push(words) | Value::Array(words)) => {
            let subscription = connection.subscriptions.get(first + nth);
            let text = subscription.map_or(Vec::new(), |it| it.name.text.as_bytes().to_vec());
            ends_with(words, b"subscribe", &text)
        }
        (Ask::Unsubscribe(name), Value::Push(words) | Value::Array(words)) => {
            ends_with(words, b"unsubscribe", name.text.as_bytes())
        }
        _ => false,
    }
}

/// Whether a confirmation's words end a subscription of the kind, or say that there was none.
fn is_end_of_one(words: &[Value], kind: Kind, held: usize) -> bool {
    match words.get(1) {
        Some(Value::Bulk(name)) => {
            held > 0 && Name::find(kind, name).is_some() && ends_with(words, b"unsubscribe", name)
        }
        Some(Value::Null) => held == 0,
        _ => false,
    }
}

/// Whether a confirmation's words are this one (with the letter of its kind, or none, in front), and
/// the name.
fn ends_with(words: &[Value], word: &[u8], name: &[u8]) -> bool {
    match words {
        [Value::Bulk(first), Value::Bulk(second), Value::Integer(_)] => {
            let prefix = first.strip_suffix(word);
            prefix.is_some_and(|prefix| prefix.len() <= 1) && second == name
        }
        _ => false,
    }
}

fn has_push_inside(reply: &Value) -> bool {
    let is_or_has = |value: &Value| matches!(value, Value::Push(_)) || has_push_inside(value);
    match reply {
        Value::Array(values) | Value::Set(values) | Value::Push(values) => {
            values.iter().any(is_or_has)
        }
        Value::Map(pairs) => pairs
            .iter()
            .any(|(key, value)| is_or_has(key) || is_or_has(value)),
        _ => false,
    }
}
