//! `CLIENT`: client connections.

use super::Command;
use super::argument::{block, integer, one_of, string, word};
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Connection, Categories::CONNECTION);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::ClientId,
        name: "client|id",
        arity: 2,
        flags: Flags::SESSION,
        since: "5.0.0",
        summary: "Answers the number of this connection.",
        ..BASE
    },
    Record {
        command: Command::ClientSetName,
        name: "client|setname",
        arity: 3,
        flags: Flags::SESSION,
        since: "2.6.9",
        summary: "Names this connection.",
        arguments: &[string("connection-name")],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..BASE
    },
    Record {
        command: Command::ClientGetName,
        name: "client|getname",
        arity: 2,
        flags: Flags::SESSION,
        since: "2.6.9",
        summary: "Answers the name of this connection.",
        ..BASE
    },
    Record {
        command: Command::ClientSetInfo,
        name: "client|setinfo",
        arity: 4,
        flags: Flags::SESSION,
        since: "7.2.0",
        summary: "Notes which client library this connection uses.",
        arguments: &[one_of(
            "attr",
            &[
                string("libname").after("LIB-NAME"),
                string("libver").after("LIB-VER"),
            ],
        )],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..BASE
    },
    Record {
        command: Command::ClientList,
        name: "client|list",
        arity: -2,
        flags: Flags::OPERATOR,
        since: "2.4.0",
        summary: "Describes the connections, one per line.",
        complexity: "O(N) in the number of connections.",
        arguments: &[
            one_of(
                "client-type",
                &[
                    word("normal", "NORMAL"),
                    word("master", "MASTER"),
                    word("replica", "REPLICA"),
                    word("pubsub", "PUBSUB"),
                ],
            )
            .after("TYPE")
            .optional()
            .since("5.0.0"),
            block("id", &[integer("client-id").multiple()])
                .after("ID")
                .optional()
                .since("6.2.0"),
        ],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::ClientInfo,
        name: "client|info",
        arity: 2,
        flags: Flags::SESSION,
        since: "6.2.0",
        summary: "Describes this connection.",
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::ClientKill,
        name: "client|kill",
        arity: -3,
        flags: Flags::OPERATOR,
        since: "2.4.0",
        summary: "Closes connections.",
        complexity: "O(N) in the number of connections.",
        arguments: &[one_of(
            "filter",
            &[
                string("ip:port"),
                one_of(
                    "new-format",
                    &[
                        integer("client-id").after("ID").optional().since("2.8.12"),
                        one_of(
                            "client-type",
                            &[
                                word("normal", "NORMAL"),
                                word("master", "MASTER").since("3.2.0"),
                                word("slave", "SLAVE"),
                                word("replica", "REPLICA").since("5.0.0"),
                                word("pubsub", "PUBSUB"),
                            ],
                        )
                        .after("TYPE")
                        .optional()
                        .since("2.8.12"),
                        string("username").after("USER").optional(),
                        string("addr").after("ADDR").optional(),
                        string("laddr").after("LADDR").optional().since("6.2.0"),
                        one_of("skipme", &[word("yes", "YES"), word("no", "NO")])
                            .after("SKIPME")
                            .optional(),
                    ],
                )
                .multiple(),
            ],
        )],
        ..BASE
    },
    Record {
        command: Command::ClientReply,
        name: "client|reply",
        arity: 3,
        flags: Flags::SESSION,
        since: "3.2.0",
        summary: "Turns the replies to this connection off and on.",
        arguments: &[one_of(
            "on-off-skip",
            &[word("on", "ON"), word("off", "OFF"), word("skip", "SKIP")],
        )],
        ..BASE
    },
    Record {
        command: Command::ClientHelp,
        name: "client|help",
        arity: 2,
        flags: Flags::ANYTIME,
        since: "5.0.0",
        summary: "Explains the subcommands.",
        ..BASE
    },
];
