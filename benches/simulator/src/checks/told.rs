//! P4, of values: all commands and publications of a client travel one ordered link, so a subscriber
//! that is told of a change (`SET`, then `PUBLISH`) and reads it through its edge sees the change.
//!
//! Checked: the value that a subscriber reads after it was told is at least as new as what it was told
//! of. Not where the `SET` was not answered with `OK`, or the host restarted in between and forgot.

use goblin_protocol::resp::reply::Value;

use super::Case;
use crate::history::{Ask, Command};
use crate::verdict::{Findings, at};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (number, connection) in case.history.connections.iter().enumerate() {
        for command in &connection.commands {
            let Ask::Get { owner, told_by } = command.ask else {
                continue;
            };
            let Some(expected) = certain_version(case, owner, told_by, command) else {
                continue;
            };
            let read = match command.replies.first() {
                Some(Value::Bulk(bytes)) => std::str::from_utf8(bytes).ok(),
                Some(Value::Null) => None,
                _ => continue,
            };
            let read: Option<u64> = read.and_then(|text| text.parse().ok());
            findings.counts.values_read += 1;
            if read.is_none_or(|read| read < expected) {
                findings.report(
                    "P4",
                    format!(
                        "{} connection {number} was told of version {expected} of connection \
                         {owner}'s key by publication {told_by} and read {read:?}",
                        at(command.sent),
                    ),
                );
            }
        }
    }
}

/// The version that was told, if it is certain that the host had it when it was read.
fn certain_version(case: &Case<'_>, owner: usize, told_by: usize, read: &Command) -> Option<u64> {
    let version = case.history.publications[told_by].tells?;
    let mut commands = case.history.connections[owner].commands.iter();
    let set = commands.find(|command| command.ask == Ask::Set { version })?;
    if set.replies.first() != Some(&Value::Simple(b"OK".to_vec())) {
        return None;
    }
    let until = read.answered?;
    let mut restarts = case.history.host_restarts.iter();
    let forgotten = restarts.any(|restart| set.sent <= *restart && *restart <= until);
    (!forgotten).then_some(version)
}
