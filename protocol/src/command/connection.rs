//! The session of a client.

use super::Command;
use super::argument::{block, integer, string};
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Connection, Categories::CONNECTION);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Ping,
        name: "ping",
        arity: -1,
        flags: Flags::FAST,
        summary: "Answers PONG, or the argument when there is one.",
        arguments: &[string("message").optional()],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..BASE
    },
    Record {
        command: Command::Echo,
        name: "echo",
        arity: 2,
        flags: Flags::ANYTIME.union(Flags::FAST),
        summary: "Answers its argument.",
        arguments: &[string("message")],
        ..BASE
    },
    Record {
        command: Command::Hello,
        name: "hello",
        arity: -1,
        flags: Flags::HANDSHAKE,
        since: "6.0.0",
        summary: "Chooses the wire format; may authenticate and name the client at the same time.",
        arguments: &[block(
            "arguments",
            &[
                integer("protover"),
                block("auth", &[string("username"), string("password")])
                    .after("AUTH")
                    .optional(),
                string("clientname").after("SETNAME").optional(),
            ],
        )
        .optional()],
        ..BASE
    },
    Record {
        command: Command::Auth,
        name: "auth",
        arity: -2,
        flags: Flags::HANDSHAKE,
        summary: "Says who the client is.",
        complexity: "O(N) in the number of passwords of the user.",
        arguments: &[
            string("username").optional().since("6.0.0"),
            string("password"),
        ],
        ..BASE
    },
    Record {
        command: Command::Select,
        name: "select",
        arity: 2,
        flags: Flags::ANYTIME.union(Flags::FAST),
        summary: "Chooses the database; there is one, number 0.",
        arguments: &[integer("index")],
        ..BASE
    },
    Record {
        command: Command::Quit,
        name: "quit",
        arity: -1,
        flags: Flags::HANDSHAKE,
        summary: "Closes the connection after the replies that are owed.",
        ..BASE
    },
    Record {
        command: Command::Reset,
        name: "reset",
        arity: 1,
        flags: Flags::HANDSHAKE,
        since: "6.2.0",
        summary: "Puts the connection back into the state of a new one.",
        ..BASE
    },
    Record {
        command: Command::Client,
        name: "client",
        arity: -2,
        extra_categories: Categories::empty(),
        since: "2.4.0",
        summary: "Holds the subcommands about client connections.",
        complexity: "Depends on the subcommand.",
        subcommands: super::client::RECORDS,
        ..BASE
    },
];
