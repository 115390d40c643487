//! Keys, whatever their type.

use super::Command;
use super::argument::{KEY, Kind, integer, new, one_of, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::Generic, Categories::KEYSPACE);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Del,
        name: "del",
        arity: -2,
        flags: Flags::WRITE,
        keys: &[KeySpec::all(KeyFlags::RM.union(KeyFlags::DELETE))],
        summary: "Removes keys.",
        complexity: "O(N) in the number of keys, and for each key that is not a string in its elements.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Exists,
        name: "exists",
        arity: -2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::all(KeyFlags::RO)],
        summary: "Counts how many of the given keys exist.",
        complexity: "O(N) in the number of keys.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Type,
        name: "type",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        summary: "Answers the type of the value of a key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Expire,
        name: "expire",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        summary: "Lets a key expire after seconds.",
        arguments: &[
            KEY,
            integer("seconds"),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::PExpire,
        name: "pexpire",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.6.0",
        summary: "Lets a key expire after milliseconds.",
        arguments: &[
            KEY,
            integer("milliseconds"),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::ExpireAt,
        name: "expireat",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "1.2.0",
        summary: "Lets a key expire at a time given in seconds.",
        arguments: &[
            KEY,
            new("unix-time-seconds", Kind::UnixTime),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::PExpireAt,
        name: "pexpireat",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.6.0",
        summary: "Lets a key expire at a time given in milliseconds.",
        arguments: &[
            KEY,
            new("unix-time-milliseconds", Kind::UnixTime),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::Ttl,
        name: "ttl",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers for how many seconds a key still lives.",
        arguments: &[KEY],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::PTtl,
        name: "pttl",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.6.0",
        summary: "Answers for how many milliseconds a key still lives.",
        arguments: &[KEY],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::ExpireTime,
        name: "expiretime",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "7.0.0",
        summary: "Answers when a key expires, in seconds.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::PExpireTime,
        name: "pexpiretime",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "7.0.0",
        summary: "Answers when a key expires, in milliseconds.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Persist,
        name: "persist",
        arity: 2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.2.0",
        summary: "Takes the expiry off a key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Keys,
        name: "keys",
        arity: 2,
        flags: Flags::READONLY,
        extra_categories: Categories::KEYSPACE.union(Categories::DANGEROUS),
        summary: "Lists the keys whose names match a pattern.",
        complexity: "O(N) in the number of keys in the database.",
        arguments: &[new("pattern", Kind::Pattern)],
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        ..BASE
    },
];
