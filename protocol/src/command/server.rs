//! The server itself: its settings, its users, what it holds and what it offers.

use super::Command;
use super::argument::{Kind, block, new, one_of, string, word};
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Server, Categories::empty());

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Time,
        name: "time",
        arity: 1,
        flags: Flags::ANYTIME.union(Flags::FAST),
        since: "2.6.0",
        summary: "Answers the server's clock.",
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::Info,
        name: "info",
        arity: -1,
        flags: Flags::ANYTIME,
        extra_categories: Categories::DANGEROUS,
        summary: "Describes the state of the server, by section.",
        arguments: &[string("section").multiple().optional()],
        tips: &[
            "nondeterministic_output",
            "request_policy:all_shards",
            "response_policy:special",
        ],
        ..BASE
    },
    Record {
        command: Command::DbSize,
        name: "dbsize",
        arity: 1,
        flags: Flags::READS_FAST,
        extra_categories: Categories::KEYSPACE,
        summary: "Answers the number of keys.",
        tips: &["request_policy:all_shards", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::FlushAll,
        name: "flushall",
        arity: -1,
        flags: Flags::WRITE,
        extra_categories: Categories::KEYSPACE.union(Categories::DANGEROUS),
        summary: "Removes all keys of all databases.",
        complexity: "O(N) in the number of keys.",
        arguments: &[one_of(
            "async",
            &[
                word("async", "ASYNC").since("4.0.0"),
                word("sync", "SYNC").since("6.2.0"),
            ],
        )
        .optional()],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..BASE
    },
    Record {
        command: Command::FlushDb,
        name: "flushdb",
        arity: -1,
        flags: Flags::WRITE,
        extra_categories: Categories::KEYSPACE.union(Categories::DANGEROUS),
        summary: "Removes all keys of this database.",
        complexity: "O(N) in the number of keys.",
        arguments: &[one_of(
            "async",
            &[
                word("async", "ASYNC").since("4.0.0"),
                word("sync", "SYNC").since("6.2.0"),
            ],
        )
        .optional()],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..BASE
    },
    Record {
        command: Command::Config,
        name: "config",
        arity: -2,
        since: "2.0.0",
        summary: "Holds the subcommands about settings.",
        complexity: "Depends on the subcommand.",
        subcommands: &[
            Record {
                command: Command::ConfigGet,
                name: "config|get",
                arity: -3,
                flags: Flags::OPERATOR,
                since: "2.0.0",
                summary: "Answers the settings whose names match a pattern.",
                complexity: "O(N) in the number of settings and patterns.",
                arguments: &[block("parameter", &[string("parameter")]).multiple()],
                ..BASE
            },
            Record {
                command: Command::ConfigSet,
                name: "config|set",
                arity: -4,
                flags: Flags::OPERATOR,
                since: "2.0.0",
                summary: "Changes settings while the server runs.",
                complexity: "O(N) in the number of settings given.",
                arguments: &[
                    block("parameter-value", &[string("parameter"), string("value")]).multiple(),
                ],
                tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
                ..BASE
            },
            Record {
                command: Command::ConfigHelp,
                name: "config|help",
                arity: 2,
                flags: Flags::ANYTIME,
                since: "5.0.0",
                summary: "Explains the subcommands.",
                ..BASE
            },
        ],
        ..BASE
    },
    Record {
        command: Command::Acl,
        name: "acl",
        arity: -2,
        since: "6.0.0",
        summary: "Holds the subcommands about users and their rights.",
        complexity: "Depends on the subcommand.",
        subcommands: &[
            Record {
                command: Command::AclCat,
                name: "acl|cat",
                arity: -2,
                flags: Flags::SESSION,
                since: "6.0.0",
                summary: "Lists the categories of commands, or the commands of one.",
                complexity: "O(N) in the number of commands.",
                arguments: &[string("categoryname").optional()],
                ..BASE
            },
            Record {
                command: Command::AclDelUser,
                name: "acl|deluser",
                arity: -3,
                flags: Flags::OPERATOR,
                since: "6.0.0",
                summary: "Removes users and closes their connections.",
                complexity: "O(N) in the number of users given and of connections.",
                arguments: &[string("username").multiple()],
                ..BASE
            },
            Record {
                command: Command::AclGetUser,
                name: "acl|getuser",
                arity: 3,
                flags: Flags::OPERATOR,
                since: "6.0.0",
                summary: "Describes a user.",
                complexity: "O(N) in the number of the user's rules.",
                arguments: &[string("username")],
                ..BASE
            },
            Record {
                command: Command::AclHelp,
                name: "acl|help",
                arity: 2,
                flags: Flags::ANYTIME,
                since: "6.0.0",
                summary: "Explains the subcommands.",
                ..BASE
            },
            Record {
                command: Command::AclList,
                name: "acl|list",
                arity: 2,
                flags: Flags::OPERATOR,
                since: "6.0.0",
                summary: "Lists the users with their rules.",
                complexity: "O(N) in the number of users.",
                ..BASE
            },
            Record {
                command: Command::AclSetUser,
                name: "acl|setuser",
                arity: -3,
                flags: Flags::OPERATOR,
                since: "6.0.0",
                summary: "Creates a user or changes one.",
                complexity: "O(N) in the number of rules given.",
                arguments: &[string("username"), string("rule").multiple().optional()],
                ..BASE
            },
            Record {
                command: Command::AclUsers,
                name: "acl|users",
                arity: 2,
                flags: Flags::OPERATOR,
                since: "6.0.0",
                summary: "Lists the names of the users.",
                complexity: "O(N) in the number of users.",
                ..BASE
            },
            Record {
                command: Command::AclWhoAmI,
                name: "acl|whoami",
                arity: 2,
                flags: Flags::SESSION,
                since: "6.0.0",
                summary: "Answers the name of the user that this connection authenticated as.",
                ..BASE
            },
        ],
        ..BASE
    },
    Record {
        command: Command::Command,
        name: "command",
        arity: -1,
        flags: Flags::ANYTIME,
        extra_categories: Categories::CONNECTION,
        since: "2.8.13",
        summary: "Describes all commands.",
        complexity: "O(N) in the number of commands.",
        tips: &["nondeterministic_output_order"],
        subcommands: &[
            Record {
                command: Command::CommandCount,
                name: "command|count",
                arity: 2,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "2.8.13",
                summary: "Answers the number of commands.",
                ..BASE
            },
            Record {
                command: Command::CommandDocs,
                name: "command|docs",
                arity: -2,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "7.0.0",
                summary: "Answers the documentation of commands.",
                complexity: "O(N) in the number of commands asked for.",
                arguments: &[string("command-name").multiple().optional()],
                tips: &["nondeterministic_output_order"],
                ..BASE
            },
            Record {
                command: Command::CommandGetKeys,
                name: "command|getkeys",
                arity: -4,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "2.8.13",
                summary: "Tells which words of a command are keys.",
                complexity: "O(N) in the number of words.",
                ..BASE
            },
            Record {
                command: Command::CommandGetKeysAndFlags,
                name: "command|getkeysandflags",
                arity: -4,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "7.0.0",
                summary: "Tells which words of a command are keys and what is done with them.",
                complexity: "O(N) in the number of words.",
                ..BASE
            },
            Record {
                command: Command::CommandHelp,
                name: "command|help",
                arity: 2,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "5.0.0",
                summary: "Explains the subcommands.",
                ..BASE
            },
            Record {
                command: Command::CommandInfo,
                name: "command|info",
                arity: -2,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "2.8.13",
                summary: "Describes the given commands, or all.",
                complexity: "O(N) in the number of commands asked for.",
                arguments: &[string("command-name").multiple().optional()],
                tips: &["nondeterministic_output_order"],
                ..BASE
            },
            Record {
                command: Command::CommandList,
                name: "command|list",
                arity: -2,
                flags: Flags::ANYTIME,
                extra_categories: Categories::CONNECTION,
                since: "7.0.0",
                summary: "Lists the names of commands.",
                complexity: "O(N) in the number of commands.",
                arguments: &[one_of(
                    "filterby",
                    &[
                        string("module-name").after("MODULE"),
                        string("category").after("ACLCAT"),
                        new("pattern", Kind::Pattern).after("PATTERN"),
                    ],
                )
                .after("FILTERBY")
                .optional()],
                tips: &["nondeterministic_output_order"],
                ..BASE
            },
        ],
        ..BASE
    },
];
