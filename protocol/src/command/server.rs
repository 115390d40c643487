//! The server itself: its settings, its users, what it holds and what it offers.

use super::Command;
use super::argument::{block, one_of, string, word};
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
            "flush-type",
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
            "flush-type",
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
                arguments: &[block("data", &[string("parameter"), string("value")]).multiple()],
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
        subcommands: super::acl::RECORDS,
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
        subcommands: super::introspection::RECORDS,
        ..BASE
    },
];
