//! Transactions.

use super::Command;
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Transactions, Categories::TRANSACTION);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Multi,
        name: "multi",
        arity: 1,
        flags: Flags::SESSION.union(Flags::FAST).union(Flags::ALLOW_BUSY),
        since: "1.2.0",
        summary: "Begins a transaction: the commands that follow are queued.",
        ..BASE
    },
    Record {
        command: Command::Exec,
        name: "exec",
        arity: 1,
        flags: Flags::SESSION.union(Flags::SKIP_SLOWLOG),
        since: "1.2.0",
        summary: "Executes the queued commands without anything in between.",
        complexity: "Depends on the commands queued.",
        ..BASE
    },
    Record {
        command: Command::Discard,
        name: "discard",
        arity: 1,
        flags: Flags::SESSION.union(Flags::FAST).union(Flags::ALLOW_BUSY),
        since: "2.0.0",
        summary: "Forgets the queued commands.",
        complexity: "O(N) in the number of commands queued.",
        ..BASE
    },
];
